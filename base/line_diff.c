#include "base/line_diff.h"

#include "base/mem.h"

const char *line_diff_line(const struct line_diff *d, int side, size_t i,
                           size_t *ret_len) {
    const struct lines *l = &d->lines[side];
    const char *text = d->texts[side];
    size_t start = l->starts[i], end = i + 1 < l->count ? l->starts[i + 1] : l->len;
    while (!d->endings && end > start &&
           (text[end - 1] == '\n' || text[end - 1] == '\r')) {
        end--;
    }
    *ret_len = end - start;
    return text + start;
}

static bool same(const struct line_diff *d, size_t i, size_t k) {
    size_t len, other_len;
    const char *line = line_diff_line(d, 0, i, &len);
    const char *other = line_diff_line(d, 1, k, &other_len);
    return len == other_len && memcmp(line, other, len) == 0;
}

/* Behind the last line's ending there is no empty one. */
static size_t split(struct lines *l, const char *text) {
    lines_init(l, text, strlen(text));
    l->count -= l->starts[l->count - 1] == l->len;
    return l->count;
}

/* Lines [from, from + n) before and [from, from + m) after are what differs. */
static void match_middle(struct line_diff *d, size_t from, size_t n, size_t m) {
    size_t width = m + 1;
    /* common[i][k]: length of the longest common subsequence of what follows. */
    autofree uint32_t *common = xcalloc((n + 1) * width, sizeof *common);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = m; k-- > 0;) {
            uint32_t down = common[(i + 1) * width + k],
                     right = common[i * width + k + 1];
            common[i * width + k] = same(d, from + i, from + k)
                                        ? common[(i + 1) * width + k + 1] + 1
                                    : down > right ? down
                                                   : right;
        }
    }
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (same(d, from + i, from + k)) {
            d->map[from + i++] = from + ++k;
        } else if (common[(i + 1) * width + k] >= common[i * width + k + 1]) {
            i++;
        } else {
            k++;
        }
    }
}

void line_diff_init(struct line_diff *d, const char *before, const char *after,
                    bool endings, size_t cells) {
    *d = (struct line_diff){.texts = {before, after}, .endings = endings};
    size_t n = split(&d->lines[0], before), m = split(&d->lines[1], after);
    size_t head = 0, tail = 0;
    d->map = xcalloc(n + 1, sizeof *d->map);
    for (; head < n && head < m && same(d, head, head); head++) {
        d->map[head] = head + 1;
    }
    for (; tail < n - head && tail < m - head && same(d, n - tail - 1, m - tail - 1);
         tail++) {
        d->map[n - tail - 1] = m - tail;
    }
    n -= head + tail;
    m -= head + tail;
    if (n && m && n <= cells / m) {
        match_middle(d, head, n, m);
    }
}

void line_diff_finish(struct line_diff *d) {
    lines_finish(&d->lines[0]);
    lines_finish(&d->lines[1]);
    free(d->map);
}

char line_diff_next(const struct line_diff *d, size_t *i, size_t *k) {
    if (*i < d->lines[0].count && !d->map[*i]) {
        ++*i;
        return '-';
    }
    bool stays = *i < d->lines[0].count && d->map[*i] == *k + 1;
    if (!stays && *k == d->lines[1].count) {
        return 0;
    }
    *i += stays;
    ++*k;
    return stays ? ' ' : '+';
}
