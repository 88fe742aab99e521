#include "skills/generation/builtin_tests.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/generation/builtin_skill.h"
#include "skills/generation/builtin_wanted.h"
#include "skills/generation/builtin_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define VARIANTS 2u /* 0: the error is shown; 1: it is to be foreseen */
#define MAX_WANTED 4
#define ONE_LINE "\\A\\s*+(?:```[\\w+-]*[ \\t]*\\n)?[^\\n]{1,400}\\n?(?:```)?\\s*\\z"

static const char *const names[] = {"heron",  "falcon", "plover", "kestrel", "marten",
                                    "lynx",   "otter",  "bison",  "gecko",   "tapir",
                                    "ibis",   "curlew", "wombat", "badger",  "osprey",
                                    "puffin", "stoat",  "jackal"};

struct making {
    const struct lessons *lessons;
    const char *task;
    json_t *tests;
    size_t count;
    size_t names;  /* used so far */
    json_t *asked; /* {question without names: true} */
};

static const char *next_name(struct making *m) {
    return names[m->names++ % ARRAY_LEN(names)];
}

static bool is_full(const struct making *m) {
    return json_array_size(m->tests) >= m->count;
}

/* The question with every name of ours the same: two that differ by names alone ask the
 * same, and might want different answers. */
static char *without_names(const char *input) {
    struct buf out = BUF_INIT(1u << 20);
    for (const char *s = input; *s;) {
        size_t len = 0;
        for (size_t i = 0; i < ARRAY_LEN(names) && !len; i++) {
            size_t one = strlen(names[i]);
            len = strncmp(s, names[i], one) == 0 ? one : 0;
        }
        buf_addc(&out, len ? '*' : *s);
        s += len ? len : 1;
    }
    return buf_detach(&out);
}

static bool is_new(struct making *m, const char *input) {
    autofree char *question = without_names(input);
    autojson *key = json_clean_z(question);
    bool is_there = json_object_get(m->asked, json_string_value(key)) != NULL;
    json_object_set_new(m->asked, json_string_value(key), json_true());
    return !is_there;
}

/* input and expected are taken. */
static void add_test(struct making *m, char *input, json_t *expected, const char *kind,
                     size_t i, size_t variant) {
    if (!is_full(m) && json_object_size(expected) && builtin_is_safe(input) &&
        is_new(m, input)) {
        autofree char *id = xasprintf("%s-%zu%s", kind, i + 1, variant ? "-before" : "");
        json_array_append_new(m->tests,
                              json_pack("{s:s,s:o,s:O}", "id", id, "input",
                                        json_clean_z(input), "expected", expected));
    }
    json_decref(expected);
    free(input);
}

/* What goes wrong, told after the fact or left to be foreseen. */
static char *tell_failure(const struct making *m, const char *error, size_t variant) {
    autofree char *task = builtin_task_sentence(m->task, 300);
    return variant == 0 ? xasprintf("stops with\n\n    %s", error)
                        : xasprintf("is what somebody is about to do for this task: %s. "
                                    "As it stands it will "
                                    "fail.",
                                    task);
}

/* --- a command written otherwise --- */

static void ask_command(struct making *m, const struct lesson_fix *f,
                        const struct lesson_change *c, size_t i, size_t variant) {
    const char *name = next_name(m);
    autofree char *from = words_rename_files(c->from, name),
                  *to = words_rename_files(c->to, name);
    struct words old, now;
    words_read(&old, from);
    words_read(&now, to);
    autojson *regexes = json_array(), *unwanted = json_array();
    for (size_t k = 0; k < now.count && json_array_size(regexes) < MAX_WANTED; k++) {
        if (!words_have(&old, now.list[k]) && !strstr(f->quote, now.list[k]) &&
            strlen(now.list[k]) > 1) {
            word_want(regexes, now.list[k]);
        }
    }
    for (size_t k = 0; k < old.count && json_array_size(unwanted) < MAX_WANTED; k++) {
        if (!words_have(&now, old.list[k]) && old.list[k][0] == '-') {
            word_want(unwanted, old.list[k]);
        }
    }
    words_free(&old);
    words_free(&now);
    autojson *expected = json_object();
    if (json_array_size(regexes)) {
        json_array_append_new(regexes, json_string(ONE_LINE));
        json_object_set(expected, "regex", regexes);
    }
    if (json_array_size(regexes) && json_array_size(unwanted)) {
        json_object_set(expected, "not_regex", unwanted);
    }
    autofree char *failure = tell_failure(m, f->quote, variant);
    add_test(
        m,
        xasprintf(
            "This command\n\n    %s\n\n%s\n\nAnswer with the corrected command alone, "
            "on one line.",
            from, failure),
        take(expected), "command", i, variant);
}

/* --- something to run first --- */

static void ask_run(struct making *m, const struct lesson_fix *f,
                    const struct lesson_change *c, size_t i, size_t variant) {
    const char *name = next_name(m);
    autofree char *context = words_rename_files(f->context, name);
    autofree char *failure = tell_failure(m, f->quote, variant);
    char *input = xasprintf(
        "In the project %s-tools,\n\n    %s\n\n%s\n\nWhich command has to be run "
        "first? Answer with it alone, on one line.",
        name, context, failure);
    struct words w;
    words_read(&w, c->to);
    autojson *regexes = json_array(), *expected = json_object();
    bool fresh = false;
    for (size_t k = 0; k < w.count && json_array_size(regexes) < MAX_WANTED; k++) {
        const char *word = w.list[k];
        if (strcmp(word, "sudo") != 0 && strlen(word) > 1 && word[0] != '-' &&
            !strpbrk(word, ";|&<>$")) {
            const char *version = strstr(word, "==");
            autofree char *bare =
                xstrndup(word, version ? (size_t)(version - word) : strlen(word));
            word_want(regexes, bare);
            fresh |= strstr(input, bare) == NULL;
        }
    }
    words_free(&w);
    if (fresh && json_array_size(regexes) > 1) {
        json_array_append_new(regexes, json_string(ONE_LINE));
        json_object_set(expected, "regex", regexes);
    }
    add_test(m, input, take(expected), "first", i, variant);
}

/* --- an edit --- */

static void ask_edit(struct making *m, const struct lesson_fix *f,
                     const struct lesson_change *c, size_t i, size_t variant) {
    const char *name = next_name(m);
    autofree char *old = wanted_old_lines(c->to);
    size_t lines = wanted_new_lines(c->to) + 4;
    if (!*old || lines > 20 || strlen(old) > 1500) {
        return;
    }
    autofree char *context = words_rename_files(f->context, name);
    autofree char *failure = tell_failure(m, f->quote, variant);
    char *input =
        xasprintf("Project %s:\n\n    %s\n\n%s\n\nThese lines of %s are at fault:\n\n%s\n"
                  "Answer with the corrected lines alone, at most %zu.",
                  name, context, failure, path_basename(c->path), old, lines);
    autojson *expected = json_object(), *contains = json_array();
    wanted_tokens(contains, c->to, input);
    if (json_array_size(contains)) {
        autofree char *length =
            xasprintf("\\A\\s*+(?:[^\\n]*+\\n){0,%zu}+[^\\n]*+\\z", lines + 4);
        json_object_set(expected, "contains", contains);
        json_object_set_new(expected, "regex", json_pack("[s]", length));
    }
    add_test(m, input, take(expected), "edit", i, variant);
}

/* --- why --- */

static void ask_cause(struct making *m, const struct lesson_fix *f, size_t i) {
    if (!f->cause || !builtin_is_safe(f->cause)) {
        return;
    }
    autofree char *context = words_rename_files(f->context, next_name(m));
    char *input = xasprintf("Running\n\n    %s\n\nstops with\n\n    %s\n\nWhy, and what "
                            "does it take? Answer in "
                            "one sentence on one line.",
                            context, f->quote);
    autojson *contains = json_array(), *expected = json_object();
    wanted_terms(contains, f->cause, input);
    if (json_array_size(contains)) {
        json_object_set(expected, "contains", contains);
        json_object_set_new(expected, "regex",
                            json_pack("[s]", "\\A[^\\n]{1,500}\\s*\\z"));
    }
    add_test(m, input, take(expected), "cause", i, 0);
}

/* --- the rest --- */

static void ask_check(struct making *m, const struct lesson_command *c, size_t i) {
    struct words w;
    autojson *regexes = json_array(), *expected = json_object();
    autofree char *task = builtin_task_sentence(m->task, 300);
    if (!*task) {
        return; /* nobody said what was to be done */
    }
    words_read(&w, c->command);
    for (size_t k = 0; k < w.count && json_array_size(regexes) < 3; k++) {
        const char *word = w.list[k];
        if (strlen(word) > 1 && !word_is_file(word) && !strpbrk(word, ";|&<>$") &&
            !strcasestr(task, word)) {
            word_want(regexes, word);
        }
    }
    words_free(&w);
    if (json_array_size(regexes) > 1) {
        json_array_append_new(regexes, json_string(ONE_LINE));
        json_object_set(expected, "regex", regexes);
    }
    add_test(m,
             xasprintf("The work was: %s. Which command builds or checks it as it was "
                       "done there? Answer "
                       "with the command alone, on one line.",
                       task),
             take(expected), "check", i, 0);
}

/* "use X instead of Y", "not Y but X": the word behind one of the leads. */
static char *word_after(const char *text, const char *const *leads) {
    for (; *leads; leads++) {
        const char *at = strcasestr(text, *leads);
        if (!at) {
            continue;
        }
        at += strlen(*leads);
        at += strspn(at, " `'\"");
        size_t len = strcspn(at, " `'\",;!?\n)");
        while (len && strchr(".:", at[len - 1])) {
            len--;
        }
        if (len >= 3 && len <= 60) {
            return xstrndup(at, len);
        }
    }
    return NULL;
}

static void ask_correction(struct making *m, const struct lesson_correction *c,
                           size_t i) {
    static const char *const right[] = {
        "please use ", ". use ",      ", use ",     "but use ",  "always use ",
        "prefer ",     "should use ", "switch to ", "must use ", NULL};
    static const char *const wrong[] = {"instead of ", "don't use ",  "do not use ",
                                        "never use ",  "stop using ", "rather than ",
                                        "avoid ",      "not ",        NULL};
    autofree char *yes = strncasecmp(c->text, "use ", 4) == 0
                             ? word_after(c->text, (const char *const[]){"use ", NULL})
                             : word_after(c->text, right);
    autofree char *no = word_after(c->text, wrong);
    autofree char *task = builtin_task_sentence(m->task, 300);
    if (!yes || !no || strcasecmp(yes, no) == 0 || strcasestr(task, yes)) {
        return;
    }
    add_test(
        m,
        xasprintf("The work is: %s. A colleague is about to use %s. What is to be used "
                  "in its place? "
                  "Answer with its name alone.",
                  task, no),
        json_pack("{s:[s],s:[s]}", "contains", yes, "regex", "\\A[^\\n]{1,160}\\s*\\z"),
        "rule", i, 0);
}

static void ask_limit(struct making *m, const struct lesson_limit *limit, size_t i) {
    const char *s = strcasestr(limit->text, "release ");
    s = s ? s + 8 : strcasestr(limit->text, "version ");
    s = s && strncasecmp(s, "version ", 8) == 0 ? s + 8 : s;
    size_t len = s ? strspn(s, "0123456789.") : 0;
    while (len && s[len - 1] == '.') {
        len--;
    }
    if (len < 3) {
        return;
    }
    autofree char *number = xstrndup(s, len);
    autofree char *what = xstrndup(limit->text, (size_t)(s - limit->text));
    autofree char *regex = word_regex(number);
    autofree char *task = builtin_task_sentence(m->task, 300);
    add_test(m,
             xasprintf("Which number stood behind \"%s\" where this was done: %s? Answer "
                       "with the number alone.",
                       what, task),
             json_pack("{s:[s,s]}", "regex", regex, "\\A[^\\n]{1,40}\\s*\\z"), "version",
             i, 0);
}

/* --- kernels --- */

/* "sm_90a" of the first command that names one, else NULL. */
static char *arch_of(const struct lessons *l) {
    for (size_t i = l->command_count; i > 0; i--) {
        const char *at = strstr(l->commands[i - 1].command, "sm_");
        size_t len = at ? 3 + strspn(at + 3, "0123456789af") : 0;
        if (len > 4) {
            return xstrndup(at, len);
        }
    }
    return NULL;
}

static void ask_kernel(struct making *m, const struct lesson_file *f, size_t i) {
    const char *at = strstr(f->text ? f->text : "", "__global__");
    const char *open = at ? strchr(at, '(') : NULL;
    const char *bounds = at ? strstr(at, "__launch_bounds__") : NULL;
    if (open && bounds && bounds < open) {
        const char *close = strchr(open, ')');
        open = close ? strchr(close, '(') : NULL;
    }
    const char *close = open ? strchr(open, ')') : NULL;
    if (!close || f->partial || close - open > 300 || strstr(f->text, "template")) {
        return;
    }
    autofree char *entry = xasprintf("%s_kernel", next_name(m));
    autofree char *params = xstrndup(open, (size_t)(close - open) + 1);
    autofree char *arch = arch_of(m->lessons);
    autofree char *task = builtin_task_sentence(m->task, 300);
    json_t *compiles = json_pack("{s:s}", "entry", entry);
    if (arch) {
        json_object_set_new(compiles, "arch", json_string(arch));
    }
    add_test(m,
             xasprintf("The work was: %s. Write its kernel anew as `__global__ void "
                       "%s%s`, whole and "
                       "compilable by itself. Answer with one cuda block.",
                       task, entry, params),
             json_pack("{s:o}", "kernel_compiles", compiles), "kernel", i, 0);
}

static void ask_build_toml(struct making *m, size_t i) {
    const char *name = next_name(m);
    autofree char *project = xasprintf("%s-norms", name);
    add_test(m,
             xasprintf("Write the build.toml of the kernel-builder project %s: one CUDA "
                       "kernel %s_norms from "
                       "%s_norms_cuda/%s_norms.cu, the binding in "
                       "torch-ext/torch_binding.cpp. Answer with "
                       "the file alone, in a toml block.",
                       project, name, name, name),
             json_pack("{s:{s:{s:s}}}", "build_toml", "values", "/general/name", project),
             "build-toml", i, 0);
}

static void ask_files(struct making *m) {
    for (size_t i = 0; i < m->lessons->file_count && !is_full(m); i++) {
        const struct lesson_file *f = &m->lessons->files[i];
        const char *base = path_basename(f->path);
        size_t len = strlen(base);
        if (strcmp(base, "build.toml") == 0) {
            ask_build_toml(m, i);
        } else if (len > 3 && strcmp(base + len - 3, ".cu") == 0) {
            ask_kernel(m, f, i);
        }
    }
}

static void ask_fixes(struct making *m, size_t variant) {
    for (size_t i = 0; i < m->lessons->fix_count && !is_full(m); i++) {
        const struct lesson_fix *f = &m->lessons->fixes[i];
        for (size_t k = 0; k < f->change_count; k++) {
            const struct lesson_change *c = &f->changes[k];
            size_t id = i * LESSON_MAX_CHANGES + k;
            if (c->kind == CHANGE_COMMAND) {
                ask_command(m, f, c, id, variant);
            } else if (c->kind == CHANGE_RUN) {
                ask_run(m, f, c, id, variant);
            } else {
                ask_edit(m, f, c, id, variant);
            }
        }
    }
}

json_t *builtin_tests(const struct lessons *l, const char *task, size_t count) {
    struct making m = {.lessons = l,
                       .task = task,
                       .tests = json_array(),
                       .count = count,
                       .asked = json_object()};
    m.task = m.task && builtin_is_safe(m.task) ? m.task : "";
    ask_fixes(&m, 0);
    for (size_t i = 0; i < l->fix_count; i++) {
        ask_cause(&m, &l->fixes[i], i);
    }
    for (size_t i = 0; i < l->correction_count; i++) {
        ask_correction(&m, &l->corrections[i], i);
    }
    ask_files(&m);
    for (size_t i = 0; i < l->command_count; i++) {
        if (l->commands[i].verifies && !command_reaches_out(l->commands[i].command)) {
            ask_check(&m, &l->commands[i], i);
        }
    }
    for (size_t i = 0; i < l->limit_count && i < 4; i++) {
        ask_limit(&m, &l->limits[i], i);
    }
    for (size_t variant = 1; variant < VARIANTS; variant++) {
        ask_fixes(&m, variant);
    }
    json_decref(m.asked);
    return m.tests;
}
