/* The hunks of the edits between an error and its end. */
#include "skills/traces/lessons_ended.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/pattern.h"
#include "base/text.h"

#define SCRIPT_LINES 62u /* of a script that is typed anew */
#define SCRIPT_STEPS 16  /* until then */

static size_t count_kept(const char *old, const char *now) {
    size_t kept = 0;
    for (; *old; old = text_next_line(old)) {
        autofree char *line = lesson_cut(old, strcspn(old, "\n"), LESSON_MAX_LINE);
        kept += *line && strstr(now, line);
    }
    return kept;
}

bool lesson_is_retyped(const struct lesson_step *failed, const struct lesson_step *later) {
    bool near = later - failed <= SCRIPT_STEPS && strchr(later->text, '\n');
    size_t lines = near ? text_count(failed->text, strlen(failed->text), '\n') : 0;
    if (lines < 2 || lines > SCRIPT_LINES || strcmp(failed->text, later->text) == 0) {
        return false;
    }
    const char *a = lesson_failed_part(failed), *b = lesson_failed_part(later);
    size_t program = strcspn(a, BETWEEN_WORDS);
    return program == strcspn(b, BETWEEN_WORDS) && strncmp(a, b, program) == 0 &&
           2 * count_kept(failed->text, later->text) >= lines;
}

static void add_hunk(struct ending *e, size_t step, const struct buf *text, size_t from, size_t to) {
    if (text->len && e->count < MAX_HUNKS) {
        e->hunks[e->count++] = (struct hunk){.step = step,
                                             .text = xstrdup(text->data),
                                             .differs = lesson_differing(text->data),
                                             .from = from,
                                             .to = to};
    }
}

/* Between two texts: a block of lines that go, then of lines that come. */
static void split_lines(struct ending *e, size_t step, const char *lines, size_t from, size_t to) {
    autobuf text = BUF_INIT(4 * LESSON_MAX_CHANGE);
    for (char before = '\0'; *lines; before = *lines, lines = text_next_line(lines)) {
        if (*lines == '\n' || (*lines == '-' && before == '+')) {
            add_hunk(e, step, &text, from, to);
            buf_reset(&text);
        }
        if (*lines != '\n') {
            buf_addf(&text, "%.*s\n", (int)strcspn(lines, "\n"), lines);
        }
    }
    add_hunk(e, step, &text, from, to);
}

/* What agents repeat around a change is no part of it. */
static void end_hunk(struct ending *e, size_t step, struct buf *old, struct buf *now, size_t line) {
    if (old->len || now->len) {
        size_t lines = old->len ? text_count(old->data, old->len, '\n') : 0;
        autofree char *changed = lesson_hunks(old->len ? old->data : "", now->len ? now->data : "",
                                             4 * LESSON_MAX_CHANGE);
        split_lines(e, step, changed, line > lines ? line - lines : 0, line);
    }
    buf_reset(old);
    buf_reset(now);
}

static void split_diff(struct ending *e, size_t step, const char *diff) {
    autobuf old = BUF_INIT(TRACE_MAX_KEPT), now = BUF_INIT(TRACE_MAX_KEPT);
    size_t line = 0; /* of the old file, the next one; 0: unknown */
    for (; *diff; diff = text_next_line(diff)) {
        bool header = strncmp(diff, "--- ", 4) == 0 || strncmp(diff, "+++ ", 4) == 0;
        bool changes = (*diff == '-' || *diff == '+') && !header;
        if (!changes || (*diff == '-' && now.len)) {
            end_hunk(e, step, &old, &now, line);
        }
        if (strncmp(diff, "@@", 2) == 0) {
            line = strncmp(diff, "@@ -", 4) == 0 ? strtoul(diff + 4, NULL, 10) : 0;
        }
        if (changes) {
            buf_addf(*diff == '-' ? &old : &now, "%.*s\n", (int)strcspn(diff, "\n") - 1, diff + 1);
        }
        line += line && (*diff == ' ' || (*diff == '-' && changes));
    }
    end_hunk(e, step, &old, &now, line);
}

/* False: there is nothing, or too much. What nobody knows of its file is told of none of its hunks. */
bool ending_list_hunks(struct ending *e) {
    for (size_t i = e->at + 1; i < e->gone; i++) {
        const struct lesson_step *s = &e->s->list[i];
        if (!lesson_is_edit(s) || lesson_is_prose(s->path) || lesson_creates(e->s, s)) {
            continue;
        }
        if (s->is_diff && (s->shown || !*s->text)) {
            e->unknown = e->unknown ? e->unknown : i;
        } else if (s->is_diff) {
            split_diff(e, i, s->text);
        } else {
            autofree char *lines = lesson_changed_hunks(e->s, i);
            split_lines(e, i, lines, 0, 0);
        }
    }
    const struct lesson_step *failed = &e->s->list[e->at], *now = &e->s->list[e->gone];
    if (lesson_is_retyped(failed, now)) {
        autofree char *lines = lesson_hunks(failed->text, now->text, 4 * LESSON_MAX_CHANGE);
        split_lines(e, e->gone, lines, 0, 0);
    }
    return e->count && e->count < MAX_HUNKS;
}

