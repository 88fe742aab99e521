#include "gpu/facts/log_text.h"

#include "base/buf.h"
#include "base/text.h"
#include "gpu/facts/kernel_index.h"

#include <ctype.h>
#include <string.h>

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

static size_t symbol_length(struct slice s) {
    size_t len = 0;
    while (len < s.len && (isalnum((unsigned char)s.at[len]) || s.at[len] == '_')) {
        len++;
    }
    return len;
}

static void add_symbol(struct buf *out, struct slice symbol) {
    autofree char *mangled = xstrndup(symbol.at, symbol.len);
    autofree char *name = kernel_name_new(mangled);
    buf_adds(out, name);
}

/* "at line 4 of r0/inc/a.cuh": the name inside the job is no client's business. */
static size_t add_job_path(struct log_scope *scope, struct buf *out, struct slice s) {
    size_t len = 0;
    while (len < s.len && !strchr(" \t)\",;", s.at[len])) {
        len++;
    }
    struct log_place place;
    log_place_resolve(scope, (struct slice){s.at, len}, 1, &place);
    if (place.origin != LOG_JOB) {
        return 0;
    }
    buf_adds(out, place.file->display);
    return len;
}

char *log_text_new(struct log_scope *scope, struct slice raw) {
    autobuf out = BUF_INIT(2 * LOG_MESSAGE_MAX);
    char before = ' ';
    for (size_t i = 0; i < raw.len && !out.full && out.len < LOG_MESSAGE_MAX;) {
        struct slice rest = slice_after(raw, i);
        size_t used = 0;
        bool word_start = !isalnum((unsigned char)before) && before != '_';
        if (word_start && slice_starts(rest, "_Z")) {
            used = symbol_length(rest);
            add_symbol(&out, (struct slice){rest.at, used});
        } else if (word_start && i >= 4 && memcmp(raw.at + i - 4, " of ", 4) == 0) {
            used = add_job_path(scope, &out, rest);
        }
        if (used == 0) {
            buf_addc(&out, rest.at[0]);
            used = 1;
        }
        i += used;
        before = raw.at[i - 1];
    }
    /* Cleaning replaces bad bytes by longer ones: it comes before the cut. */
    autobuf clean = BUF_INIT(8 * LOG_MESSAGE_MAX);
    text_clean(&clean, out.data, out.len);
    return xstrndup(clean.data, text_cut(clean.data, clean.len, LOG_MESSAGE_MAX));
}
