/* What an edit changed: the lines that went and came. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/text.h"

#define DIFF_LINES 200u /* that a difference is sought in */
#define MAX_SHARED 400u /* bytes of a line that is compared */

static void add_lines(struct buf *out, char mark, const char *from, const char *to) {
    for (; from < to; from = text_next_line(from)) {
        buf_addf(out, "%c%.*s\n", mark, (int)strcspn(from, "\n"), from);
    }
}

struct changed_lines {
    const char *at[DIFF_LINES + 1]; /* the last: the end of the text */
    size_t count;
};

/* False: there are too many. */
static bool list_lines(struct changed_lines *ret, const char *from, const char *to) {
    for (ret->count = 0; from < to && ret->count < DIFF_LINES; from = text_next_line(from)) {
        ret->at[ret->count++] = from;
    }
    ret->at[ret->count] = from;
    return from >= to;
}

static bool same_line(const char *a, const char *b) {
    size_t len = strcspn(a, "\n");
    return len == strcspn(b, "\n") && memcmp(a, b, len) == 0;
}

/* The lines that go and come between what the longest common sequence keeps. */
static void add_difference(struct buf *out, const struct changed_lines *a,
                           const struct changed_lines *b) {
    size_t width = b->count + 1;
    uint16_t *kept = xcalloc((a->count + 1) * width, sizeof *kept);
    for (size_t i = a->count; i > 0; i--) {
        for (size_t k = b->count; k > 0; k--) {
            uint16_t *at = &kept[(i - 1) * width + k - 1];
            uint16_t below = at[width], right = at[1];
            *at = same_line(a->at[i - 1], b->at[k - 1]) ? (uint16_t)(at[width + 1] + 1)
                                                         : (below > right ? below : right);
        }
    }
    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const uint16_t *at = &kept[i * width + k];
        if (i < a->count && k < b->count && same_line(a->at[i], b->at[k])) {
            i++;
            k++;
        } else if (i < a->count && (k == b->count || at[width] >= at[1])) {
            add_lines(out, '-', a->at[i], a->at[i + 1]);
            i++;
        } else {
            add_lines(out, '+', b->at[k], b->at[k + 1]);
            k++;
        }
    }
    free(kept);
}

/* The lines "-old" and "+new" between two texts (old NULL: a new file), cut. */
static char *difference(const char *old, const char *now, size_t max) {
    struct buf out = BUF_INIT(max);
    const char *a = old ? old : "", *b = now;
    while (*a && *b && same_line(a, b)) {
        a = text_next_line(a);
        b = text_next_line(b);
    }
    struct changed_lines *before = xcalloc(2, sizeof *before), *after = before + 1;
    const char *a_end = a + strlen(a), *b_end = b + strlen(b);
    if (list_lines(before, a, a_end) && list_lines(after, b, b_end)) {
        while (before->count && after->count &&
               same_line(before->at[before->count - 1], after->at[after->count - 1])) {
            before->count--;
            after->count--;
        }
        add_difference(&out, before, after);
    } else {
        add_lines(&out, '-', a, a_end);
        add_lines(&out, '+', b, b_end);
    }
    free(before);
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
