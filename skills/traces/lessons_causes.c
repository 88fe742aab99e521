/* Which change ended an error: what lies between the last run with it and the first
 * without it, and is tied to it. */
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#define HINT_WITHIN 300u /* bytes of output behind an error */
#define MAX_BRIEF 400u   /* bytes of a turn that says little else than its reason */
#define LEAST_OPTION 5u /* bytes of one that nothing else is spelt like */

/* --- what is told of the failure --- */

static const struct lesson_step *last_of(const struct failure *f) {
    return &f->s->list[f->last];
}

/* What the agent says right behind the proof. */
static char *reason_behind(const struct failure *f) {
    size_t next = f->gone + 1;
    bool says = next < f->s->count && f->s->list[next].kind == STEP_SAY;
    return says ? lesson_cause(f->r, f->s->list[next].text) : NULL;
}

/* --- changes --- */

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
            (f->said || command_same(&failed->command, &s->command))) {
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

/* The error does not say what the change has to do with it: it is the only one, and both
 * runs' ends are certain. */
static bool is_only_cause(const struct failure *f) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    return f->least == LINK_NONE && f->gone == f->success &&
           failed->error_count == 1 &&
           lesson_shows_all(failed) && lesson_shows_all(now);
}

static bool explain_same(struct lesson *fix, const struct failure *f, const char *told) {
    if (f->least == LINK_PLACE && (add_environment(fix, f) || add_unwrapped(fix, f))) {
        return true;
    }
    if (f->least == LINK_NONE && f->gone == f->success && lesson_add_only_run(fix, f, told)) {
        return true;
    }
    if (f->least == LINK_NONE) {
        return is_only_cause(f) && lesson_add_edits(fix, f) && fix->change_count == 1;
    }
    if (!lesson_add_runs(fix, f, told) || !lesson_add_edits(fix, f)) {
        return false;
    }
    lesson_add_front(fix, f, told);
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

/* The output quotes an option that came right behind the error: "run it with --no-cache". */
static bool hints_at(const struct failure *f, const char *added) {
    const char *said = strstr(last_of(f)->output, f->error->quote);
    size_t len = said ? strnlen(said, strlen(f->error->quote) + HINT_WITHIN) : 0;
    for (const char *at = added; said && (at = strchr(at, ' '));) {
        autofree char *word = xstrndup(at + 1, strcspn(at + 1, " ="));
        at++;
        if (word[0] == '-' && strlen(word) >= LEAST_OPTION &&
            memmem(said, len, word, strlen(word))) {
            return true;
        }
    }
    return false;
}

/* The line that passed does something before the command that the failed one did not. */
static bool prepares(const struct lesson_step *failed, const struct lesson_step *now,
                     const char *part) {
    for (size_t i = 0; i < now->command.count && now->command.parts[i] != part; i++) {
        if (!any_of(k, 0, failed->command.count,
                    strcmp(failed->command.parts[k], now->command.parts[i]) == 0)) {
            return true;
        }
    }
    return false;
}

/* The paths that its options named are gone, and nothing came: it runs more than it was to. */
static bool runs_more(const char *gone, const char *added) {
    for (const char *at = gone; !*added && *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (*at != '-' && memchr(at, '/', strcspn(at, " "))) {
            return true;
        }
    }
    return false;
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
    bool shown = f->least == LINK_PLACE &&
                 ((only_sets(lesson_failed_part(failed), like) && is_next(f)) ||
                  hints_at(f, added.data));
    const struct command *end = &f->s->list[f->success].command;
    bool stays = f->gone == f->success || any_of(i, 0, end->count, strcmp(end->parts[i], like) == 0);
    bool only = is_only_cause(f) && is_next(f); /* if the agent's reason names it */
    bool named = !(kinds & DIFFERENCE_TARGET) && stays && !runs_more(gone.data, added.data) && !prepares(failed, now, like) &&
                 !comes_back(f) &&
                 (shown || only || lesson_names(told, gone.data, like) ||
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

/* Lines of a script that was typed anew: what the error names is gone from them. */
static bool explain_rewritten(struct lesson *fix, const struct failure *f,
                              const char *told, const char *diff) {
    const struct lesson_step *now = &f->s->list[f->gone];
    autobuf old = BUF_INIT(64u << 10), come = BUF_INIT(64u << 10);
    for (const char *s = diff; *s; s = text_next_line(s)) {
        buf_addf(*s == '-' ? &old : &come, "%.*s\n", (int)strcspn(s, "\n") - 1, s + 1);
    }
    if (!old.len || !come.len || !lesson_names(told, old.data, come.data) ||
        !is_next(f) || comes_back(f)) {
        return false;
    }
    struct lesson_change *c = lesson_add_change(fix, CHANGE_EDIT);
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

/* The agent's reason says a name that the change brings or takes away. */
static bool is_about(const char *cause, const struct lesson *fix) {
    for (size_t i = 0; i < fix->change_count; i++) {
        const struct lesson_change *c = &fix->changes[i];
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
    autofree char *error = lesson_told(f, 0);
    size_t ties = (size_t)is_about(cause, fix) + lesson_names_any(error, cause, "");
    return cause[strlen(cause) - 1] != ':' && !strstr(cause, behind_mark(f->error->quote)) && !lesson_is_personal(f->r, cause) &&
           (ties == 2 || (ties == 1 && is_brief(cause, f)));
}

/* The reason that is told: what the agent said before the change, or behind the proof. */
static void choose_reason(struct lesson *fix, const struct failure *f) {
    char *reason = fix->cause ? take(fix->cause) : lesson_reason(f, f->gone);
    if (!reason || !is_reason(reason, fix, f)) {
        free(reason);
        reason = reason_behind(f);
        if (reason && (!is_about(reason, fix) || !is_reason(reason, fix, f))) {
            free(take(reason));
        }
    }
    fix->cause = reason;
}

/* With nothing but its place to tie it to the error, a change needs the agent's word for it, or
 * to be a command that brings what the failed one works with. */
static bool is_vouched(const struct lesson *fix, const struct failure *f) {
    bool ran = fix->changes[0].kind == CHANGE_RUN;
    return (fix->cause && (ran || is_about(fix->cause, fix))) ||
           (ran && lesson_suits(f, fix->changes[0].to));
}

bool lesson_explain(struct lesson *fix, const struct failure *f) {
    const struct lesson_step *failed = last_of(f), *now = &f->s->list[f->gone];
    if (f->said) {
        return !comes_back(f) && lesson_explain_said(fix, f);
    }
    autofree char *told = lesson_told(f, f->gone);
    bool same = command_same(&failed->command, &now->command);
    bool typed = f->least == LINK_PLACE; /* the command itself says what was changed */
    autofree char *rewritten = same ? NULL : lesson_rewritten(failed, now);
    bool explained = f->looked_up                      ? typed && explain_lookup(fix, f)
                     : same                            ? explain_same(fix, f, told)
                     : lesson_elsewhere(failed, now)   ? typed && explain_elsewhere(fix, f)
                     : rewritten ? typed && explain_rewritten(fix, f, f->error->quote, rewritten)
                                 : explain_like(fix, f, told);
    if (!explained || !fix->change_count) {
        return false;
    }
    choose_reason(fix, f);
    return f->least > LINK_NONE || is_vouched(fix, f);
}
