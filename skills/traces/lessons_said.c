/* Fixes whose reason the agent says in words: a sentence that explains, the change that has its
 * names, and a run of the same program without the error. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"

#define MAX_BRIEF 400u   /* bytes of a turn that says little else than its reason */
#define MAX_STEPS 24u    /* between the error and its end */
#define MAX_FILES 2u
#define MAX_TYPED 400u   /* bytes of a command that is told */

/* The edits between the failure and its end that have a name which the sentence says in code. */
static void add_named_edits(struct lesson *fix, const struct failure *f, const char *names) {
    for (size_t i = f->last + 1; i < f->gone && fix->change_count < MAX_FILES; i++) {
        const struct lesson_step *e = &f->s->list[i];
        autofree char *diff = lesson_is_edit(e) && !e->shown ? lesson_changed_lines(f->s, i) : NULL;
        autofree char *differing = diff ? lesson_differing(diff) : NULL;
        bool named = diff && !lesson_is_prose(e->path) && !lesson_is_test(e->path) &&
                     lesson_names(names, differing, "");
        if (named && lesson_is_clear(e, diff) && !lesson_creates(f->s, e)) {
            struct lesson_change *c = lesson_add_change(fix, CHANGE_EDIT);
            c->path = xstrdup(e->path);
            c->to = take(diff);
            lessons_add_evidence(&fix->evidence, f->s->trace, e->event, EVIDENCE_CHANGE);
        }
    }
}

/* The command that ended it has a name of the sentence that the failed one lacks. */
static void add_named_command(struct lesson *fix, const struct failure *f, const char *names) {
    const struct lesson_step *failed = &f->s->list[f->last], *now = &f->s->list[f->gone];
    const char *part = command_like(&failed->command, &now->command);
    if (!part || strlen(failed->text) > MAX_TYPED || strlen(now->text) > MAX_TYPED ||
        !lesson_names(names, part, lesson_failed_part(failed)) ||
        command_part_holds_prose(part) || command_holds_prose(&failed->command)) {
        return;
    }
    struct lesson_change *c = lesson_add_change(fix, CHANGE_COMMAND);
    c->from = command_part_text(lesson_failed_part(failed));
    c->to = command_part_text(part);
    lessons_add_evidence(&fix->evidence, f->s->trace, now->event, EVIDENCE_CHANGE);
}

/* There is one error, and nothing else failed until the change ended it. */
static bool is_alone(const struct failure *f) {
    const struct lesson_step *list = f->s->list;
    return list[f->last].error_count == 1 && f->gone == f->success &&
           !any_of(i, f->last + 1, f->gone, list[i].kind == STEP_RUN && list[i].failed);
}

/* The few words of this turn explain the error's end. */
static bool explains(struct lesson *fix, const struct failure *f, size_t turn) {
    const char *text = f->s->list[turn].text;
    autofree char *cause = strlen(text) <= MAX_BRIEF ? lesson_cause(f->r, text) : NULL;
    autofree char *error = lesson_told(f, 0);
    bool announces = cause && cause[strlen(cause) - 1] == ':';
    autofree char *names = lesson_technical(cause ? cause : "");
    if (!cause || lesson_is_personal(f->r, cause) || strncmp(cause, "This ", 5) == 0 ||
        !(lesson_names(error, names, "") || (is_alone(f) && !announces))) {
        return false;
    }
    add_named_edits(fix, f, names);
    if (!fix->change_count) {
        add_named_command(fix, f, names);
    }
    if (fix->change_count) {
        fix->cause = take(cause);
        lessons_add_evidence(&fix->evidence, f->s->trace, f->s->list[turn].event, EVIDENCE_SAID);
    }
    return fix->change_count;
}

bool lesson_explain_said(struct lesson *fix, const struct failure *f) {
    const struct steps *s = f->s;
    if (f->gone - f->last > MAX_STEPS) {
        return false;
    }
    for (size_t i = f->gone; i > f->last + 1; i--) {
        if (s->list[i - 1].kind == STEP_SAY && explains(fix, f, i - 1)) {
            return true;
        }
    }
    size_t next = f->gone + 1;
    return next < s->count && s->list[next].kind == STEP_SAY && explains(fix, f, next);
}
