/* Which change ended an error: what lies between the last run with it and the first
 * without it, and is tied to it. */
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"

#include <ctype.h>

#define MAX_BRIEF 400u   /* bytes of a turn that says little else than its reason */

/* --- what is told of the failure --- */

static const struct lesson_step *last_of(const struct failure *f) {
    return &f->s->list[f->last];
}

/* --- changes --- */

/* The line that passed writes a file first, which others do not have. */
static bool writes_own(const struct failure *f) {
    const struct lesson_step *now = &f->s->list[f->gone], *before = now - 1;
    return f->gone > 0 && before->kind == STEP_EDIT && !before->is_diff &&
           strstr(now->text, path_basename(before->path));
}

/* The command is to be written otherwise; from and to are taken over. */
static void add_command(struct lesson *fix, const struct failure *f, char *from,
                        char *to) {
    struct lesson_change *c = lesson_add_change(fix, CHANGE_COMMAND);
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
            command_same(&failed->command, &s->command)) {
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

/* The error does not say what the change has to do with it: it is the only one, and both
 * runs' ends are certain. */
static bool is_only_cause(const struct failure *f) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    return f->gone == f->success && failed->error_count == 1 && lesson_shows_all(failed) && lesson_shows_all(now);
}

static bool explain_same(struct lesson *fix, const struct failure *f, const char *told) {
    if (f->least == LINK_PLACE && add_environment(fix, f)) {
        return true;
    }
    if (f->least == LINK_NONE) {
        return (f->gone == f->success && lesson_add_only_run(fix, f, told)) ||
               (is_only_cause(f) && lesson_add_edits(fix, f) && fix->change_count == 1);
    }
    if (!lesson_add_runs(fix, f, told) || !lesson_add_edits(fix, f)) {
        return false;
    }
    return fix->change_count > 0;
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

/* The error names each of the options that are gone, or its value: without others the command does
 * something else. */
static bool names_options(const char *told, const char *gone, const char *added, const char *like) {
    for (const char *at = gone + strspn(gone, " "); *at;) {
        size_t len = strcspn(at, " ");
        while (at[len] && at[len + 1] != '-') {
            len += 1 + strcspn(at + len + 1, " "); /* its value */
        }
        autofree char *option = xstrndup(at, len);
        bool runs_more = !*added && strchr(option, '/'); /* nothing came for a path */
        if (runs_more || (lesson_has_name(option) && !lesson_names(told, option, like))) {
            return false;
        }
        at += len + strspn(at + len, " ");
    }
    return true;
}

/* Either the words that differ explain it, or an edit does; when both might, neither. */
static bool explain_like(struct lesson *fix, const struct failure *f, const char *told) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    const char *like = command_like(&failed->command, &now->command);
    if (!like) { /* it is like an earlier run of these, not like the last one */
        return false;
    }
    autobuf gone = BUF_INIT(64u << 10), added = BUF_INIT(64u << 10);
    unsigned kinds =
        command_difference(&gone, &added, lesson_failed_part(failed), like, failed->output);
    bool set = f->least == LINK_PLACE && only_sets(lesson_failed_part(failed), like) && is_next(f);
    bool only = f->least == LINK_NONE && is_only_cause(f) && is_next(f); /* if the agent's reason names it */
    const struct command *end = &f->s->list[f->success].command;
    bool stays = f->gone == f->success || any_of(i, 0, end->count, strcmp(end->parts[i], like) == 0);
    bool named = !(kinds & DIFFERENCE_TARGET) && stays && !writes_own(f) && !comes_back(f) &&
                 (set || only || (lesson_names(told, gone.data, like) && names_options(told, gone.data, added.data ? added.data : "", like)) ||
                  lesson_names(told, added.data, lesson_failed_part(failed)));
    if (f->least == LINK_NONE ? !only : !lesson_add_edits(fix, f)) {
        return false;
    }
    if (named == (fix->change_count > 0) || (named && is_edited(f))) {
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

/* The agent's reason says a name that the change brings or takes away. */
static bool is_about(const char *cause, const struct lesson *fix) {
    list_each(i, c, fix->changes, fix->change_count) {
        autofree char *names = c->kind == CHANGE_EDIT ? lesson_differing(c->to) : xstrdup(c->to);
        if (lesson_names(cause, names, c->from ? c->from : "")) {
            return true;
        }
    }
    return false;
}

/* Without pytest's "E   ". */
static const char *behind_mark(const char *quote) {
    return strncmp(quote, "E ", 2) == 0 ? quote + 2 + strspn(quote + 2, " ") : quote;
}

/* Said in a few words, not among many thoughts. */
static bool is_brief(const char *cause, const struct failure *f) {
    return any_of(i, f->last + 1, f->s->count,
                  f->s->list[i].kind == STEP_SAY && strstr(f->s->list[i].text, cause) &&
                      strlen(f->s->list[i].text) <= MAX_BRIEF);
}

/* A reason that the error, the change and the agent's voice allow to be told. */
static bool is_reason(const char *cause, const struct lesson *fix, const struct failure *f) {
    autofree char *error = lesson_told(f->error);
    size_t ties = (size_t)is_about(cause, fix) + lesson_names_any(error, cause, "");
    return cause[strlen(cause) - 1] != ':' && !strstr(cause, behind_mark(f->error->quote)) && !lesson_is_personal(f->r, cause) &&
           (ties == 2 || (ties == 1 && is_brief(cause, f)));
}

/* The reason that is told: what the agent said before the change. */
static void choose_reason(struct lesson *fix, const struct failure *f) {
    char *reason = fix->cause ? take(fix->cause) : lesson_reason(f, f->gone);
    if (reason && !is_reason(reason, fix, f)) {
        free(take(reason));
    }
    fix->cause = reason;
}

/* Lines that only come, further in than an import: nobody sees where. */
static bool is_lost(const struct lesson_change *c) {
    return c->kind == CHANGE_EDIT && *c->to == '+' && !strstr(c->to, "\n-") && isspace((unsigned char)c->to[1]);
}

/* With nothing but its place to tie it to the error, a change needs the agent's word for it, or an error
 * that quotes something; or it is a command that brings what the failed one works with. */
static bool is_vouched(const struct lesson *fix, const struct failure *f) {
    const struct lesson_change *c = &fix->changes[0];
    if (!fix->cause && any_of(i, 0, fix->change_count, is_lost(&fix->changes[i]))) {
        return false;
    }
    bool ran = c->kind == CHANGE_RUN, quotes = strpbrk(f->error->quote, "'\"`") != NULL;
    return f->least == LINK_NAME || (f->least == LINK_PLACE && (c->kind != CHANGE_EDIT || quotes)) ||
           (fix->cause && (ran || is_about(fix->cause, fix))) || (ran && lesson_suits(f, c->to));
}

bool lesson_explain(struct lesson *fix, const struct failure *f) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    autofree char *told = lesson_told(f->error);
    bool same = command_same(&failed->command, &now->command);
    bool typed = f->least == LINK_PLACE; /* the command itself says what was changed */
    bool explained = same                            ? explain_same(fix, f, told)
                     : lesson_elsewhere(failed, now) ? typed && explain_elsewhere(fix, f)
                                                     : explain_like(fix, f, told);
    if (!explained || !fix->change_count) {
        return false;
    }
    choose_reason(fix, f);
    return is_vouched(fix, f);
}
