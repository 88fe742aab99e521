/* Failures, and what made them go away.
 *
 * A failing command is followed to the next success of the same program and subcommand.
 * What happened between its last failure with this error and the first run without it is
 * the change: the command line itself, other commands, edits. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/work_stop.h"

#include <string.h>

#define MAX_FIXES 60u
#define MAX_DEAD_ENDS 20u

struct failure {
    const struct steps *s;
    size_t last;    /* the last run with this error */
    size_t changed; /* the first run without it; 0 = none */
    size_t success; /* 0 = none */
    unsigned seen;
    struct evidence_list evidence;
};

static bool has_error(const struct lesson_step *s, const char *normal) {
    for (size_t i = 0; i < s->error_count; i++) {
        if (strcmp(s->errors[i].normal, normal) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_run(const struct lesson_step *s) {
    return s->kind == STEP_RUN && s->done && !s->refused &&
           !(s->command.classes & COMMAND_PROBE);
}

static bool is_file_word(const char *word, size_t len) {
    const char *dot = memchr(word, '.', len);
    return dot && dot > word && dot + 1 < word + len && word[0] != '-' && len > 3;
}

/* Both command lines name the same file. */
static bool shares_target(const struct lesson_step *a, const struct lesson_step *b) {
    for (const char *s = a->text; *s;) {
        s += strspn(s, " \t\n\"'=");
        size_t len = strcspn(s, " \t\n\"'=;|&");
        if (is_file_word(s, len) && len < 200) {
            autofree char *word = xstrndup(s, len);
            if (strstr(b->text, word)) {
                return true;
            }
        }
        s += len ? len : (*s != '\0');
    }
    return false;
}

static void follow(struct failure *f, size_t first, const char *normal, bool target) {
    const struct lesson_step *failed = &f->s->list[first];
    size_t end = first + LESSONS_REACH;
    for (size_t i = first + 1; i < f->s->count && i < end; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (!is_run(s) || !(target ? shares_target(failed, s)
                                   : command_shares_key(&failed->command, &s->command))) {
            continue;
        }
        if (s->failed && has_error(s, normal)) {
            f->seen++;
            f->last = i;
            f->changed = 0;
        } else if (!f->changed) {
            f->changed = i;
        }
        if (!s->failed) {
            f->success = i;
            return;
        }
    }
}

/* --- changes --- */

static bool same_words(const char *a, const char *b) {
    for (;;) {
        a += strspn(a, " \t\n\\");
        b += strspn(b, " \t\n\\");
        if (*a != *b || !*a) {
            return *a == *b;
        }
        a++;
        b++;
    }
}

static struct lesson_change *add_change(struct lesson_fix *fix,
                                        enum lesson_change_kind kind) {
    fix->changes =
        xreallocarray(fix->changes, fix->change_count + 1, sizeof *fix->changes);
    struct lesson_change *c = &fix->changes[fix->change_count++];
    *c = (struct lesson_change){.kind = kind};
    return c;
}

static void change_command(struct lesson_fix *fix, const struct lesson_step *from,
                           const struct lesson_step *to) {
    autofree char *old = command_tidy(from->text), *now = command_tidy(to->text);
    if (same_words(old, now)) {
        return;
    }
    struct lesson_change *c = add_change(fix, CHANGE_COMMAND);
    c->from = lesson_cut(old, strlen(old), LESSON_MAX_CHANGE);
    c->to = lesson_cut(now, strlen(now), LESSON_MAX_CHANGE);
}

/* What the file held before this step, if it was written whole. */
static const char *text_before(const struct steps *s, size_t step) {
    for (size_t i = step; i > 0; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (e->kind == STEP_EDIT && e->text && !e->is_diff && !e->failed &&
            strcmp(e->path, s->list[step].path) == 0) {
            return e->text;
        }
    }
    return NULL;
}

/* The lines that go and come, without context. */
static char *changed_lines(const char *diff) {
    struct buf out = BUF_INIT(4 * LESSON_MAX_CHANGE);
    while (*diff) {
        size_t len = strcspn(diff, "\n");
        bool header = strncmp(diff, "--- ", 4) == 0 || strncmp(diff, "+++ ", 4) == 0;
        if ((*diff == '-' || *diff == '+') && !header) {
            buf_addf(&out, "%.*s\n", (int)len, diff);
        }
        diff += len + (diff[len] == '\n');
    }
    return buf_detach(&out);
}

static void change_edit(struct lesson_fix *fix, const struct steps *s, size_t i) {
    const struct lesson_step *e = &s->list[i];
    const char *before = e->is_diff ? NULL : text_before(s, i);
    autofree char *diff = e->is_diff ? changed_lines(e->text)
                                     : lesson_diff(before, e->text, LESSON_MAX_CHANGE);
    if (!*diff) {
        return;
    }
    struct lesson_change *c = add_change(fix, CHANGE_EDIT);
    c->path = xstrdup(e->path);
    c->to = lesson_cut(diff, strlen(diff), LESSON_MAX_CHANGE);
    c->created = !e->is_diff && !before;
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* An edit of a file that the failure names counts more than another. */
static bool is_named(const struct failure *f, const struct lesson_step *edit) {
    const struct lesson_step *failed = &f->s->list[f->last];
    const char *base = base_of(edit->path);
    return *base && (strstr(failed->text, base) ||
                     (failed->output && strstr(failed->output, base)));
}

static void add_edits(struct lesson_fix *fix, const struct failure *f, size_t end,
                      bool named) {
    for (size_t i = f->last + 1; i < end && fix->change_count < LESSON_MAX_CHANGES; i++) {
        const struct lesson_step *s = &f->s->list[i];
        if (s->kind == STEP_EDIT && s->text && !s->failed && is_named(f, s) == named) {
            size_t before = fix->change_count;
            change_edit(fix, f->s, i);
            if (fix->change_count > before) {
                lessons_add_evidence(&fix->evidence, f->s->trace, s->event);
            }
        }
    }
}

static void add_runs(struct lesson_fix *fix, const struct failure *f, size_t end) {
    const struct lesson_step *failed = &f->s->list[f->last];
    for (size_t i = f->last + 1; i < end && fix->change_count < LESSON_MAX_CHANGES; i++) {
        const struct lesson_step *s = &f->s->list[i];
        bool heredoc = s->kind == STEP_RUN && strstr(s->text, "<<") != NULL;
        if (is_run(s) && !s->failed && !heredoc && s->command.key_count &&
            !command_shares_key(&failed->command, &s->command) &&
            (!(s->command.classes & COMMAND_VERIFY) ||
             (s->command.classes & COMMAND_INSTALL))) {
            struct lesson_change *c = add_change(fix, CHANGE_RUN);
            c->to = command_tidy(s->text);
            lessons_add_evidence(&fix->evidence, f->s->trace, s->event);
        }
    }
}

static char *find_cause(const struct failure *f, size_t end,
                        const struct lesson_reader *r) {
    for (size_t i = f->last + 1; i < end; i++) {
        const struct lesson_step *s = &f->s->list[i];
        char *cause = s->kind == STEP_SAY ? lesson_cause(r, s->text) : NULL;
        if (cause) {
            return cause;
        }
    }
    return NULL;
}

/* --- lessons --- */

static void add_fix(struct lessons *l, const struct failure *f,
                    const struct lesson_error *e, const struct lesson_reader *r) {
    if (l->fix_count >= MAX_FIXES) {
        free(f->evidence.list);
        return;
    }
    const struct lesson_step *failed = &f->s->list[f->last];
    const struct lesson_step *changed = &f->s->list[f->changed];
    struct lesson_fix fix = {.seen = f->seen};
    fix.evidence = f->evidence;
    lessons_add_evidence(&fix.evidence, f->s->trace, failed->result_event);
    change_command(&fix, failed, changed);
    add_runs(&fix, f, f->changed);
    add_edits(&fix, f, f->changed, true);
    if (!fix.change_count || fix.changes[fix.change_count - 1].kind != CHANGE_EDIT) {
        add_edits(&fix, f, f->changed, false);
    }
    if (!fix.change_count) {
        lesson_fix_finish(&fix); /* it went away by itself */
        return;
    }
    const struct lesson_step *success = &f->s->list[f->success];
    lessons_add_evidence(&fix.evidence, f->s->trace, success->result_event);
    fix.error = xstrdup(e->normal);
    fix.quote = xstrdup(e->quote);
    fix.context = command_tidy(failed->text);
    fix.cause = find_cause(f, f->changed, r);
    fix.verified_by = command_tidy(success->text);
    *LESSON_NEW(l, fixes, fix_count) = fix;
}

static void add_dead_end(struct lessons *l, const struct failure *f,
                         const struct lesson_error *e) {
    const struct lesson_step *failed = &f->s->list[f->last];
    for (size_t i = 0; i < l->dead_end_count; i++) {
        if (strcmp(l->dead_ends[i].error, e->normal) == 0) {
            lessons_add_evidence(&l->dead_ends[i].evidence, f->s->trace,
                                 failed->result_event);
            return;
        }
    }
    if (l->dead_end_count >= MAX_DEAD_ENDS) {
        return;
    }
    struct lesson_dead_end *d = LESSON_NEW(l, dead_ends, dead_end_count);
    d->error = xstrdup(e->normal);
    d->quote = xstrdup(e->quote);
    d->context = command_tidy(failed->text);
    lessons_add_evidence(&d->evidence, f->s->trace, failed->result_event);
}

/* The same run showed this error earlier, and it was followed from there. */
static bool was_followed(const struct steps *s, size_t at, const char *normal) {
    size_t reach = at > LESSONS_REACH ? at - LESSONS_REACH : 0;
    for (size_t i = at; i > reach; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (!is_run(e) || !command_shares_key(&e->command, &s->list[at].command)) {
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
        const struct lesson_error *e = &failed->errors[k];
        struct failure f = {.s = s, .last = at, .seen = 1};
        if (was_followed(s, at, e->normal)) {
            continue;
        }
        follow(&f, at, e->normal, false);
        if (!f.success) {
            f = (struct failure){.s = s, .last = at, .seen = 1};
            follow(&f, at, e->normal, true);
        }
        size_t end = f.success ? f.changed : SIZE_MAX;
        bool together = (k > 0 && done[0] == end) || (k > 1 && done[1] == end);
        done[k] = end;
        if (!together && f.success) {
            add_fix(l, &f, e, r);
        } else if (!together) {
            add_dead_end(l, &f, e);
        }
    }
}

void lessons_find_fixes(struct lessons *l, const struct steps *s,
                        const struct lesson_reader *r) {
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        if (is_run(&s->list[i]) && s->list[i].failed) {
            find_fix(l, s, i, r);
        }
    }
}
