#include "skills/generation/builtin_tests.h"

#include "base/file.h"
#include "base/find.h"
#include "base/text.h"
#include "skills/generation/builtin_skill.h"
#include "skills/generation/builtin_wanted.h"
#include "skills/generation/builtin_words.h"
#include "skills/grading/grade.h"

#include <strings.h>

#define MAX_LINES 20u
#define KEPT_MAX 2u /* names of the failed command that the corrected one must have */
#define ONE_LINE "\\A\\s*+(?:```[\\w+-]*[ \\t]*\\n)?[^\\n]{1,400}\\n?(?:```)?\\s*\\z"

/* A test before it is kept, with what its three students answer. */
struct candidate {
    char *input;
    json_t *expected;
    char *right, *wrong;
    size_t lesson;
    const char *kind;
};

struct tests_making {
    const struct lessons *lessons;
    const char *task;
    struct candidate *list;
    size_t count;
};

static struct candidate *add(struct tests_making *m, const char *kind, size_t lesson) {
    m->list = xreallocarray(m->list, m->count + 1, sizeof *m->list);
    struct candidate *c = &m->list[m->count++];
    *c = (struct candidate){.kind = kind, .lesson = lesson, .expected = json_object()};
    return c;
}

static void want(struct candidate *c, const char *check, const char *text) {
    json_t *list = json_object_get(c->expected, check);
    bool literal = strcmp(check, "contains") == 0;
    if (!list) {
        list = json_array();
        json_object_set_new(c->expected, check, list);
    }
    json_array_append_new(list, literal ? json_string(text)
                                        : json_pack("{s:s}", "pattern", text));
}

/* Each name as a word. False when there is none, or are too many: then they are not what
 * makes the change. */
static bool want_names(struct candidate *c, const char *check, const json_t *names) {
    size_t count = json_array_size(names);
    json_each(names, i, name) {
        autofree char *regex = word_regex(json_string_value(name));
        if (count <= WANTED_MAX) {
            want(c, check, regex);
        }
    }
    return count > 0 && count <= WANTED_MAX;
}

/* A candidate without anything wanted is none. */
static void drop(struct candidate *c) {
    json_object_clear(c->expected);
}

/* --- what is asked --- */

static void ask_command(struct tests_making *m, const struct lesson *f,
                        const struct lesson_change *change, size_t lesson) {
    struct candidate *c = add(m, "command", lesson);
    c->input = xasprintf("This command\n\n    %s\n\nstops with\n\n    %s\n\nAnswer with "
                         "the corrected command alone, on one line.",
                         change->from, f->quote);
    c->right = xstrdup(change->to);
    c->wrong = xstrdup(change->from);
    autojson *added = wanted_names(change->to, "", c->input);
    autojson *gone = wanted_names(change->from, change->to, "");
    autojson *kept = wanted_names(change->to, "", "");
    wanted_only(kept, change->from); /* it is still that command */
    want(c, "regex", ONE_LINE);
    for (size_t i = 0; i < KEPT_MAX && i < json_array_size(kept); i++) {
        autofree char *regex = word_regex(json_string_value(json_array_get(kept, i)));
        want(c, "regex", regex);
    }
    if (!want_names(c, "regex", added)) {
        drop(c);
    } else if (json_array_size(gone) == 1) {
        want_names(c, "not_regex", gone);
    }
}

static void ask_run(struct tests_making *m, const struct lesson *f,
                    const struct lesson_change *change, size_t lesson) {
    struct words w;
    words_read(&w, change->to);
    size_t at = w.count > 1 && strcmp(w.list[0], "sudo") == 0;
    autofree char *told = xasprintf("%s\n%s", f->quote, f->cause ? f->cause : "");
    autofree char *program = xstrdup(w.count ? path_basename(w.list[at]) : "");
    autofree char *name = wanted_like(change->to, told);
    words_free(&w);
    if (!name || !*program || strcasecmp(name, program) == 0) {
        return;
    }
    struct candidate *c = add(m, "first", lesson);
    c->input = xasprintf("Running\n\n    %s\n\nstops with\n\n    %s\n\nWhich %s command "
                         "has to be run first? Answer with it alone, on one line.",
                         f->context, f->quote, program);
    c->right = xstrdup(change->to);
    c->wrong = xstrdup(f->context);
    want(c, "regex", ONE_LINE);
    want(c, "contains", program);
    want(c, "contains", name);
}

static void ask_edit(struct tests_making *m, const struct lesson *f,
                     const struct lesson_change *change, size_t lesson) {
    autofree char *old = wanted_lines(change->to, '-');
    autofree char *now = wanted_lines(change->to, '+');
    size_t lines = text_count(now, strlen(now), '\n') + 4;
    if (!*now || change->created || lines > MAX_LINES || strstr(now, "<secret>")) {
        return;
    }
    struct candidate *c = add(m, "edit", lesson);
    autofree char *shown =
        *old
            ? xasprintf(
                  "These lines of %s are at fault:\n\n%s\nAnswer with the corrected "
                  "lines alone",
                  path_basename(change->path), old)
            : xasprintf("Some line is missing in %s. Answer with the missing lines alone",
                        path_basename(change->path));
    c->input = xasprintf("Running\n\n    %s\n\nstops with\n\n    %s\n\n%s, at most %zu.",
                         f->context, f->quote, shown, lines);
    autojson *names = wanted_names(now, old, c->input);
    if (json_array_size(names) > WANTED_MAX) {
        wanted_only(names, f->cause ? f->cause : "");
    }
    autofree char *length =
        xasprintf("\\A\\s*+(?:[^\\n]*+\\n){0,%zu}+[^\\n]*+\\z", lines + 4);
    c->right = take(now);
    c->wrong = xstrdup(*old ? old : f->context);
    want(c, "regex", length);
    if (!want_names(c, "regex", names)) {
        drop(c);
    }
}

static void ask_correction(struct tests_making *m, const struct lesson *correction,
                           size_t lesson) {
    autofree char *task = builtin_task_sentence(m->task, 300);
    if (!correction->instead || strcasestr(task, correction->heeded)) {
        return;
    }
    struct candidate *c = add(m, "rule", lesson);
    autofree char *regex = word_regex(correction->heeded);
    c->input = xasprintf("The work is: %s. A colleague is about to use %s. What is to be "
                         "used in its place? Answer with its name alone.",
                         task, correction->instead);
    c->right = xstrdup(correction->heeded);
    c->wrong = xstrdup(correction->instead);
    want(c, "regex", regex);
    want(c, "regex", ONE_LINE);
}

static void ask_fix(struct tests_making *m, const struct lesson *f, size_t lesson) {
    list_each(k, change, f->changes, f->change_count) {
        if (change->kind == CHANGE_COMMAND) {
            ask_command(m, f, change, lesson);
        } else if (change->kind == CHANGE_RUN) {
            ask_run(m, f, change, lesson);
        } else {
            ask_edit(m, f, change, lesson);
        }
    }
}

/* --- the students --- */

static bool passes(const struct candidate *c, const char *answer) {
    return answer && grade_text_passes(c->expected, answer);
}

/* In the forms in which models give what they know. */
static bool right_passes(const struct candidate *c) {
    autofree char *fenced = xasprintf("```\n%s\n```", c->right);
    return passes(c, c->right) && passes(c, fenced);
}

static bool other_passes(const struct tests_making *m, const struct candidate *c) {
    list_each(i, f, m->lessons->fixes.list, m->lessons->fixes.count) {
        bool own = i == c->lesson; /* its cause is what it takes */
        if (passes(c, f->quote) || passes(c, f->context) ||
            (!own && passes(c, f->cause))) {
            return true;
        }
    }
    return list_any(other, m->list, m->count,
                    other->lesson != c->lesson && strcmp(other->input, c->input) != 0 &&
                        passes(c, other->right));
}

static bool is_good(const struct tests_making *m, const struct candidate *c) {
    return json_object_size(c->expected) && builtin_is_safe(c->input) &&
           right_passes(c) && !passes(c, c->wrong) && !passes(c, c->input) &&
           !other_passes(m, c);
}

/* --- the suite --- */

static bool is_asked(const json_t *tests, const char *input) {
    return json_any(tests, test, json_says(test, "input", input));
}

static void keep(json_t *tests, const struct candidate *c, size_t number) {
    autofree char *id = xasprintf("%s-%zu", c->kind, number + 1);
    autofree char *lesson = xasprintf("lesson-%zu", c->lesson + 1);
    autojson *input = json_clean_z(c->input);
    if (!is_asked(tests, json_string_value(input))) {
        json_array_append_new(tests,
                              json_pack("{s:s,s:O,s:O,s:s}", "id", id, "input", input,
                                        "expected", c->expected, "lesson", lesson));
    }
}

static void making_finish(struct tests_making *m) {
    for (size_t i = 0; i < m->count; i++) {
        free(m->list[i].input);
        free(m->list[i].right);
        free(m->list[i].wrong);
        json_decref(m->list[i].expected);
    }
    free(m->list);
}

json_t *builtin_tests(const struct lessons *l, const char *task, size_t count) {
    struct tests_making m = {.lessons = l,
                             .task = task && builtin_is_safe(task) ? task : ""};
    json_t *tests = json_array();
    for (size_t i = 0; i < l->fixes.count; i++) {
        ask_fix(&m, &l->fixes.list[i], i);
    }
    for (size_t i = 0; i < l->corrections.count; i++) {
        ask_correction(&m, &l->corrections.list[i], l->fixes.count + i);
    }
    for (size_t i = 0; i < m.count && json_array_size(tests) < count; i++) {
        if (is_good(&m, &m.list[i])) {
            keep(tests, &m.list[i], i);
        }
    }
    making_finish(&m);
    return tests;
}
