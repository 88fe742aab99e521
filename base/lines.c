#include "base/lines.h"

#include "base/mem.h"

static void add_start(struct lines *l, size_t *cap, size_t offset) {
    list_room(l->starts, l->count, *cap, 64);
    l->starts[l->count++] = offset;
}

void lines_init(struct lines *l, const char *text, size_t len) {
    size_t cap = 0;
    *l = (struct lines){.len = len};
    add_start(l, &cap, 0);
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] > '\r') {
            continue;
        }
        bool lone_return = text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n');
        if (text[i] == '\n' || lone_return) {
            add_start(l, &cap, i + 1);
        }
    }
}

void lines_finish(struct lines *l) {
    free(l->starts);
    *l = (struct lines){0};
}

size_t lines_at(const struct lines *l, size_t offset) {
    size_t low = 0, high = l->count; /* the answer is in [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (l->starts[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t lines_end(const struct lines *l, const char *text, size_t line) {
    if (line + 1 >= l->count) {
        return l->len;
    }
    size_t end = l->starts[line + 1] - 1;
    if (text[end] == '\n' && end > l->starts[line] && text[end - 1] == '\r') {
        end--;
    }
    return end;
}

int lines_place(const struct lines *l, size_t offset, int *ret_column) {
    size_t line = lines_at(l, offset);
    if (ret_column) {
        *ret_column = (int)(offset - l->starts[line]) + 1;
    }
    return (int)line + 1;
}
