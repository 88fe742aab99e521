/* What an edit changed: the lines that went and came. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/line_diff.h"
#include "base/text.h"

#define DIFF_LINES 200u /* that a difference is sought in */
#define MAX_SHARED 400u /* bytes of a line that is compared */

/* The lines "-old" and "+new" between two texts (old NULL: a new file), cut. */
static char *difference(const char *old, const char *now, size_t max) {
    struct buf out = BUF_INIT(max);
    struct line_diff d;
    line_diff_init(&d, old ? old : "", now, false, DIFF_LINES * DIFF_LINES);
    size_t i = 0, k = 0, old_line = 0, new_line = 0, len;
    for (char mark; (mark = line_diff_next(&d, &i, &k)); old_line = i, new_line = k) {
        const char *line =
            line_diff_line(&d, mark == '+', mark == '+' ? new_line : old_line, &len);
        if (mark != ' ') {
            buf_addf(&out, "%c%.*s\n", mark, (int)len, line);
        }
    }
    line_diff_finish(&d);
    return buf_detach(&out);
}

/* --- edits --- */

/* The lines of "   1\tfirst" or "1→first" and so on, from the first on; NULL: it is
 * another form. */
static char *text_of_numbered(const char *output) {
    struct buf out = BUF_INIT(TRACE_MAX_KEPT);
    size_t number = 1;
    for (; output && *output; output = text_next_line(output), number++) {
        char *end;
        size_t len = strcspn(output, "\n");
        bool numbered = strtoul(output, &end, 10) == number;
        size_t mark = strncmp(end, "→", 3) == 0 ? 3 : *end == '\t';
        if (!numbered || !mark) {
            break;
        }
        buf_addf(&out, "%.*s\n", (int)(len - (size_t)(end + mark - output)), end + mark);
    }
    char *text = buf_detach(&out);
    if (number == 1) {
        free(take(text));
    }
    return text;
}

/* What the file held before this step, if it was written or read whole. Or NULL. */
static char *text_before(const struct steps *s, size_t step) {
    for (size_t i = step; i > 0; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        bool same = e->path && strcmp(e->path, s->list[step].path) == 0 && !e->failed;
        if (same && e->kind == STEP_EDIT && e->text && !e->is_diff) {
            return xstrdup(e->text);
        }
        char *read = same && e->kind == STEP_OTHER ? text_of_numbered(e->output) : NULL;
        if (read || (same && e->kind == STEP_EDIT)) {
            return read;
        }
    }
    return NULL;
}

static void end_block(struct buf *out, struct buf *old, struct buf *now) {
    autofree char *changed = difference(old->data, now->data, 2 * LESSON_MAX_CHANGE);
    buf_adds(out, changed);
    buf_reset(old);
    buf_reset(now);
}

/* The lines that go and come, without context: also what an agent repeats around a change
 * because its tool replaces one text by another. */
static char *changed_lines(const char *diff) {
    struct buf out = BUF_INIT(4 * LESSON_MAX_CHANGE);
    autobuf old = BUF_INIT(TRACE_MAX_KEPT), now = BUF_INIT(TRACE_MAX_KEPT);
    for (; *diff; diff = text_next_line(diff)) {
        bool header = strncmp(diff, "--- ", 4) == 0 || strncmp(diff, "+++ ", 4) == 0;
        bool changes = (*diff == '-' || *diff == '+') && !header;
        if (!changes || (*diff == '-' && now.len)) {
            end_block(&out, &old, &now);
        }
        if (changes) {
            buf_addf(*diff == '-' ? &old : &now, "%.*s\n", (int)strcspn(diff, "\n") - 1,
                     diff + 1);
        }
    }
    end_block(&out, &old, &now);
    return buf_detach(&out);
}

char *lesson_changed_lines(const struct steps *s, size_t i) {
    const struct lesson_step *e = &s->list[i];
    autofree char *before = e->is_diff ? NULL : text_before(s, i);
    return e->is_diff ? changed_lines(e->text)
                      : difference(before, e->text, 2 * LESSON_MAX_CHANGE);
}

bool lesson_is_edit(const struct lesson_step *s) {
    return s->kind == STEP_EDIT && s->text && !s->failed;
}

bool lesson_creates(const struct steps *s, const struct lesson_step *edit) {
    autofree char *before = edit->is_diff ? NULL : text_before(s, (size_t)(edit - s->list));
    return !edit->is_diff && !before;
}

bool lesson_shares_line(const char *diff, char mark, const char *other, char other_mark) {
    for (; *diff; diff = text_next_line(diff)) {
        autofree char *line = lesson_cut(diff + 1, strcspn(diff, "\n") - 1, MAX_SHARED);
        for (const char *at = other; *diff == mark && strlen(line) >= 4 && *at;
             at = text_next_line(at)) {
            autofree char *there = lesson_cut(at + 1, strcspn(at, "\n") - 1, MAX_SHARED);
            if (*at == other_mark && strlen(there) >= 4 &&
                (strstr(line, there) || strstr(there, line))) {
                return true;
            }
        }
    }
    return false;
}
