/* Failures, and what made them go away.
 *
 * A failing command is followed to the next success of the same command. What happened
 * between its last run with this error and the first without it may explain the end
 * (lessons_causes.c); an end that nothing explains is not told. */
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/work.h"

#define MAX_KNOWN (4u << 20)
#define MAX_FAILURES 500u
#define LEAST_NAME 4u
#define MENDS_WITHIN 32u /* steps */
#define MAX_OWN 6u    /* lines whose change one sentence or one error explains */

static void follow(struct failure *f) {
    const struct lesson_step *failed = &f->s->list[f->last];
    size_t end = f->last + LESSONS_REACH;
    for (size_t i = f->last + 1; i < f->s->count && i < end; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (!step_may_fail(s) || !lesson_is_rerun(failed, s)) {
            continue;
        }
        if (lesson_shows(s, f->error)) {
            f->seen++;
            f->last = i;
            f->gone = 0;
        } else if (!f->gone && lesson_shows_end(&f->s->list[f->last], s)) {
            f->gone = i;
        }
        if (!s->failed && f->gone) {
            f->success = i;
            return;
        }
    }
}

/* --- lessons --- */

/* A check is a command that showed an error and passed once something else was mended; others have
 * what it runs. A command that was to be written otherwise is no check. */
static void add_check(struct lessons *l, const struct steps *s, const struct lesson_step *passed,
                      const struct lesson *fix) {
    const char *command = fix->verified_by;
    bool typed = list_any(one, fix->changes, fix->change_count, one->kind == CHANGE_COMMAND) ||
                 strstr(passed->text, "<<") || command_holds_prose(&passed->command);
    if (!typed && !lesson_runs_own_script(s, passed) && !lesson_list_find(&l->commands, command)) {
        struct lesson *c = lesson_list_add(&l->commands);
        c->key = xstrdup(command);
        lessons_add_evidence(&c->evidence, s->trace, passed->event, EVIDENCE_PROOF);
    }
}

static char *part_text(const struct lesson_step *failed, const struct lesson_step *s) {
    const char *part = lesson_rerun_part(failed, s);
    return command_part_text(part ? part : lesson_failed_part(s));
}

/* Which of a line's commands failed is not known: the whole line, from the folder that it went to. */
static char *context_of(const struct lesson_step *failed) {
    const char *line = failed->text, *joint = strncmp(line, "cd ", 3) == 0 ? strstr(line, "&& ") : NULL;
    return failed->command.count > 1 ? lesson_shown_command(joint ? joint + 3 : line)
                                     : part_text(failed, failed);
}

/* The session mends code that was there before it, up to then or soon. */
static bool mends_existing(const struct steps *s, size_t end) {
    autojson *written = json_object();
    for (size_t i = 0; i < s->count && i < end + MENDS_WITHIN; i++) {
        const struct lesson_step *e = &s->list[i];
        bool shown = e->output && strstr(e->output, "\n--- a/"); /* by `git diff` */
        bool code = e->kind == STEP_EDIT && !lesson_is_prose(e->path);
        if (shown || (code && e->is_diff && !json_object_get(written, e->path))) {
            return true;
        }
        if (e->kind == STEP_EDIT) {
            json_object_set_new(written, e->path, json_true());
        }
    }
    return false;
}

/* Some other edit of the changed file, in the steps [from, end), has such a line. */
static bool is_shared(const struct lesson_change *c, char mark, const struct steps *s,
                      size_t from, size_t end, char other_mark) {
    for (size_t i = from; c->path && i < end; i++) {
        const struct lesson_step *e = &s->list[i];
        autofree char *diff = lesson_is_edit(e) && strcmp(e->path, c->path) == 0
                                  ? lesson_changed_lines(s, i)
                                  : NULL;
        if (diff && lesson_shares_line(c->to, mark, diff, other_mark)) {
            return true;
        }
    }
    return false;
}

/* What it brought was changed again, or it brought back what the session had taken away:
 * an attempt, no fix. */
static bool is_attempt(const struct failure *f, const struct lesson *fix) {
    return list_any(c, fix->changes, fix->change_count,
                    is_shared(c, '+', f->s, f->gone, f->s->count, '-') ||
                        is_shared(c, '+', f->s, 0, f->last, '-'));
}

/* The last run before that did not show the error yet; 0: none. */
static size_t last_without(const struct failure *f) {
    const struct steps *s = f->s;
    for (size_t i = f->last; i > 0; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (step_may_fail(e) && e->command.count && lesson_is_rerun(&s->list[f->last], e) &&
            !lesson_has_error(e, f->error->normal)) {
            return i - 1;
        }
    }
    return 0;
}

/* It corrects lines that the session had written, or a file that it had changed since the
 * command ran without the error. */
static bool corrects_own(const struct failure *f, const struct lesson *fix) {
    size_t since = last_without(f);
    list_each(i, c, fix->changes, fix->change_count) {
        if (is_shared(c, '-', f->s, 0, f->last, '+')) {
            return true;
        }
        for (size_t k = since; c->path && since && k < f->last; k++) {
            const struct lesson_step *e = &f->s->list[k];
            if (e->kind == STEP_EDIT && strcmp(e->path, c->path) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool has_name(const char *part, const char *name, size_t len) {
    autofree char *word = xstrndup(name, len);
    return len >= LEAST_NAME && lesson_has_word(part, word);
}

/* The command names what the session wrote before, or its folder: a script or a test to try
 * something out. */
static bool tries_own(const struct steps *s, const struct lesson_step *run) {
    const char *part = lesson_failed_part(run);
    for (const struct lesson_step *e = s->list; e < run; e++) {
        bool wrote = e->kind == STEP_EDIT && (!e->is_diff || lesson_is_test(e->path));
        const char *name = wrote ? path_basename(e->path) : "";
        const char *folder = name;
        while (wrote && folder > e->path && (folder == name || folder[-1] != '/')) {
            folder--;
        }
        if (has_name(part, name, strcspn(name, ".")) ||
            has_name(part, folder, strcspn(folder, "/"))) {
            return true;
        }
    }
    return false;
}

static bool changes_file(const struct lesson *fix) {
    return list_any(c, fix->changes, fix->change_count, c->path != NULL);
}

/* The session did not write the file whole. */
static bool changes_existing(const struct steps *s, const struct lesson *fix) {
    return list_any(c, fix->changes, fix->change_count,
                    c->path && !any_of(i, 0, s->count,
                                       s->list[i].kind == STEP_EDIT && !s->list[i].is_diff &&
                                           strcmp(s->list[i].path, c->path) == 0));
}

/* The first run of the command since it last passed. */
static size_t first_failure(const struct failure *f) {
    size_t first = f->last;
    for (size_t i = f->last; i > 0; i--) {
        const struct lesson_step *e = &f->s->list[i - 1];
        bool again = step_may_fail(e) && e->command.count &&
                     lesson_is_rerun(&f->s->list[f->last], e);
        if (again && !e->failed) {
            break;
        }
        first = again ? i - 1 : first;
    }
    return first;
}

/* "TypeError: …", "SyntaxError: …": raised where the session's own code ran. */
static bool is_exception(const char *quote) {
    const char *end = strstr(quote, "Error:");
    return end && end > quote && isalnum((unsigned char)end[-1]);
}

/* A few lines that are not of an attempt to mend this were replaced, and the error does not
 * only quote names that the session had written: the rule that was broken is the program's. */
static bool breaks_rule(const struct failure *f, const struct lesson *fix) {
    const struct lesson_change *c = fix->changes;
    autobuf known = BUF_INIT(MAX_KNOWN);
    buf_adds(&known, f->s->list[f->last].text);
    list_each(i, e, f->s->list, f->last) {
        buf_addf(&known, "\n%s", e->kind == STEP_EDIT && e->text ? e->text : "");
    }
    autofree char *quoted = lesson_quoted(f->error->quote);
    return fix->change_count == 1 && c->path && *c->to == '-' &&
           strstr(c->to, "\n+") && text_count(c->to, strlen(c->to), '\n') <= MAX_OWN &&
           !is_exception(f->error->quote) &&
           (!lesson_names(quoted, quoted, "") || lesson_names(quoted, quoted, known.data)) &&
           !is_shared(c, '-', f->s, first_failure(f), f->last, '+');
}

/* A person had said the error before it was seen. */
static bool was_asked(const struct failure *f) {
    return any_of(i, 0, f->first, f->s->list[i].kind == STEP_USER &&
                                      strstr(f->s->list[i].text, f->error->quote));
}

/* What the person wanted of this project's code, which no other session has: code that was there
 * is changed, and its own run, a test of the session or the person had shown what is wrong. */
static bool is_the_task(const struct failure *f, const struct lesson *fix) {
    return changes_existing(f->s, fix) &&
           (was_asked(f) || tries_own(f->s, &f->s->list[f->last]));
}

/* A command that says nothing names the script afterwards: it is taken away. */
static bool is_taken_away(const struct failure *f, const char *path) {
    for (size_t i = f->success + 1; path && i < f->s->count; i++) {
        const struct lesson_step *s = &f->s->list[i];
        bool runs = step_is_run(s) && s->command.count && lesson_runs_own_script(f->s, s);
        if (s->kind == STEP_RUN && !s->failed && !runs && s->output && !*s->output &&
            strstr(s->text, path_basename(path))) {
            return true;
        }
    }
    return false;
}

/* A slip in what was written to try out or mend what the session is about. */
static bool is_own_slip(const struct failure *f, const struct lesson *fix) {
    bool script = lesson_runs_own_script(f->s, &f->s->list[f->last]) && changes_file(fix);
    bool own = !fix->cause && corrects_own(f, fix) && !breaks_rule(f, fix);
    return ((script || own) && mends_existing(f->s, f->success)) ||
           (script && is_taken_away(f, fix->changes[0].path));
}

/* Where the error says only that a test failed, the agent gave the reason of a few lines, and
 * the very test passed. */
static bool is_understood(const struct failure *f, const struct lesson *fix) {
    size_t lines =
        total_of(size_t, i, 0, fix->change_count,
               text_count(fix->changes[i].to, strlen(fix->changes[i].to), '\n'));
    const struct lesson_step *failed = &f->s->list[f->last], *now = &f->s->list[f->success];
    return lesson_is_telling(f->error->quote) ||
           (fix->cause && lines <= MAX_OWN && command_same(&failed->command, &now->command));
}

/* The error as the last run said it, which may name another place or address. */
static const char *last_quote(const struct failure *f) {
    const struct lesson_step *failed = &f->s->list[f->last];
    const struct lesson_error *e = list_find(one, failed->errors, failed->error_count,
                                             strcmp(one->normal, f->error->normal) == 0);
    return e ? e->quote : f->error->quote;
}

static bool corrects_command(const struct lesson *fix) {
    return list_any(c, fix->changes, fix->change_count, c->kind == CHANGE_COMMAND);
}

/* The same command shows it again, and no file was edited since: what changed is not why it was
 * gone. A command that was corrected may be typed wrongly again. */
static bool comes_back(const struct failure *f, const struct lesson *fix) {
    const struct steps *s = f->s;
    if (corrects_command(fix)) {
        return false;
    }
    for (size_t i = f->success + 1; i < s->count && i < f->success + LESSONS_REACH; i++) {
        const struct lesson_step *e = &s->list[i];
        if (e->kind == STEP_EDIT) {
            return false;
        }
        if (step_may_fail(e) && lesson_has_error(e, f->error->normal) &&
            lesson_is_rerun(&s->list[f->last], e)) {
            return true;
        }
    }
    return false;
}

/* Another selection of tests, in which the one that failed passes or is not run, mends
 * nothing. */
static bool only_selects(const struct failure *f, const struct lesson *fix) {
    return lesson_is_test_result(f->error->quote) &&
           list_any(c, fix->changes, fix->change_count, c->kind == CHANGE_COMMAND);
}

/* The fix, which is explained, is told: it is taken over. False if something speaks against it. */
static bool tell(struct lessons *l, struct lesson *fix, const struct failure *f) {
    const struct lesson_step *failed = &f->s->list[f->last];
    const struct lesson_step *success = &f->s->list[f->success];
    if (lesson_is_heading(f->error->quote) || is_own_slip(f, fix) || is_attempt(f, fix) || is_the_task(f, fix) ||
        comes_back(f, fix) || only_selects(f, fix) || lesson_silences(f->r, fix) || !lesson_is_proven(fix, f)) {
        return false;
    }
    lessons_add_evidence(&fix->evidence, f->s->trace, success->result_event, EVIDENCE_PROOF);
    fix->key = xstrdup(f->error->normal);
    fix->quote = xstrdup(last_quote(f));
    fix->context = context_of(failed);
    fix->verified_by = part_text(failed, success);
    add_check(l, f->s, success, fix);
    *lesson_list_add(&l->fixes) = *fix;
    return true;
}

static bool add_fix(struct lessons *l, const struct failure *f) {
    struct lesson fix = {.seen = f->seen};
    lessons_add_evidence(&fix.evidence, f->s->trace, f->s->list[f->last].result_event,
                         EVIDENCE_ERROR);
    bool told = l->fixes.count < LESSONS_MAX_FIXES && lesson_explain(&fix, f) &&
                is_understood(f, &fix) && tell(l, &fix, f);
    if (!told) {
        lesson_finish(&fix);
    }
    return told;
}

/* The same run showed this error earlier, and it was followed from there. */
static bool was_followed(const struct steps *s, size_t at, const char *normal) {
    size_t reach = at > LESSONS_REACH ? at - LESSONS_REACH : 0;
    for (size_t i = at; i > reach; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (!step_may_fail(e) || !e->command.count || !lesson_is_rerun(e, &s->list[at])) {
            continue;
        }
        if (!e->failed) {
            return false;
        }
        if (lesson_has_error(e, normal)) {
            return true;
        }
    }
    return false;
}

/* One with the same end is told already. */
static bool ended_with(const struct failure *list, const bool *told, size_t count, size_t k) {
    return any_of(i, 0, count, told[i] && list[i].gone == list[k].gone);
}

static void tell_failures(struct lessons *l, struct failure *list, size_t count) {
    bool told[STEP_MAX_ERRORS] = {0};
    for (int least = LINK_NAME; least >= LINK_NONE; least--) {
        for (size_t k = 0; k < count; k++) {
            list[k].least = (enum lesson_link)least;
            told[k] = told[k] || (list[k].success && !ended_with(list, told, count, k) &&
                                  add_fix(l, &list[k]));
        }
    }
}

/* Several errors of one run that went away together are one lesson: that of the error which
 * the change is tied to most. */
static void find_fix(struct lessons *l, const struct steps *s, size_t at,
                     const struct lesson_reader *r) {
    const struct lesson_step *failed = &s->list[at];
    struct failure list[STEP_MAX_ERRORS];
    size_t count = 0;
    for (size_t k = 0; k < failed->error_count; k++) {
        struct failure f = {.s = s, .r = r, .error = &failed->errors[k], .first = at, .last = at,
                            .seen = 1};
        if (was_followed(s, at, f.error->normal)) {
            continue;
        }
        follow(&f);
        list[count++] = f;
    }
    tell_failures(l, list, count);
}

/* A check that is to be typed otherwise. */
static bool is_replaced(struct lessons *l, struct lesson *check) {
    return list_any(fix, l->fixes.list, l->fixes.count,
                    list_any(c, fix->changes, fix->change_count,
                             c->kind == CHANGE_COMMAND && c->from && strcmp(c->from, check->key) == 0));
}

void lessons_find_fixes(struct lessons *l, const struct steps *s,
                        const struct lesson_reader *r) {
    size_t failures = 0;
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        const struct lesson_step *step = &s->list[i];
        lessons_find_again(l, s, i);
        if (step_may_fail(step) && step->failed && step->command.count && step->output) {
            find_fix(l, s, i, r);
            if (failures++ < MAX_FAILURES) { /* each is compared word by word with 16 later runs */
                lessons_find_usage(l, s, i);
            }
        }
    }
    lesson_list_drop(&l->commands, l, is_replaced);
}
