/* Edits as the change that ended an error. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/text.h"

#include <ctype.h>

#define ONE_SIDED_LINES 3u /* that may come or go alone */
#define MAX_LINES 10u      /* of a change that explains anything */
#define MAX_FILES 2u
#define MAX_OTHERS 6u /* edits of something else in between */

/* The lines that go hold a name: ")" might be anywhere. */
static bool has_place(const char *diff) {
    bool named = *diff != '-';
    for (; *diff == '-' && !named; diff = text_next_line(diff)) {
        autofree char *line = xstrndup(diff, strcspn(diff, "\n"));
        named = lesson_has_name(line);
    }
    return named;
}

/* The letters of the lines that go, or come: without blanks. */
static char *side_of(const char *diff, char mark) {
    struct buf out = BUF_INIT(2 * LESSON_MAX_CHANGE);
    for (; *diff; diff = text_next_line(diff)) {
        for (const char *c = diff + 1; *diff == mark && *c && *c != '\n'; c++) {
            if (!isspace((unsigned char)*c)) {
                buf_addc(&out, *c);
            }
        }
    }
    return buf_detach(&out);
}

/* The same letters, moved: nobody sees where to. */
static bool only_moves(const char *diff) {
    autofree char *old = side_of(diff, '-'), *now = side_of(diff, '+');
    return strcmp(old, now) == 0;
}

/* What states the demand, by the convention of all languages: "test_a.py", "tests/",
 * "a.spec.ts", but neither "/testbed" nor "package.spec". */
bool lesson_is_test(const char *path) {
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

/* What people read explains no program's error. */
bool lesson_is_prose(const char *path) {
    static const char *const ends[] = {".md", ".rst", ".txt", NULL};
    const char *end = strrchr(path, '.');
    return end && strings_have(ends, end) && !strstr(path, "requirements") &&
           !strstr(path, "CMakeLists");
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

/* It changes what people read in code. */
static bool is_remark(const char *diff) {
    bool remark = *diff;
    for (; *diff && remark; diff = text_next_line(diff)) {
        const char *line = diff + 1 + strspn(diff + 1, " \t");
        remark = strchr("*\n", *line) || strncmp(line, "//", 2) == 0 || strncmp(line, "# ", 2) == 0;
    }
    return remark;
}

struct edit_scan {
    struct lesson *fix;
    const struct failure *f;
    const char *told; /* of the error */
    size_t lines, others; /* edits that nothing ties to the error */
    enum lesson_link best;
    bool said;      /* the error itself names a file */
    bool asks_else; /* the test that failed was changed too */
};

static enum lesson_link link_of(const struct edit_scan *e, const struct lesson_step *s,
                                const char *diff) {
    const struct lesson_step *failed = &e->f->s->list[e->f->last];
    if (lesson_creates(e->f->s, s)) { /* that it was missing is no lesson, nor is a tool */
        const char *base = path_basename(s->path);
        return strstr(e->f->error->quote, base) && !strstr(failed->text, base) ? LINK_PLACE : LINK_NONE;
    }
    enum lesson_link link = lesson_link(failed, e->f->error, e->told, s->path, diff);
    bool asked = failed->command.classes & COMMAND_ASKS; /* a log has the ends of others too */
    return lesson_is_test(s->path) || asked ? LINK_NONE : link;
}

/* The files of the changes so far, with this one. */
static size_t count_files(const struct lesson *fix, const char *path) {
    size_t count = 1;
    for (size_t i = 0; i < fix->change_count; i++) {
        const char *p = fix->changes[i].path;
        count += p && strcmp(p, path) != 0 &&
                 !any_of(k, 0, i, fix->changes[k].path && strcmp(fix->changes[k].path, p) == 0);
    }
    return count;
}

/* A line that comes holds what stands for a secret: nobody can write it. */
static bool is_masked(const char *diff) {
    for (; *diff; diff = text_next_line(diff)) {
        if (*diff == '+' && memmem(diff, strcspn(diff, "\n"), "<secret>", 8)) {
            return true;
        }
    }
    return false;
}

/* Whether a reader sees what was changed: both sides of it, and few lines. */
static bool is_clear(const struct lesson_step *edit, const char *diff) {
    size_t lines = text_count(diff, strlen(diff), '\n');
    bool replaces = *diff == '-' && strstr(diff, "\n+"), known = !edit->is_diff;
    for (const char *at = edit->text; *at && !known; at = text_next_line(at)) {
        known = *at == '-' || *at == ' ';
    }
    return lines <= (replaces ? MAX_LINES : ONE_SIDED_LINES) && (replaces || known) && !is_masked(diff);
}

/* A change that is already there is not told twice. */
static bool is_told(const struct lesson *fix, const char *path, const char *diff) {
    return any_of(i, 0, fix->change_count,
                  fix->changes[i].path && strcmp(fix->changes[i].path, path) == 0 &&
                      strcmp(fix->changes[i].to, diff) == 0);
}

/* False when it is too much to explain anything. */
static bool add_edit(struct edit_scan *e, size_t i) {
    const struct lesson_step *s = &e->f->s->list[i];
    autofree char *diff = lesson_changed_lines(e->f->s, i);
    if (!*diff || lesson_is_prose(s->path)) {
        return *diff || *s->text; /* else nobody knows what it changed */
    }
    char *reason = lesson_reason(e->f, i);
    enum lesson_link link = link_of(e, s, diff);
    e->fix->cause = link >= e->f->least && !e->fix->cause ? take(reason) : e->fix->cause;
    free(reason);
    bool test = lesson_is_test(s->path);
    e->asks_else |= test && link == LINK_NONE &&
                    strstr(e->f->error->quote, path_basename(s->path));
    if (link < e->f->least || (link == LINK_NONE && (test || lesson_creates(e->f->s, s))) ||
        is_replaced(e->f, i, diff)) {
        e->others += !test;
        return true;
    }
    if (is_told(e->fix, s->path, diff)) {
        return true;
    }
    e->lines += text_count(diff, strlen(diff), '\n');
    e->best = link > e->best ? link : e->best;
    e->said |= strstr(e->f->error->quote, path_basename(s->path)) != NULL;
    bool room = e->fix->change_count < LESSON_MAX_CHANGES && count_files(e->fix, s->path) <= MAX_FILES;
    if (!is_clear(s, diff) || is_remark(diff) || only_moves(diff) || !has_place(diff) ||
        e->lines > MAX_LINES || strlen(diff) > LESSON_MAX_CHANGE || !room) {
        return false;
    }
    struct lesson_change *c = lesson_add_change(e->fix, CHANGE_EDIT);
    c->path = xstrdup(s->path);
    c->created = lesson_creates(e->f->s, s);
    c->to = take(diff);
    lessons_add_evidence(&e->fix->evidence, e->f->s->trace, s->event, EVIDENCE_CHANGE);
    return true;
}

bool lesson_add_edits(struct lesson *fix, const struct failure *f) {
    autofree char *told = lesson_told(f->error);
    struct edit_scan e = {.fix = fix, .f = f, .told = told};
    size_t before = fix->change_count;
    bool fits = true;
    for (size_t i = f->last + 1; i < f->gone && fits; i++) {
        bool own = f->s->list[i].event == f->s->list[f->last].event; /* the failed line made it */
        fits = own || !lesson_is_edit(&f->s->list[i]) || add_edit(&e, i);
    }
    if (!fits) {
        return false;
    }
    bool named = e.best == LINK_NAME;
    size_t others = e.said && named ? SIZE_MAX : e.said || named ? MAX_OTHERS : 0;
    return fix->change_count == before || (!e.asks_else && e.others <= others);
}
