/* Which change ended an error: what lies between the last run with it and the first
 * without it, and is the only thing there or is named by the error. */
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <strings.h>

#define NEAR 1500u       /* bytes of an output */
#define QUOTE_HEAD 40u
#define MAX_SAID (64u << 10) /* of an output that a command is looked for in */
#define ADVISED_WORDS 4u /* of a command that an output says, to be the same */
#define REMOVED_LINES 3u /* that may go without others that come */
#define MAX_RUN 600u  /* bytes of a command that is told as a step */
#define MAX_LINES 24u /* of a change that explains anything */
#define MAX_BETWEEN 6u /* commands */
#define MAX_UNSEEN 6u  /* lines that come, where nobody sees in whose place */
#define LEAST_OPTION 5u /* bytes of one that nothing else is spelt like */
#define LEAST_FOLDER 4u

bool lesson_has_error(const struct lesson_step *s, const char *normal) {
    return any_of(i, 0, s->error_count, strcmp(s->errors[i].normal, normal) == 0);
}

bool lesson_shows(const struct lesson_step *s, const struct lesson_error *error) {
    return lesson_has_error(s, error->normal) ||
           (s->output && strstr(s->output, error->quote));
}

bool lesson_runs_own_script(const struct steps *s, const struct lesson_step *run) {
    const char *script = strchr(run->command.keys[run->command.count - 1], ' ');
    size_t at = (size_t)(run - s->list);
    for (size_t i = at; i > 0 && at - i < 4 * LESSONS_REACH && script; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (e->kind == STEP_EDIT && !e->is_diff &&
            strcmp(path_basename(e->path), script + 1) == 0) {
            return true;
        }
    }
    return false;
}

/* --- what is told of the failure --- */

static const struct lesson_step *last_of(const struct failure *f) {
    return &f->s->list[f->last];
}

/* The agent's sentence about it. */
static char *find_cause(const struct failure *f, const struct lesson_reader *r) {
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        char *cause = s->kind == STEP_SAY ? lesson_cause(r, s->text) : NULL;
        if (cause) {
            return cause;
        }
    }
    return NULL;
}

/* The errors, and a cause that shares a name with them. */
static char *told_of(const struct failure *f, const char *cause) {
    struct buf out = BUF_INIT(16u << 10);
    const struct lesson_step *failed = last_of(f);
    for (size_t i = 0; i < failed->error_count; i++) {
        buf_addf(&out, "%s\n", failed->errors[i].quote);
    }
    if (cause && lesson_names_any(out.data, cause, "")) {
        buf_adds(&out, cause);
    }
    return buf_detach(&out);
}

/* --- changes --- */

static struct lesson_change *add_change(struct lesson *fix,
                                        enum lesson_change_kind kind) {
    fix->changes =
        xreallocarray(fix->changes, fix->change_count + 1, sizeof *fix->changes);
    struct lesson_change *c = &fix->changes[fix->change_count++];
    *c = (struct lesson_change){.kind = kind};
    return c;
}

/* The lines that go hold a name: ")" might be anywhere. */
static bool has_place(const char *diff) {
    bool named = *diff != '-';
    for (; *diff == '-' && !named; diff = text_next_line(diff)) {
        autofree char *line = xstrndup(diff, strcspn(diff, "\n"));
        named = lesson_has_name(line);
    }
    return named;
}

/* What states the demand, by the convention of all languages: "test_a.py", "tests/",
 * "a.spec.ts", but neither "/testbed" nor "package.spec". */
static bool is_test(const char *path) {
    for (const char *at = path; *at; at++) {
        bool test = strncmp(at, "test", 4) == 0, spec = strncmp(at, "spec", 4) == 0;
        const char *end = at + (test || spec ? 4 + (at[4] == 's') : 0);
        bool folder = at == path || at[-1] == '/', joint = !folder && strchr("_.-", at[-1]);
        if ((test && (folder || joint) && !isalnum((unsigned char)*end)) ||
            (spec && ((folder && *end == '/') || (joint && *end == '.')))) {
            return true;
        }
    }
    return false;
}

/* The output says the name near one of its errors: it may hold the ends of several jobs. */
static bool is_near(const struct lesson_step *failed, const char *name) {
    const char *output = failed->output ? failed->output : "";
    bool lost = true;
    for (size_t i = 0; i < failed->error_count; i++) {
        autofree char *head = xstrndup(failed->errors[i].quote, QUOTE_HEAD);
        const char *at = strstr(output, head);
        size_t before = at ? (size_t)(at - output) : 0;
        size_t from = before > NEAR ? before - NEAR : 0;
        if (at && memmem(output + from, strnlen(output + from, 2 * NEAR), name, strlen(name))) {
            return true;
        }
        lost &= !at;
    }
    return lost && strstr(output, name);
}

/* The failure names the file, or a name on the changed lines. */
static bool is_named(const struct failure *f, const struct lesson_step *edit,
                     const char *diff, const char *told) {
    const struct lesson_step *failed = last_of(f);
    const char *base = path_basename(edit->path);
    if (lesson_creates(f->s, edit)) { /* that it was missing is no lesson, nor is a tool */
        return strstr(told, base) && !strstr(failed->text, base);
    }
    bool same = *base && (strstr(failed->text, base) || is_near(failed, base));
    return (same && !f->onward) || lesson_names_any(told, diff, failed->text);
}

/* A later edit takes away what this one brought, before anything ran. */
static bool is_replaced(const struct failure *f, size_t edit, const char *diff) {
    const struct steps *s = f->s;
    for (size_t i = edit + 1; i < f->gone; i++) {
        const struct lesson_step *e = &s->list[i];
        autofree char *later = lesson_is_edit(e) && strcmp(e->path, s->list[edit].path) == 0
                                   ? lesson_changed_lines(s, i)
                                   : NULL;
        if (later && lesson_shares_line(diff, '+', later, '-')) {
            return true;
        }
    }
    return false;
}

/* Edits that the failure names (or, named false, all of them). False when they are too
 * much to explain anything. */
static bool add_edits(struct lesson *fix, const struct failure *f, const char *told,
                      bool named) {
    size_t lines = 0, before = fix->change_count;
    bool asks_else = false; /* the test that failed was changed too */
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        bool test = lesson_is_edit(s) && is_test(s->path);
        asks_else |= test && strstr(told, path_basename(s->path));
        if (!lesson_is_edit(s) || test) {
            continue; /* a check that asks for less explains nothing */
        }
        autofree char *diff = lesson_changed_lines(f->s, i);
        if (!*diff) {
            return false; /* nobody knows what it changed */
        }
        if ((named ? !is_named(f, s, diff, told) : lesson_creates(f->s, s)) ||
            is_replaced(f, i, diff)) {
            continue;
        }
        size_t more = text_count(diff, strlen(diff), '\n');
        bool removal = more > REMOVED_LINES && *diff == '-' && !strstr(diff, "\n+");
        bool rewrite = more > MAX_UNSEEN && *diff == '+' && !strstr(diff, "\n-") &&
                       !lesson_names_any(told, diff, last_of(f)->text);
        lines += more;
        if (removal || rewrite || !has_place(diff) || lines > MAX_LINES ||
            strlen(diff) > LESSON_MAX_CHANGE || fix->change_count == LESSON_MAX_CHANGES) {
            return false;
        }
        struct lesson_change *c = add_change(fix, CHANGE_EDIT);
        c->path = xstrdup(s->path);
        c->created = lesson_creates(f->s, s);
        c->to = take(diff);
        lessons_add_evidence(&fix->evidence, f->s->trace, s->event, EVIDENCE_CHANGE);
    }
    return !asks_else || fix->change_count == before;
}

/* It acts without a word, as `mkdir` and `systemctl stop` do, or goes on beside the rest. */
static bool acts(const struct lesson_step *s) {
    size_t len = strlen(s->text);
    bool beside = len > 1 && s->text[len - 1] == '&' && s->text[len - 2] != '&';
    return !s->failed && s->output && (!*s->output || beside) &&
           !command_holds_prose(&s->command);
}

/* The command names a file beneath a folder that the failed one was given. */
static bool is_beneath(const struct lesson_step *failed, const char *run) {
    for (const char *at = lesson_failed_part(failed); *at;) {
        autofree char *folder = xasprintf("%.*s/", (int)strcspn(at, BETWEEN_WORDS), at);
        at += strcspn(at, BETWEEN_WORDS);
        at += *at != '\0';
        if (strlen(folder) > LEAST_FOLDER && strstr(run, folder)) {
            return true;
        }
    }
    return false;
}

/* It moves or removes what the session wrote, or what the command is about. */
static bool tidies_own(const struct failure *f, const struct lesson_step *run) {
    if (!*run->output && is_beneath(last_of(f), run->text)) {
        return true;
    }
    for (size_t i = 0; i < f->gone && !*run->output; i++) {
        const struct lesson_step *e = &f->s->list[i];
        const char *base = e->kind == STEP_EDIT ? path_basename(e->path) : "";
        autofree char *folder = xstrndup(e->path ? e->path : "", (size_t)(base - e->path));
        if (*base && (strstr(run->text, base) || (*folder && strstr(run->text, folder)))) {
            return true;
        }
    }
    return false;
}

/* Between the two runs of the very command lie edits of one file, or one command that
 * acts, and nothing else. *ret_run: the command's place, 0 for edits. */
static bool is_only_change(const struct failure *f, const char *told, size_t *ret_run) {
    const char *path = NULL;
    *ret_run = 0;
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        bool edits = lesson_is_edit(s), runs = step_is_run(s) && s->command.count;
        if ((edits && path && strcmp(path, s->path) != 0) ||
            (runs && (!acts(s) || *ret_run || tidies_own(f, s) ||
                      lesson_names_any(told, s->text, ""))) ||
            ((edits || path) && (runs || *ret_run))) {
            return false;
        }
        path = edits ? s->path : path;
        *ret_run = runs ? i : *ret_run;
    }
    return (path || *ret_run) && f->gone == f->success;
}

static void add_run(struct lesson *fix, const struct failure *f, size_t i) {
    const struct lesson_step *s = &f->s->list[i];
    add_change(fix, CHANGE_RUN)->to = command_tidy(s->text);
    lessons_add_evidence(&fix->evidence, f->s->trace, s->event, EVIDENCE_CHANGE);
}

/* It ran before the failure too, or again before its end, or is a script of the session's
 * own: a check. */
static bool is_check(const struct failure *f, const struct lesson_step *run) {
    bool ran = lesson_runs_own_script(f->s, run);
    for (size_t i = f->gone; i > 0 && f->gone - i < 2 * LESSONS_REACH && !ran; i--) {
        const struct lesson_step *s = &f->s->list[i - 1];
        ran = s != run && step_is_run(s) && command_same(&run->command, &s->command);
    }
    return ran;
}

/* So much was run in between that a name in common may be chance. */
static bool is_crowded(const struct failure *f) {
    size_t runs = 0;
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        runs += step_is_run(s) && s->command.count;
    }
    return runs > MAX_BETWEEN;
}

/* The output of the failure says to run it: `npm pkg set type="module"`. */
static bool is_advised(const char *output, const char *part) {
    autobuf said = BUF_INIT(MAX_SAID), advice = BUF_INIT(MAX_RUN);
    size_t words = 0;
    for (; *output && said.len < MAX_SAID - 1; output++) {
        if (!strchr("'\"", *output)) {
            buf_addc(&said, *output);
        }
    }
    for (; *part && words < ADVISED_WORDS; words++) {
        size_t len = strcspn(part, BETWEEN_WORDS);
        buf_addf(&advice, "%s%.*s", words ? " " : "", (int)len, part);
        part += len + (part[len] != '\0');
    }
    return words > 1 && strstr(said.data, advice.data);
}

static bool advises(const struct lesson_step *failed, const struct command *c) {
    return any_of(i, 0, c->count, is_advised(failed->output, c->parts[i]));
}

/* What it installs may be what was called: "No module named pytest". */
static bool is_named_run(const char *run, const struct lesson_step *failed,
                         const char *told) {
    const char *installs = strstr(run, " install ");
    installs = installs ? installs + strlen(" install ") : strstr(run, " add ");
    autofree char *packages = xstrdup(installs ? installs : ""); /* as modules are called */
    for (char *c = packages; (c = strchr(c, '-')); c++) {
        *c = '_';
    }
    return lesson_names_any(told, run, failed->text) || lesson_names_any(told, packages, "") ||
           (installs && lesson_names_any(told, installs, ""));
}

/* Commands in between that the failure names. One that acts without a word makes the very
 * thing that is missing (mkdir, touch): no lesson. */
static bool add_runs(struct lesson *fix, const struct failure *f, const char *told) {
    const struct lesson_step *failed = last_of(f);
    if (is_crowded(f)) {
        return true;
    }
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (!step_is_run(s) || s->failed || !s->command.count || acts(s) ||
            strlen(s->text) > MAX_RUN || strstr(s->text, "<<") ||
            command_like(&failed->command, &s->command) || command_holds_prose(&s->command) ||
            !(is_named_run(s->text, failed, told) || advises(failed, &s->command)) ||
            is_check(f, s)) {
            continue;
        }
        if (fix->change_count == LESSON_MAX_CHANGES) {
            return false;
        }
        add_run(fix, f, i);
    }
    return true;
}

/* What the line that passed runs before the command, and the failure names. */
static void add_front(struct lesson *fix, const struct failure *f, const char *told) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    const char *same = command_same(&failed->command, &now->command);
    for (size_t i = 0; i < now->command.count && now->command.parts[i] != same; i++) {
        const char *part = now->command.parts[i];
        autofree char *text = command_part_text(part);
        bool ran = any_of(k, 0, failed->command.count,
                          strcmp(failed->command.parts[k], part) == 0);
        bool does = !ran && strlen(text) <= MAX_RUN && !command_part_holds_prose(part);
        bool named = is_named_run(text, failed, told) || is_advised(failed->output, part);
        if (does && fix->change_count < LESSON_MAX_CHANGES && named) {
            add_change(fix, CHANGE_RUN)->to = take(text);
            lessons_add_evidence(&fix->evidence, f->s->trace, now->event, EVIDENCE_CHANGE);
        }
    }
}

/* The command is to be written otherwise; from and to are taken over. */
static void add_command(struct lesson *fix, const struct failure *f, char *from,
                        char *to) {
    struct lesson_change *c = add_change(fix, CHANGE_COMMAND);
    c->from = from;
    c->to = to;
    lessons_add_evidence(&fix->evidence, f->s->trace, f->s->list[f->gone].event,
                         EVIDENCE_CHANGE);
}

/* The very command showed the error again: what was run otherwise only looked aside. */
static bool comes_back(const struct failure *f) {
    const struct lesson_step *failed = last_of(f);
    for (size_t i = f->success; i < f->s->count; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (step_may_fail(s) && lesson_has_error(s, f->error->normal) &&
            (f->onward || command_same(&failed->command, &s->command))) {
            return true;
        }
    }
    return false;
}

/* Nothing was edited or run between the two but what failed too. */
static bool is_next(const struct failure *f) {
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        bool passed = step_is_run(s) && s->command.count && !s->failed &&
                      !lesson_shows(s, f->error);
        if (s->kind == STEP_EDIT || passed) {
            return false;
        }
    }
    return f->gone == f->success;
}

/* The command as it was passed in an environment that the same line set. */
static bool add_environment(struct lesson *fix, const struct failure *f) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    autofree char *before = command_environment(failed->text);
    autofree char *set = command_environment(now->text);
    if (!*set || strstr(before, set) || !is_next(f) || comes_back(f) ||
        command_holds_prose(&failed->command)) {
        return false;
    }
    char *part = command_part_text(lesson_failed_part(failed));
    add_command(fix, f, part, xasprintf("%s%s", set, part));
    return true;
}

/* The command as it was run without what could not be found in front of it. */
static bool add_unwrapped(struct lesson *fix, const struct failure *f) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    char *from = is_next(f) && !comes_back(f) ? lesson_wrapped(failed, now) : NULL;
    if (from) {
        const char *same = command_same(&failed->command, &now->command);
        add_command(fix, f, from, command_part_text(same));
    }
    return from;
}

static bool explain_same(struct lesson *fix, const struct failure *f, const char *told) {
    size_t run;
    if (add_environment(fix, f) || add_unwrapped(fix, f)) {
        return true;
    }
    if (!add_runs(fix, f, told) || !add_edits(fix, f, told, true)) {
        return false;
    }
    add_front(fix, f, told);
    if (fix->change_count || f->onward || !is_only_change(f, told, &run)) {
        return fix->change_count > 0;
    }
    if (run) {
        add_run(fix, f, run);
        return true;
    }
    return add_edits(fix, f, told, false) && fix->change_count > 0;
}

/* A file that was there before, a test too, was changed in between. */
static bool is_edited(const struct failure *f) {
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (lesson_is_edit(s) && !lesson_creates(f->s, s)) {
            return true;
        }
    }
    return false;
}

/* NAME=value before the very command. */
static bool only_sets(const char *failed, const char *later) {
    size_t len = strlen(later), tail = strlen(failed), front = len - tail;
    if (len <= tail || strcmp(later + front, failed) != 0) {
        return false;
    }
    for (size_t at = 0; at < front; at += strcspn(later + at, BETWEEN_WORDS) + 1) {
        if (!memchr(later + at, '=', strcspn(later + at, BETWEEN_WORDS))) {
            return false;
        }
    }
    return true;
}

/* The output quotes an option that came: "run it with --no-cache". */
static bool hints_at(const char *output, const char *added) {
    for (const char *at = added; (at = strchr(at, ' '));) {
        autofree char *word = xstrndup(at + 1, strcspn(at + 1, " ="));
        at++;
        if (word[0] == '-' && strlen(word) >= LEAST_OPTION && strstr(output, word)) {
            return true;
        }
    }
    return false;
}

/* Either the words that differ explain it, or an edit does; when both might, neither. */
static bool explain_like(struct lesson *fix, const struct failure *f, const char *told) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    const char *like = command_like(&failed->command, &now->command);
    autobuf gone = BUF_INIT(64u << 10), added = BUF_INIT(64u << 10);
    unsigned kinds =
        command_difference(&gone, &added, lesson_failed_part(failed), like, failed->output);
    bool set = only_sets(lesson_failed_part(failed), like) && is_next(f);
    bool named = !(kinds & DIFFERENCE_TARGET) && f->gone == f->success && !comes_back(f) &&
                 (set || hints_at(failed->output, added.data) || lesson_names(told, gone.data, added.data) ||
                  lesson_names(told, added.data, gone.data));
    if (!add_edits(fix, f, told, true) || named == (fix->change_count > 0) ||
        (named && is_edited(f))) {
        return false;
    }
    if (named) {
        add_command(fix, f, command_part_text(lesson_failed_part(failed)),
                    command_part_text(like));
    }
    return true;
}

/* The very arguments passed with the program of another name: the names are the lesson. */
static bool explain_elsewhere(struct lesson *fix, const struct failure *f) {
    if (!is_next(f) || comes_back(f)) {
        return false;
    }
    const char *part = lesson_failed_part(last_of(f));
    size_t program = strcspn(part, BETWEEN_WORDS), rest = strlen(part) - program;
    const char *now = lesson_elsewhere(last_of(f), &f->s->list[f->gone]);
    if (strlen(now) <= rest) {
        add_command(fix, f, command_part_text(part), command_part_text(now));
        return true;
    }
    autofree char *front = xstrndup(now, strlen(now) - rest);
    add_command(fix, f, xstrndup(part, program), command_part_text(front));
    return true;
}

/* Lines of a script that was typed anew: what the error names is gone from them. */
static bool explain_rewritten(struct lesson *fix, const struct failure *f,
                              const char *told, const char *diff) {
    const struct lesson_step *now = &f->s->list[f->gone];
    autobuf old = BUF_INIT(64u << 10), come = BUF_INIT(64u << 10);
    for (const char *s = diff; *s; s = text_next_line(s)) {
        buf_addf(*s == '-' ? &old : &come, "%.*s\n", (int)strcspn(s, "\n") - 1, s + 1);
    }
    if (!old.len || !come.len || !lesson_names(told, old.data, come.data) ||
        (!f->onward && !is_next(f)) || comes_back(f)) {
        return false;
    }
    struct lesson_change *c = add_change(fix, CHANGE_EDIT);
    const char *part = lesson_failed_part(last_of(f));
    c->path = xstrndup(part, strcspn(part, BETWEEN_WORDS));
    c->to = xstrdup(diff);
    lessons_add_evidence(&fix->evidence, f->s->trace, now->event, EVIDENCE_CHANGE);
    return true;
}

/* Another word for one that the error quotes. */
static bool explain_lookup(struct lesson *fix, const struct failure *f) {
    const char *now = lesson_looked_up(f->s, f->last, f->gone);
    add_command(fix, f, command_part_text(lesson_failed_part(last_of(f))),
                command_part_text(now));
    return true;
}

/* The agent's reason has a name in common with what it did. */
static bool is_about(const char *cause, const struct lesson *fix) {
    return any_of(i, 0, fix->change_count, lesson_names_any(cause, fix->changes[i].to, ""));
}

/* Without pytest's "E   ". */
static const char *behind_mark(const char *quote) {
    return strncmp(quote, "E ", 2) == 0 ? quote + 2 + strspn(quote + 2, " ") : quote;
}

bool lesson_explain(struct lesson *fix, const struct failure *f,
                    const struct lesson_reader *r) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    fix->cause = find_cause(f, r);
    autofree char *told = told_of(f, f->onward ? NULL : fix->cause),
                  *told_only = told_of(f, NULL);
    if (f->onward && comes_back(f)) {
        return false;
    }
    bool same = command_same(&failed->command, &now->command);
    autofree char *rewritten = same ? NULL : lesson_rewritten(failed, now);
    bool explained = f->looked_up ? explain_lookup(fix, f)
                     : same ? explain_same(fix, f, told)
                     : lesson_elsewhere(failed, now) ? explain_elsewhere(fix, f)
                     : rewritten ? explain_rewritten(fix, f, told_only, rewritten)
                                              : explain_like(fix, f, told);
    bool repeats = fix->cause && strstr(fix->cause, behind_mark(f->error->quote));
    bool unrelated =
        fix->cause && !is_about(fix->cause, fix) && !lesson_names_any(fix->cause, told_only, "");
    if (repeats || unrelated || (fix->cause && lesson_is_personal(r, fix->cause))) {
        free(take(fix->cause));
    }
    return explained;
}
