#include "gpu/facts/slice.h"

#include <ctype.h>

bool slice_starts(struct slice s, const char *prefix) {
    size_t len = strlen(prefix);
    return s.len >= len && memcmp(s.at, prefix, len) == 0;
}

bool slice_has(struct slice s, const char *word) {
    return s.len > 0 && memmem(s.at, s.len, word, strlen(word));
}

struct slice slice_after(struct slice s, size_t count) {
    count = count < s.len ? count : s.len;
    return (struct slice){s.at + count, s.len - count};
}

struct slice slice_trim(struct slice s) {
    while (s.len > 0 && isspace((unsigned char)s.at[0])) {
        s = slice_after(s, 1);
    }
    while (s.len > 0 && isspace((unsigned char)s.at[s.len - 1])) {
        s.len--;
    }
    return s;
}

size_t slice_number(struct slice s, int *ret) {
    long value = 0;
    size_t i = 0;
    for (; i < s.len && isdigit((unsigned char)s.at[i]); i++) {
        value = value * 10 + (s.at[i] - '0');
        if (value > (1 << 30)) {
            return 0;
        }
    }
    if (i > 0) {
        *ret = (int)value;
    }
    return i;
}
