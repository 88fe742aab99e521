/* Whether the run that passed proves what is told: nothing else was done that it may owe its end
 * to. */
#include "skills/traces/lessons_internal.h"

#include "base/find.h"
#include "base/pattern.h"
#include "base/text.h"

#define LEAST_ADVISED 8u /* bytes of a line that nothing else is spelt like */

static bool is_told(const struct lesson *fix, const struct lesson_step *s) {
    return list_any(e, fix->evidence.list, fix->evidence.count,
                    e->role == EVIDENCE_CHANGE && e->event == s->event);
}

/* It changed something, or tried the failed command again, and is not told. */
static bool acts_untold(const struct lesson *fix, const struct failure *f,
                        const struct lesson_step *s) {
    bool edits = s->kind == STEP_EDIT && !s->failed && !lesson_is_prose(s->path);
    bool runs = step_is_run(s) && s->command.count && !s->failed;
    return (edits || runs || (step_may_fail(s) && lesson_is_rerun(&f->s->list[f->last], s))) &&
           !is_told(fix, s);
}

/* Nothing stands before the next run that is not told, and nothing else was brought until one
 * passed: an error may also go because another one comes first. */
static bool proves_run(const struct lesson *fix, const struct failure *f) {
    const struct lesson_step *list = f->s->list;
    return !any_of(i, f->last + 1, f->gone, acts_untold(fix, f, &list[i])) &&
           !any_of(i, f->gone, f->success, step_is_run(&list[i]) && lesson_brings(&list[i]));
}

bool lesson_goes_on(const char *text) {
    char quote = '\0';
    for (const char *at = text; *at; at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"') {
            quote = quote ? '\0' : *at;
        } else if (!quote && *at == '&' && at[1] == '&') {
            at++;
        } else if (!quote && *at == '&' && at[1] != '>' && (at == text || !strchr("<>", at[-1]))) {
            return true;
        }
    }
    return false;
}

/* What an install brought, which is not told, may be why an edit or another word helped. */
static bool is_brought(const struct lesson *fix, const struct failure *f) {
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (step_is_run(s) && !s->failed && lesson_brings(s) && !is_told(fix, s)) {
            return true;
        }
    }
    return false;
}

/* Its first run passed, and what the line ran besides is told, or the failed one ran it too. */
static bool proves_command(const struct failure *f, const struct lesson_change *c) {
    const struct lesson_step *failed = &f->s->list[f->last], *now = &f->s->list[f->gone];
    const char *like = lesson_rerun_part(failed, now);
    for (size_t i = 0; i < now->command.count; i++) {
        const char *part = now->command.parts[i];
        autofree char *text = command_part_text(part);
        if (part != like && !strstr(c->to, text) &&
            !any_of(k, 0, failed->command.count, strcmp(failed->command.parts[k], part) == 0)) {
            return false;
        }
    }
    return f->gone == f->success && (lesson_goes_on(failed->text) || !lesson_goes_on(now->text));
}

/* A pipe hides how it ended, and the failed run said most of its lines too: the error may stand
 * before what `tail` shows. */
static bool ends_alike(const struct failure *f) {
    const struct lesson_step *failed = &f->s->list[f->last], *now = &f->s->list[f->success];
    bool piped = now->command.classes & COMMAND_MASKED && lesson_shows_all(now);
    size_t lines = 0, said = 0;
    for (const char *at = piped && now->output && failed->output ? now->output : ""; *at;
         at = text_next_line(at)) {
        autofree char *line = lesson_cut(at, strcspn(at, "\n"), LESSON_MAX_LINE);
        lines += *line != '\0';
        said += *line && strstr(failed->output, line);
    }
    return 2 * said > lines;
}

/* The run that passed was asked for less: "docker compose up" behind "up --build". */
static bool drops_option(const struct failure *f) {
    const struct lesson_step *failed = &f->s->list[f->last], *now = &f->s->list[f->success];
    const char *part = lesson_rerun_part(failed, now);
    for (const char *at = lesson_failed_part(failed); part && *at; at += strspn(at, BETWEEN_WORDS)) {
        autofree char *word = xstrndup(at, strcspn(at, BETWEEN_WORDS));
        if (*word == '-' && !strstr(part, word)) {
            return true;
        }
        at += strlen(word);
    }
    return false;
}

/* The same program ran earlier in the line, for something else that did not run again: that may be
 * what failed. */
static bool skips_command(const struct failure *f) {
    const struct command *failed = &f->s->list[f->last].command, *now = &f->s->list[f->success].command;
    size_t last = failed->count - 1;
    return any_of(i, 0, last,
                  strcmp(failed->keys[i], failed->keys[last]) == 0 &&
                      !any_of(k, 0, now->count, strcmp(now->parts[k], failed->parts[i]) == 0));
}

/* The text is a line of the output, behind a mark of the compiler's, "12 + " or "+ ". */
static bool shows_line(const char *output, const char *text) {
    for (const char *at = output; (at = strstr(at, text)); at += strlen(text)) {
        const char *from = at, *end = at + strlen(text);
        while (from > output && from[-1] != '\n') {
            from--;
        }
        from += strspn(from, " \t0123456789|+");
        if (from == at && strchr("\r\n", *end)) {
            return true;
        }
    }
    return false;
}

/* The program itself had told the remedy. */
static bool is_advised(const struct lesson *fix, const char *output) {
    size_t lines = 0;
    for (size_t i = 0; i < fix->change_count && output; i++) {
        const struct lesson_change *c = &fix->changes[i];
        for (const char *line = c->path ? c->to : ""; *line; line = text_next_line(line)) {
            autofree char *text = lesson_cut(line + 1, strcspn(line, "\n") - 1, LESSON_MAX_LINE);
            bool comes = *line == '+' && *text;
            if (!c->path || (comes && (strlen(text) < LEAST_ADVISED || !shows_line(output, text)))) {
                return false;
            }
            lines += comes;
        }
    }
    return lines > 0;
}

static size_t count_silencing(const struct lesson_reader *r, const char *diff, char mark) {
    size_t count = 0;
    for (; *diff; diff = text_next_line(diff)) {
        count += *diff == mark && pattern_is_in(r->silencing, diff + 1, strcspn(diff + 1, "\n"));
    }
    return count;
}

bool lesson_silences(const struct lesson_reader *r, const struct lesson *fix) {
    return list_any(c, fix->changes, fix->change_count,
                    c->path && count_silencing(r, c->to, '+') > count_silencing(r, c->to, '-'));
}

bool lesson_is_proven(const struct lesson *fix, const struct failure *f) {
    list_each(i, c, fix->changes, fix->change_count) {
        if ((c->kind == CHANGE_RUN && !proves_run(fix, f)) ||
            (c->kind == CHANGE_COMMAND ? !proves_command(f, c) : drops_option(f))) {
            return false;
        }
    }
    return !is_brought(fix, f) && !skips_command(f) && !ends_alike(f) && !is_advised(fix, f->s->list[f->last].output);
}
