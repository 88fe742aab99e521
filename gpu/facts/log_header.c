#include "gpu/facts/log_header.h"

#include <ctype.h>

static const struct {
    const char *word;
    enum log_kind kind;
} kinds[] = {
    {"catastrophic error", LOG_KIND_ERROR},
    {"command-line error", LOG_KIND_ERROR},
    {"internal error", LOG_KIND_ERROR},
    {"fatal error", LOG_KIND_ERROR},
    {"fatal", LOG_KIND_ERROR},
    {"error", LOG_KIND_ERROR},
    {"warning", LOG_KIND_WARNING},
    {"remark", LOG_KIND_REMARK},
    {"note", LOG_KIND_NOTE},
};

/* " #177-D" in front of the colon; the digits go to code. */
static struct slice take_code(struct slice s, char code[12]) {
    code[0] = '\0';
    if (!slice_starts(s, " #")) {
        return s;
    }
    int number;
    size_t digits = slice_number(slice_after(s, 2), &number);
    if (digits == 0 || digits >= 12) {
        return s;
    }
    memcpy(code, s.at + 2, digits);
    code[digits] = '\0';
    s = slice_after(s, 2 + digits);
    return slice_starts(s, "-D") ? slice_after(s, 2) : s;
}

/* "warning #177-D: text" */
static bool take_kind(struct slice s, struct log_header *ret) {
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t len = strlen(kinds[i].word);
        if (s.len <= len || strncasecmp(s.at, kinds[i].word, len) != 0) {
            continue;
        }
        struct slice rest = take_code(slice_after(s, len), ret->code);
        if (slice_starts(rest, ":")) {
            ret->kind = kinds[i].kind;
            ret->text = slice_trim(slice_after(rest, 1));
            return true;
        }
    }
    return false;
}

/* "file(12): warning #177-D: text". The file's name may hold anything, so every
 * "(digits):" is tried. */
static bool take_file_header(struct log_scope *scope, struct slice line,
                             struct log_header *ret) {
    for (size_t i = 1; i + 4 < line.len; i++) {
        int number;
        if (line.at[i] != '(') {
            continue;
        }
        size_t digits = slice_number(slice_after(line, i + 1), &number);
        struct slice rest = slice_after(line, i + 1 + digits);
        if (digits > 0 && slice_starts(rest, "): ") &&
            take_kind(slice_after(rest, 3), ret)) {
            log_place_resolve(scope, (struct slice){line.at, i}, number, &ret->place);
            return true;
        }
    }
    return false;
}

bool log_header_read(struct log_scope *scope, struct slice line, struct log_header *ret) {
    static const char at_end[] = "At end of source: ", nvrtc[] = "nvrtc: ";
    if (line.len == 0 || isspace((unsigned char)line.at[0])) {
        return false;
    }
    if (take_file_header(scope, line, ret)) {
        return true;
    }
    bool ended = slice_starts(line, at_end);
    size_t prefix = ended                       ? strlen(at_end)
                    : slice_starts(line, nvrtc) ? strlen(nvrtc)
                                                : 0;
    if (!take_kind(slice_after(line, prefix), ret)) {
        return false;
    }
    if (ended) {
        log_place_end(scope, &ret->place);
    } else {
        ret->place = (struct log_place){0};
    }
    return true;
}
