#include "skills/check/hardware_units.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

bool header_unit_is(const char *text, size_t len) {
    static const char *const units[] = {
        "kb",   "kib",   "mb",  "mib", "gb",     "gib",     "tb/s",     "gb/s",   "tbps",
        "gbps", "bytes", "mhz", "ghz", "tflops", "tflop/s", "tflops/s", "pflops", "tops",
    };
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strlen(units[i]) == len && memcmp(units[i], text, len) == 0) {
            return true;
        }
    }
    return false;
}

bool header_unit_is_wanted(const char *cell, size_t len) {
    size_t digits = 0;
    for (size_t i = 0; i < len; i++) {
        digits += isdigit((unsigned char)cell[i]) != 0;
        if (!isdigit((unsigned char)cell[i]) && !strchr("., ", cell[i])) {
            return false;
        }
    }
    return digits > 0;
}

/* The longest unit that begins here and ends at a word's end. */
static size_t unit_length(const char *text, size_t len) {
    for (size_t n = len < 8 ? len : 8; n > 0; n--) {
        bool whole = n == len || !isalnum((unsigned char)text[n]);
        if (whole && header_unit_is(text, n)) {
            return n;
        }
    }
    return 0;
}

/* Where the unit may begin: behind the last bracket, comma or "in". */
static bool unit_place(const char *label, size_t len, size_t *ret_name, size_t *ret_at) {
    for (size_t i = len; i > 0; i--) {
        char c = label[i - 1];
        bool in = i > 4 && memcmp(label + i - 4, " in ", 4) == 0;
        if (c == '(' || c == '[' || c == ',' || in) {
            *ret_name = in ? i - 4 : i - 1;
            *ret_at = i;
            return true;
        }
    }
    return false;
}

bool header_unit_find(const char *label, size_t len, struct header_unit *ret) {
    size_t name, at, end = len;
    if (!unit_place(label, len, &name, &at)) {
        return false;
    }
    while (at < end && label[at] == ' ') {
        at++;
    }
    while (end > at && strchr(")] ", label[end - 1])) {
        end--;
    }
    size_t n = unit_length(label + at, end - at);
    size_t rest = at + n + strspn(label + at + n, " ");
    bool fits = rest >= end || label[rest] == '/' ||
                (end - rest > 4 && memcmp(label + rest, "per ", 4) == 0);
    if (n == 0 || !fits) {
        return false;
    }
    *ret = (struct header_unit){.unit = label + at,
                                .len = n,
                                .name_len = name,
                                .rest = label + rest,
                                .rest_len = rest < end ? end - rest : 0};
    return true;
}
