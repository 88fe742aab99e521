/* Failures, and what made them go away.
 *
 * A failing command is followed to the next success of the same command. What happened
 * between its last run with this error and the first without it may explain the end
 * (lessons_causes.c); an end that nothing explains is not told. */
#include "skills/traces/lessons_internal.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/work_stop.h"

#include <string.h>

#define MAX_FIXES 60u
#define MAX_DEAD_ENDS 20u

static bool has_error(const struct lesson_step *s, const char *normal) {
    for (size_t i = 0; i < s->error_count; i++) {
        if (strcmp(s->errors[i].normal, normal) == 0) {
            return true;
        }
    }
    return false;
}

/* Its end cannot be hidden where its beginning was not. */
static bool shows_end(const struct lesson_step *failed, const struct lesson_step *later) {
    return !(later->command.classes & COMMAND_MASKED) ||
           (failed->command.classes & COMMAND_MASKED);
}

static void follow(struct failure *f) {
    const struct lesson_step *failed = &f->s->list[f->last];
    size_t end = f->last + LESSONS_REACH;
    for (size_t i = f->last + 1; i < f->s->count && i < end; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (!step_is_run(s) || !lesson_is_rerun(failed, s)) {
            continue;
        }
        if (s->failed && has_error(s, f->error->normal)) {
            f->seen++;
            f->last = i;
            f->gone = 0;
        } else if (!f->gone && shows_end(failed, s)) {
            f->gone = i;
        }
        if (!s->failed && f->gone) {
            f->success = i;
            return;
        }
    }
}

/* --- lessons --- */

/* A check is a command that showed an error and passed once it was mended. */
static void add_check(struct lessons *l, const char *command, uint16_t trace,
                      uint32_t event) {
    if (!lesson_list_find(&l->commands, command)) {
        struct lesson *c = lesson_list_add(&l->commands);
        c->key = xstrdup(command);
        lessons_add_evidence(&c->evidence, trace, event, EVIDENCE_PROOF);
    }
}

static char *part_text(const struct lesson_step *failed, const struct lesson_step *s) {
    const char *part = command_same(&failed->command, &s->command);
    return command_part_text(part ? part : command_like(&failed->command, &s->command));
}

/* The session mends a file that was there before it. */
static bool mends_existing(const struct steps *s) {
    autojson *written = json_object();
    for (size_t i = 0; i < s->count; i++) {
        const struct lesson_step *e = &s->list[i];
        if (e->kind == STEP_EDIT && e->is_diff && !json_object_get(written, e->path)) {
            return true;
        }
        if (e->kind == STEP_EDIT) {
            json_object_set_new(written, e->path, json_true());
        }
    }
    return false;
}

static bool changes_script(const struct lesson *fix, const struct lesson_step *failed) {
    for (size_t i = 0; i < fix->change_count; i++) {
        const char *path = fix->changes[i].path;
        if (!path || !strstr(failed->text, path_basename(path))) {
            return false;
        }
    }
    return true;
}

/* A slip in a script that was written to try out what the session is about. */
static bool is_own_slip(const struct failure *f, const struct lesson *fix) {
    const struct lesson_step *failed = &f->s->list[f->last];
    return lesson_runs_own_script(f->s, failed) && changes_script(fix, failed) &&
           mends_existing(f->s);
}

static void add_fix(struct lessons *l, const struct failure *f,
                    const struct lesson_reader *r) {
    const struct lesson_step *failed = &f->s->list[f->last];
    const struct lesson_step *success = &f->s->list[f->success];
    struct lesson fix = {.seen = f->seen};
    lessons_add_evidence(&fix.evidence, f->s->trace, failed->result_event,
                         EVIDENCE_ERROR);
    if (l->fixes.count >= MAX_FIXES || !lesson_explain(&fix, f, r) ||
        is_own_slip(f, &fix)) {
        lesson_finish(&fix);
        return;
    }
    lessons_add_evidence(&fix.evidence, f->s->trace, success->result_event,
                         EVIDENCE_PROOF);
    fix.key = xstrdup(f->error->normal);
    fix.quote = xstrdup(f->error->quote);
    fix.context = part_text(failed, failed);
    fix.verified_by = part_text(failed, success);
    add_check(l, fix.verified_by, f->s->trace, success->event);
    *lesson_list_add(&l->fixes) = fix;
}

static void add_dead_end(struct lessons *l, const struct failure *f) {
    const struct lesson_step *failed = &f->s->list[f->last];
    if (f->seen < 2 || l->dead_ends.count >= MAX_DEAD_ENDS) {
        return; /* nobody tried again */
    }
    struct lesson *d = lesson_list_add(&l->dead_ends);
    d->key = xstrdup(f->error->normal);
    d->quote = xstrdup(f->error->quote);
    d->context = part_text(failed, failed);
    d->seen = f->seen;
    lessons_add_evidence(&d->evidence, f->s->trace, failed->result_event, EVIDENCE_ERROR);
}

/* The same run showed this error earlier, and it was followed from there. */
static bool was_followed(const struct steps *s, size_t at, const char *normal) {
    size_t reach = at > LESSONS_REACH ? at - LESSONS_REACH : 0;
    for (size_t i = at; i > reach; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (!step_is_run(e) || !e->command.count || !lesson_is_rerun(e, &s->list[at])) {
            continue;
        }
        if (!e->failed) {
            return false;
        }
        if (has_error(e, normal)) {
            return true;
        }
    }
    return false;
}

/* Several errors of one run that went away together are one lesson. */
static void find_fix(struct lessons *l, const struct steps *s, size_t at,
                     const struct lesson_reader *r) {
    const struct lesson_step *failed = &s->list[at];
    size_t done[STEP_MAX_ERRORS] = {0};
    for (size_t k = 0; k < failed->error_count; k++) {
        struct failure f = {.s = s, .error = &failed->errors[k], .last = at, .seen = 1};
        if (was_followed(s, at, f.error->normal)) {
            continue;
        }
        follow(&f);
        size_t end = f.success ? f.gone : SIZE_MAX;
        bool together = (k > 0 && done[0] == end) || (k > 1 && done[1] == end);
        done[k] = end;
        if (!together && f.success) {
            add_fix(l, &f, r);
        } else if (!together) {
            add_dead_end(l, &f);
        }
    }
}

void lessons_find_fixes(struct lessons *l, const struct steps *s,
                        const struct lesson_reader *r) {
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        const struct lesson_step *step = &s->list[i];
        if (step_is_run(step) && step->failed && step->command.count && step->output) {
            find_fix(l, s, i, r);
        }
    }
}
