#include "skills/refinement/line_map.h"

#include "base/lines.h"
#include "base/mem.h"

#define MAX_CELLS 4000000u

struct side {
    const char *text;
    struct lines lines;
};

static bool same(const struct side *a, size_t i, const struct side *b, size_t k) {
    size_t a_at = a->lines.starts[i], b_at = b->lines.starts[k];
    size_t len = lines_end(&a->lines, a->text, i) - a_at;
    return len == lines_end(&b->lines, b->text, k) - b_at &&
           (len == 0 || memcmp(a->text + a_at, b->text + b_at, len) == 0);
}

/* Lines [from, a_end) and [from, b_end) are what differs. */
static void match_middle(const struct side *a, const struct side *b, size_t from,
                         size_t a_end, size_t b_end, size_t *map) {
    size_t n = a_end - from, m = b_end - from, width = m + 1;
    if (n * m == 0 || n > MAX_CELLS / m) {
        return;
    }
    /* common[i][k]: length of the longest common subsequence of what follows. */
    autofree uint32_t *common = xcalloc((n + 1) * width, sizeof *common);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = m; k-- > 0;) {
            uint32_t down = common[(i + 1) * width + k],
                     right = common[i * width + k + 1];
            common[i * width + k] = same(a, from + i, b, from + k)
                                        ? common[(i + 1) * width + k + 1] + 1
                                    : down > right ? down
                                                   : right;
        }
    }
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (same(a, from + i, b, from + k)) {
            map[from + i++] = from + ++k;
        } else if (common[(i + 1) * width + k] >= common[i * width + k + 1]) {
            i++;
        } else {
            k++;
        }
    }
}

size_t *line_map(const char *before, const char *after, size_t *ret_count) {
    struct side a = {.text = before}, b = {.text = after};
    lines_init(&a.lines, before, strlen(before));
    lines_init(&b.lines, after, strlen(after));
    size_t n = a.lines.count, m = b.lines.count, head = 0, tail = 0;
    size_t *map = xcalloc(n + 1, sizeof *map);
    for (; head < n && head < m && same(&a, head, &b, head); head++) {
        map[head] = head + 1;
    }
    for (; tail < n - head && tail < m - head && same(&a, n - tail - 1, &b, m - tail - 1);
         tail++) {
        map[n - tail - 1] = m - tail;
    }
    match_middle(&a, &b, head, n - tail, m - tail, map);
    lines_finish(&a.lines);
    lines_finish(&b.lines);
    *ret_count = n;
    return map;
}
