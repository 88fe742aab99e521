#include "gpu/facts/log_text.h"

#include "base/buf.h"
#include "base/text.h"
#include "gpu/facts/kernel_index.h"

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

/* "at line 4 of r0/inc/a.cuh", "#include file \"r0/k.cu\" includes itself": the name inside
 * the job is no client's business. */
static size_t add_job_path(struct log_scope *scope, struct buf *out, struct slice s) {
    size_t len = 0;
    while (len < s.len && !strchr(" \t)\",;", s.at[len])) {
        len++;
    }
    if (!memchr(s.at, '/', len)) {
        return 0;
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
        } else if (before == ' ' || before == '"') {
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
