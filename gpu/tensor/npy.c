#include "gpu/tensor/npy.h"

#include "base/buf.h"
#include "base/err.h"

/* --- the header's text --- */

struct reader {
    const char *at, *end;
    struct npy *ret;
    unsigned seen; /* bits of the keys */
    struct err *err;
};

static int fail(struct reader *r, const char *why) {
    return err_set(r->err, -EINVAL, "the .npy header is damaged: %s", why);
}

static void skip_blanks(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')) {
        r->at++;
    }
}

static bool take_char(struct reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) {
        return false;
    }
    r->at++;
    return true;
}

/* A text in either quotes without escapes, into ret. */
static int take_text(struct reader *r, char *ret, size_t size) {
    skip_blanks(r);
    char quote = r->at < r->end ? *r->at : '\0';
    if (quote != '\'' && quote != '"') {
        return fail(r, "a text in quotes is expected");
    }
    const char *from = ++r->at;
    while (r->at < r->end && *r->at != quote && *r->at != '\\') {
        r->at++;
    }
    size_t len = (size_t)(r->at - from);
    if (r->at == r->end || *r->at != quote || len >= size) {
        return fail(r, "a text is too long or does not end");
    }
    r->at++;
    memcpy(ret, from, len);
    ret[len] = '\0';
    return memchr(ret, '\0', len) ? fail(r, "a text holds a NUL") : 0;
}

static bool take_word(struct reader *r, const char *word) {
    size_t len = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0) {
        return false;
    }
    r->at += len;
    return true;
}

static int read_extent(struct reader *r, int64_t *ret) {
    int64_t value = 0;
    skip_blanks(r);
    const char *from = r->at;
    if (from < r->end && *from == '-') {
        return fail(r, "an extent of the shape is negative");
    }
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *r->at - '0', &value)) {
            return fail(r, "an extent of the shape is beyond 64 bits");
        }
    }
    if (r->at == from) {
        return fail(r, "the shape is not a list of whole numbers");
    }
    if (r->at < r->end && *r->at == 'L') {
        r->at++; /* Python 2 wrote long integers so */
    }
    *ret = value;
    return 0;
}

static int read_shape(struct reader *r) {
    struct npy *npy = r->ret;
    if (!take_char(r, '(')) {
        return fail(r, "the shape is not a tuple");
    }
    bool comma = true;
    while (!take_char(r, ')')) {
        if (!comma || npy->rank == NPY_MAX_RANK) {
            return fail(r, comma ? "the shape has more than 8 dimensions"
                                 : "the shape lacks a comma");
        }
        int n = read_extent(r, &npy->shape[npy->rank++]);
        if (n < 0) {
            return n;
        }
        comma = take_char(r, ',');
    }
    return npy->rank == 1 && !comma ? fail(r, "the shape is not a tuple") : 0;
}

static int read_order(struct reader *r) {
    r->ret->fortran = take_word(r, "True");
    return r->ret->fortran || take_word(r, "False")
               ? 0
               : fail(r, "fortran_order is neither True nor False");
}

static int read_descr(struct reader *r) {
    skip_blanks(r);
    if (r->at < r->end && *r->at == '[') {
        return err_set(r->err, -EINVAL,
                       "the .npy file holds structures; save one array of one type");
    }
    return take_text(r, r->ret->descr, sizeof r->ret->descr);
}

static int read_member(struct reader *r) {
    static const struct {
        const char *name;
        int (*read)(struct reader *r);
    } members[] = {
        {"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    char name[16];
    int n = take_text(r, name, sizeof name);
    if (n < 0) {
        return n;
    }
    for (unsigned i = 0; i < sizeof members / sizeof *members; i++) {
        if (!strcmp(name, members[i].name)) {
            bool twice = r->seen & 1u << i;
            r->seen |= 1u << i;
            return twice               ? fail(r, "a key appears twice")
                   : take_char(r, ':') ? members[i].read(r)
                                       : fail(r, "a colon is missing");
        }
    }
    return fail(r, "a key that is not descr, fortran_order or shape");
}

static int read_literal(struct reader *r) {
    if (!take_char(r, '{')) {
        return fail(r, "it does not begin with {");
    }
    bool comma = true;
    while (!take_char(r, '}')) {
        int n = comma ? read_member(r) : fail(r, "a comma is missing");
        if (n < 0) {
            return n;
        }
        comma = take_char(r, ',');
    }
    skip_blanks(r);
    if (r->at != r->end) {
        return fail(r, "something follows the }");
    }
    return r->seen == 7 ? 0 : fail(r, "descr, fortran_order and shape are needed");
}

/* --- what it means --- */

static const struct {
    const char *descr; /* of little-endian elements; of bytes the first sign is none */
    enum tensor_type type;
    unsigned char bytes;
} types[] = {
    {"<f4", TENSOR_FLOAT32, 4}, {"<f2", TENSOR_FLOAT16, 2}, {"<f8", TENSOR_FLOAT64, 8},
    {"|i1", TENSOR_INT8, 1},    {"<i2", TENSOR_INT16, 2},   {"<i4", TENSOR_INT32, 4},
    {"<i8", TENSOR_INT64, 8},   {"|u1", TENSOR_UINT8, 1},   {"<u2", TENSOR_UINT16, 2},
    {"<u4", TENSOR_UINT32, 4},  {"<u8", TENSOR_UINT64, 8},  {"|b1", TENSOR_BOOL, 1},
    {"|V1", TENSOR_TYPES, 1},   {"|V2", TENSOR_TYPES, 2},   {"|f1", TENSOR_TYPES, 1},
};

static int find_type(struct npy *npy, struct err *err) {
    const char *descr = npy->descr;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (*descr && strchr("<>|=", *descr) && !strcmp(descr + 1, types[i].descr + 1)) {
            npy->type = types[i].type;
            npy->item_bytes = types[i].bytes;
            npy->big_endian = *descr == '>' && types[i].bytes > 1;
            return 0;
        }
    }
    char shown[sizeof npy->descr] = "";
    for (size_t i = 0; descr[i]; i++) {
        shown[i] = descr[i] >= ' ' && descr[i] <= '~' ? descr[i] : '?';
    }
    return err_set(err, -EINVAL,
                   "the .npy file's type '%s' is not understood: integers, floats of 16 "
                   "to 64 bits and bool are",
                   shown);
}

static int check_bytes(struct npy *npy, size_t len, struct err *err) {
    bool none = false, overflow = false;
    npy->count = 1;
    for (size_t d = 0; d < npy->rank; d++) {
        none = none || !npy->shape[d];
        overflow = overflow || __builtin_mul_overflow(npy->count, (uint64_t)npy->shape[d],
                                                      &npy->count);
    }
    if (none) { /* whatever the others say */
        npy->count = 0;
        overflow = false;
    }
    if (overflow || npy->count > NPY_MAX_COUNT) {
        return err_set(err, -EINVAL, "the .npy header's shape has too many elements");
    }
    uint64_t wanted = npy->count * npy->item_bytes, have = len - npy->offset;
    if (wanted != have) {
        return err_set(err, -EINVAL,
                       "the .npy header's shape takes %llu bytes of %s, %llu follow it",
                       (unsigned long long)wanted, npy->descr, (unsigned long long)have);
    }
    return 0;
}

int npy_read_head(struct npy *ret, const void *bytes, size_t have, size_t len,
                  struct err *err) {
    const unsigned char *b = bytes;
    *ret = (struct npy){.type = TENSOR_TYPES};
    if (have < 12 || memcmp(b, "\x93NUMPY", 6) != 0) {
        return err_set(err, -EINVAL, "this is no .npy file");
    }
    if (b[6] < 1 || b[6] > 3 || b[7] != 0) {
        return err_set(err, -EINVAL, "version %u.%u of .npy is not understood", b[6],
                       b[7]);
    }
    size_t start = b[6] == 1 ? 10 : 12;
    size_t header = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1) {
        header |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    }
    if (header > NPY_MAX_HEADER || header > have - start) {
        return err_set(err, -EINVAL,
                       "the .npy header is said to have %zu bytes: the file ends before, "
                       "or they are more than %u",
                       header, NPY_MAX_HEADER);
    }
    const char *text = (const char *)b + start;
    struct reader r = {.at = text, .end = text + header, .ret = ret, .err = err};
    int n = read_literal(&r);
    n = n < 0 ? n : find_type(ret, err);
    ret->offset = start + header;
    return n < 0 ? n : check_bytes(ret, len, err);
}

static bool is_unknown_to_numpy(enum tensor_type type) {
    return type == TENSOR_BFLOAT16 || type == TENSOR_FLOAT8_E4M3 ||
           type == TENSOR_FLOAT8_E5M2;
}

bool npy_stands_for(const struct npy *npy, enum tensor_type type) {
    if (npy->type == type) {
        return true;
    }
    bool raw = npy->type == TENSOR_TYPES || npy->type == TENSOR_UINT16 ||
               npy->type == TENSOR_UINT8;
    return raw && is_unknown_to_numpy(type) && npy->item_bytes == tensor_type_bytes(type);
}

/* --- elements --- */

static void copy_item(const struct npy *npy, const unsigned char *from,
                      unsigned char *to) {
    if (!npy->big_endian) {
        memcpy(to, from, npy->item_bytes);
        return;
    }
    for (size_t i = 0; i < npy->item_bytes; i++) {
        to[i] = from[npy->item_bytes - 1 - i];
    }
}

/* In the order of the file, each to where it belongs. */
static void copy_fortran(const struct npy *npy, const unsigned char *from,
                         unsigned char *to) {
    uint64_t steps[NPY_MAX_RANK], at = 0; /* elements per index, row by row */
    int64_t index[NPY_MAX_RANK] = {0};
    uint64_t step = 1;
    for (size_t d = npy->rank; d-- > 0; step *= (uint64_t)npy->shape[d]) {
        steps[d] = step;
    }
    for (uint64_t i = 0; i < npy->count; i++) {
        copy_item(npy, from + i * npy->item_bytes, to + at * npy->item_bytes);
        for (size_t d = 0; d < npy->rank; d++) { /* the first index varies fastest */
            at += steps[d];
            if (++index[d] < npy->shape[d]) {
                break;
            }
            at -= steps[d] * (uint64_t)npy->shape[d];
            index[d] = 0;
        }
    }
}

const void *npy_elements(const struct npy *npy, const void *file) {
    const unsigned char *at = (const unsigned char *)file + npy->offset;
    bool in_order = !npy->big_endian && !(npy->fortran && npy->rank > 1);
    return in_order && (uintptr_t)at % npy->item_bytes == 0 ? at : NULL;
}

void npy_copy(const struct npy *npy, const void *file, void *ret) {
    const unsigned char *from = (const unsigned char *)file + npy->offset;
    unsigned char *to = ret;
    if (npy->fortran && npy->rank > 1) {
        copy_fortran(npy, from, to);
    } else if (npy->big_endian) {
        for (uint64_t i = 0; i < npy->count; i++) {
            copy_item(npy, from + i * npy->item_bytes, to + i * npy->item_bytes);
        }
    } else if (npy->count) {
        memcpy(to, from, npy->count * npy->item_bytes);
    }
}

/* --- writing --- */

const char *npy_descr(enum tensor_type type) {
    size_t i = 0;
    if (is_unknown_to_numpy(type)) { /* as its bits */
        type = tensor_type_bytes(type) == 1 ? TENSOR_UINT8 : TENSOR_UINT16;
    }
    while (types[i].type != type) {
        i++;
    }
    return types[i].descr;
}

int npy_write_header(struct buf *out, enum tensor_type type, const int64_t *shape,
                     size_t rank) {
    enum { PREAMBLE = 10, UNIT = 64 };
    autobuf text = BUF_INIT(1024);
    buf_addf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
             npy_descr(type));
    for (size_t d = 0; d < rank; d++) {
        buf_addf(&text, "%s%lld", d ? ", " : "", (long long)shape[d]);
    }
    buf_adds(&text, rank == 1 ? ",), }" : "), }");
    while ((PREAMBLE + text.len + 1) % UNIT) {
        buf_addc(&text, ' ');
    }
    buf_addc(&text, '\n');
    const unsigned char size[] = {(unsigned char)text.len,
                                  (unsigned char)(text.len >> 8)};
    size_t before = out->len;
    if (buf_add(out, "\x93NUMPY\1\0", PREAMBLE - sizeof size) < 0 ||
        buf_add(out, size, sizeof size) < 0 || buf_add(out, text.data, text.len) < 0) {
        out->len = before;
        return -EMSGSIZE;
    }
    return 0;
}
