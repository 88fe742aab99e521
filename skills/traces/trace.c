#include "skills/traces/trace.h"

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/traces/trace_clean.h"
#include "skills/traces/trace_elements.h"
#include "skills/traces/trace_lines.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_unicode.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256u << 10)

struct reading {
    struct trace *trace;
    struct trace_build build;
    const struct trace_reader *reader;
    struct trace_unicode unicode; /* from what the file is encoded in */
    struct buf first;             /* until the format is known */
    struct trace_lines lines;
    struct trace_elements elements;
    struct hash hash;
};

/* --- records --- */

static const struct trace_hooks *hooks_of(const struct reading *r) {
    static const struct trace_hooks none = {0};
    return r->reader && r->reader->hooks ? r->reader->hooks : &none;
}

/* key: of the array that it is an element of; NULL: a line, or what is around them. */
static bool take_value(struct reading *r, const char *key, const json_t *value) {
    const struct trace_hooks *hooks = hooks_of(r);
    const struct trace_node node = {.value = value};
    const char *rules = r->reader->keys && !key ? r->reader->rest : r->reader->rules;
    return !rules || !*rules || (hooks->begin && !hooks->begin(&r->build, key, value)) ||
           trace_rules_take(&r->build, rules, &node);
}

/* A record that this format does not know may be of another session in the same file. */
static void note_unknown(struct reading *r, const char *key, const json_t *value) {
    struct trace *t = r->trace;
    const char *format = key ? NULL : trace_format_of(value);
    t->unknown++;
    if (format && strcmp(format, t->format) != 0) {
        t->other = t->other ? t->other : format;
        t->others++;
    }
}

/* What a program of Windows printed in UTF-16 was recorded with "\\u0000" for every second byte, where
 * a C string ends: they are taken out. */
static void drop_zeros(struct trace_piece *piece) {
    static const char zero[] = "\\u0000";
    size_t kept = 0, n = sizeof zero - 1, len = piece->len;
    char *s = piece->text;
    for (size_t i = 0; i < len;) {
        bool escape = s[i] == '\\' && len - i > 1;
        if (escape && len - i >= n && memcmp(s + i, zero, n) == 0) {
            i += n;
            continue;
        }
        for (size_t k = 0; k < 1 + (size_t)escape; k++) {
            s[kept++] = s[i++];
        }
    }
    s[kept] = '\0';
    piece->len = kept;
}

static void take_json(struct reading *r, struct trace_piece *piece) {
    if (memmem(piece->text, piece->len, "\\u0000", 6)) {
        drop_zeros(piece);
    }
    autojson *value = piece->too_long ? NULL : json_parse(piece->text, piece->len, NULL);
    bool growing = piece->last && !piece->too_long;
    if (value && !take_value(r, piece->key, value)) {
        note_unknown(r, piece->key, value);
    } else if (!value) {
        r->trace->truncated = r->trace->truncated || growing;
        r->trace->broken += !growing;
    }
}

static void take_piece(void *data, struct trace_piece *piece) {
    struct reading *r = data;
    build_room(&r->build);
    r->build.left_out = piece->left_out;
    if (r->reader->rules) {
        take_json(r, piece);
        return;
    }
    autobuf clean = BUF_INIT(4 * TRACE_MAX_LINE);
    clean_text(&clean, piece->text, piece->len, TRACE_MAX_LINE, CLEAN_TERMINAL,
               piece->len + piece->left_out);
    r->reader->hooks->line(&r->build, clean.data, clean.len);
}

/* --- bytes --- */

static void feed(struct reading *r, const char *bytes, size_t len) {
    if (r->reader->keys) {
        trace_elements_add(&r->elements, bytes, len);
    } else {
        trace_lines_add(&r->lines, bytes, len);
    }
}

/* The format shows in the first bytes; they are then fed. */
static int begin(struct reading *r, struct err *err) {
    r->reader = trace_sniff(r->first.data, r->first.len, err);
    if (!r->reader) {
        return err ? err->code : -EINVAL;
    }
    r->trace->format = r->reader->format;
    r->build.state = xcalloc(1, hooks_of(r)->state_size + 1);
    r->build.odd = hooks_of(r)->odd;
    if (r->reader->keys) {
        trace_elements_init(&r->elements, r->reader->keys, r->reader->depth, take_piece,
                            r);
    } else {
        trace_lines_init(&r->lines, r->reader->rules, take_piece, r);
    }
    feed(r, r->first.data, r->first.len);
    buf_finish(&r->first);
    return 0;
}

static int add_decoded(struct reading *r, const char *bytes, size_t len,
                       struct err *err) {
    if (r->reader) {
        feed(r, bytes, len);
        return 0;
    }
    size_t room = TRACE_SNIFF - r->first.len, fits = len < room ? len : room;
    buf_add(&r->first, bytes, fits);
    if (r->first.len < TRACE_SNIFF) {
        return 0;
    }
    int rc = begin(r, err);
    if (rc == 0 && len > fits) {
        feed(r, bytes + fits, len - fits);
    }
    return rc;
}

static int add(struct reading *r, const char *bytes, size_t len, struct err *err) {
    autobuf decoded = BUF_INIT(8 * PIECE);
    hash_add(&r->hash, bytes, len);
    r->trace->bytes += len;
    if (unicode_is_utf8(&r->unicode, bytes, &len, &bytes)) {
        return add_decoded(r, bytes, len, err);
    }
    unicode_decode(&r->unicode, &decoded, bytes, len);
    return add_decoded(r, decoded.data, decoded.len, err);
}

static int end(struct reading *r, struct err *err) {
    int rc = r->reader ? 0 : begin(r, err);
    if (rc < 0) {
        return rc;
    }
    if (r->reader->keys) {
        r->trace->truncated = !trace_elements_end(&r->elements);
    } else {
        trace_lines_end(&r->lines);
    }
    char hex[HASH_HEX_SIZE];
    hash_hex(&r->hash, hex);
    snprintf(r->trace->digest, sizeof r->trace->digest, "sha256:%s", hex);
    return 0;
}

static void reading_init(struct reading *r, struct trace *t, const char *name) {
    autobuf clean = BUF_INIT(4096);
    *t = (struct trace){0};
    text_clean(&clean, name, strnlen(name, 1024));
    t->name = xstrdup(clean.data);
    *r = (struct reading){.trace = t, .first = BUF_INIT(TRACE_SNIFF)};
    build_init(&r->build, t);
    hash_init(&r->hash);
}

static int reading_finish(struct reading *r, int rc) {
    if (hooks_of(r)->end) { /* also frees what the format holds */
        hooks_of(r)->end(&r->build);
    }
    if (r->reader && r->reader->keys) {
        trace_elements_finish(&r->elements);
    } else if (r->reader) {
        trace_lines_finish(&r->lines);
    }
    buf_finish(&r->first);
    build_finish(&r->build);
    if (rc < 0) {
        trace_finish(r->trace);
    }
    return rc;
}

/* --- files --- */

static int read_pieces(struct reading *r, int fd, struct err *err) {
    autofree char *piece = xmalloc(PIECE);
    for (;;) {
        if (work_is_stopped()) {
            return err_set(err, -ECANCELED, "cancelled");
        }
        ssize_t n = read(fd, piece, PIECE);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return err_set(err, -errno, "cannot read %s: %s", r->trace->name,
                           strerror(errno));
        }
        if (n == 0) {
            return end(r, err);
        }
        int rc = r->trace->bytes + (size_t)n > TRACE_MAX_FILE
                     ? err_set(err, -EFBIG, "%s is over %llu GiB: give a part of it",
                               r->trace->name, TRACE_MAX_FILE >> 30)
                     : add(r, piece, (size_t)n, err);
        if (rc < 0) {
            return rc;
        }
    }
}

static int open_regular(const char *path, struct err *err) {
    struct stat st;
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0) {
        return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return err_set(err, -EINVAL, "%s is not a file: give a trace file%s", path,
                       S_ISDIR(st.st_mode) ? " of that folder" : "");
    }
    if ((unsigned long long)st.st_size > TRACE_MAX_FILE) {
        return err_set(err, -EFBIG, "%s is over %llu GiB: give a part of it", path,
                       TRACE_MAX_FILE >> 30);
    }
    return take_fd(fd);
}

int trace_read(struct trace *ret, const char *path, struct err *err) {
    struct reading r;
    struct trace t;
    autofd int fd = open_regular(path, err);
    if (fd < 0) {
        return fd;
    }
    reading_init(&r, &t, path_basename(path));
    int rc = reading_finish(&r, read_pieces(&r, fd, err));
    if (rc < 0) {
        return rc;
    }
    *ret = t;
    return 0;
}

int trace_read_text(struct trace *ret, const char *name, const char *text, size_t len,
                    struct err *err) {
    struct reading r;
    struct trace t;
    int rc = 0;
    reading_init(&r, &t, name);
    for (size_t at = 0; at < len && rc == 0; at += PIECE) {
        rc = add(&r, text + at, len - at < PIECE ? len - at : PIECE, err);
    }
    rc = reading_finish(&r, rc < 0 ? rc : end(&r, err));
    if (rc < 0) {
        return rc;
    }
    *ret = t;
    return 0;
}
