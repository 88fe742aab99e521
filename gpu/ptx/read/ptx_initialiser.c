/* Initial values of variables: numbers, and addresses that are known once the machine has
 * placed things. */
#include "gpu/ptx/read/ptx_reader.h"

struct filler {
    struct ptx_variable *v;
    const uint64_t *extents;
    unsigned extent_count;
    unsigned bytes; /* of one element */
    uint8_t *data;
    uint64_t room; /* bytes of data; grows when the first extent is open */
};

/* The element at byte `at` can be stored. */
static bool make_room(struct ptx_reader *r, struct filler *f, uint64_t at) {
    uint64_t need = at + f->bytes;
    if (need <= f->room) {
        return true;
    }
    if (!f->v->is_unsized) {
        return ptx_fail(r, -EINVAL, "more initial values than '%.80s' has elements",
                        f->v->name);
    }
    uint64_t room = f->room * 2 > need ? f->room * 2 : need * 2;
    if (r->initialiser_bytes + (room - f->room) > PTX_MAX_INITIALISER) {
        return ptx_fail(r, -EFBIG, "more than %u MiB of initial values",
                        PTX_MAX_INITIALISER >> 20);
    }
    r->initialiser_bytes += room - f->room;
    f->data = f->v->initialiser = xrealloc(f->v->initialiser, room);
    memset(f->data + f->room, 0, room - f->room);
    f->room = room;
    return true;
}

static uint64_t float_bits(const struct ptx_constant *c, enum ptx_type type) {
    if (c->kind == PTX_CONSTANT_INTEGER ||
        (c->kind == PTX_CONSTANT_SINGLE) != (type == PTX_F64)) {
        return c->bits; /* as it is, or converted below */
    }
    if (c->kind == PTX_CONSTANT_SINGLE) {
        float single;
        uint32_t bits32 = (uint32_t)c->bits;
        memcpy(&single, &bits32, sizeof single);
        double value = (double)single;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    return c->bits;
}

/* A decimal or 0d value in an .f32 variable is rounded to nearest. */
static uint64_t narrowed(const struct ptx_constant *c, enum ptx_type type) {
    if (c->kind != PTX_CONSTANT_DOUBLE || type != PTX_F32) {
        return float_bits(c, type);
    }
    double value;
    memcpy(&value, &c->bits, sizeof value);
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static bool store(struct ptx_reader *r, struct filler *f, uint64_t at,
                  const struct ptx_constant *c) {
    uint64_t bits = narrowed(c, f->v->type);
    if (!make_room(r, f, at)) {
        return false;
    }
    memset(f->data + at, 0, f->bytes);
    memcpy(f->data + at, &bits, f->bytes < 8 ? f->bytes : 8); /* little endian */
    return true;
}

static bool relocate(struct ptx_reader *r, struct filler *f, uint64_t at,
                     struct ptx_relocation relocation) {
    struct ptx_variable *v = f->v;
    struct ptx_constant zero = {0};
    if (relocation.bytes == 0) {
        relocation.bytes = (uint8_t)f->bytes;
    }
    if (f->bytes != relocation.bytes ||
        (f->bytes != 8 && f->bytes != 4 && f->bytes != 1)) {
        return ptx_fail(r, -EINVAL, "an address does not fit an element of %u bytes",
                        f->bytes);
    }
    relocation.at = at;
    PTX_GROW(v->relocations, v->relocation_count);
    v->relocations[v->relocation_count++] = relocation;
    return store(r, f, at, &zero);
}

/* A variable or function that is declared by now. */
static bool find_target(struct ptx_reader *r, struct ptx_relocation *ret) {
    uint32_t number;
    struct ptx_token name = r->token;
    if (!ptx_expect(r, PTX_TOKEN_NAME)) {
        return false;
    }
    struct ptx_symbol *symbol = ptx_resolve(r, name, &number);
    if (!symbol ||
        (symbol->kind != PTX_SYMBOL_VARIABLE && symbol->kind != PTX_SYMBOL_FUNCTION)) {
        return ptx_fail_at(r, name.line, -EINVAL,
                           "'%.*s' is not a variable or function declared before",
                           ptx_shown(name), ptx_spelling(r, name));
    }
    ret->index = symbol->index;
    ret->is_function = symbol->kind == PTX_SYMBOL_FUNCTION;
    return true;
}

static bool parse_addend(struct ptx_reader *r, struct ptx_relocation *relocation) {
    if (!ptx_at(r, '+') && !ptx_at(r, '-')) {
        return true;
    }
    return ptx_parse_integer(r, &relocation->addend); /* its sign is unary */
}

/* `name`, `name+4`, `generic(name)+4` */
static bool parse_address(struct ptx_reader *r, struct ptx_relocation *ret) {
    ret->generic = ptx_at_name(r, "generic");
    if (!ret->generic) {
        return find_target(r, ret) && parse_addend(r, ret);
    }
    ptx_next(r);
    return ptx_expect(r, '(') && find_target(r, ret) && ptx_expect(r, ')') &&
           parse_addend(r, ret);
}

/* `0xFF00(name)`: one byte of an address. */
static bool parse_masked(struct ptx_reader *r, uint64_t mask,
                         struct ptx_relocation *ret) {
    unsigned shift = mask ? (unsigned)__builtin_ctzll(mask) : 1;
    if (shift % 8 || mask >> shift != 0xff) {
        return ptx_fail(r, -EINVAL, "the mask of an address selects no single byte");
    }
    ret->bytes = 1;
    ret->shift = (uint8_t)shift;
    return ptx_expect(r, '(') && parse_address(r, ret) && ptx_expect(r, ')');
}

static bool parse_element(struct ptx_reader *r, struct filler *f, uint64_t at) {
    struct ptx_relocation relocation = {0};
    struct ptx_constant c;
    if (ptx_at(r, PTX_TOKEN_NAME) && !ptx_at_name(r, "WARP_SZ")) {
        return parse_address(r, &relocation) && relocate(r, f, at, relocation);
    }
    if (!ptx_parse_constant(r, &c)) {
        return false;
    }
    if (ptx_at(r, '(') && c.kind == PTX_CONSTANT_INTEGER) {
        return parse_masked(r, c.bits, &relocation) && relocate(r, f, at, relocation);
    }
    return store(r, f, at, &c);
}

/* The number of elements in one value of dimension `level`. */
static uint64_t span(const struct filler *f, unsigned level) {
    uint64_t count = 1;
    for (unsigned i = level; i < f->extent_count; i++) {
        count *= f->extents[i];
    }
    return count;
}

/* Braces of one dimension; *at is after its values afterwards. Values may also be in one
 * list for several dimensions. */
static bool parse_braces(struct ptx_reader *r, struct filler *f, unsigned level,
                         uint64_t *at) {
    if (level >= f->extent_count) {
        return ptx_fail(r, -EINVAL, "more braces than '%.80s' has dimensions",
                        f->v->name);
    }
    uint64_t start = *at, step = span(f, level + 1) * f->bytes;
    uint64_t end = level == 0 ? UINT64_MAX : start + span(f, level) * f->bytes;
    ptx_next(r);
    while (!r->code && !ptx_at(r, '}')) {
        bool ok;
        if (ptx_at(r, '{')) {
            uint64_t inner = *at;
            ok = parse_braces(r, f, level + 1, &inner);
            *at += step;
        } else {
            ok = parse_element(r, f, *at);
            *at += f->bytes;
        }
        if (!ok) {
            return false;
        }
        if (*at > PTX_MAX_INITIALISER) {
            return ptx_fail(r, -EFBIG, "more than %u MiB of initial values",
                            PTX_MAX_INITIALISER >> 20);
        }
        if (*at > end) {
            return ptx_fail(r, -EINVAL, "more initial values than a row of '%.80s' has",
                            f->v->name);
        }
        if (!ptx_accept(r, ',')) {
            break;
        }
    }
    return ptx_expect(r, '}');
}

/* `{ addr_mode_0 = wrap, … }` of a sampler; the machine takes its own from the texture.
 */
static bool skip_reference(struct ptx_reader *r) {
    while (!r->code && !ptx_at(r, '}') && !ptx_at(r, ';') && !ptx_at(r, PTX_TOKEN_END)) {
        ptx_next(r);
    }
    return ptx_expect(r, '}');
}

bool ptx_parse_initialiser(struct ptx_reader *r, struct ptx_variable *v,
                           const uint64_t *extents, unsigned extent_count) {
    struct filler f = {v, extents, extent_count, ptx_type_bytes(v->type), NULL, 0};
    if (f.bytes == 0) {
        return skip_reference(r);
    }
    if (!v->is_unsized) {
        f.room = v->size;
        if (f.room > PTX_MAX_INITIALISER - r->initialiser_bytes) {
            return ptx_fail(r, -EFBIG, "more than %u MiB of initial values",
                            PTX_MAX_INITIALISER >> 20);
        }
        r->initialiser_bytes += f.room;
        f.data = v->initialiser = xcalloc(f.room ? f.room : 1, 1);
    }
    uint64_t end = 0;
    if (!ptx_at(r, '{')) {
        return extent_count == 0
                   ? parse_element(r, &f, 0)
                   : ptx_fail(r, -EINVAL, "'%.80s' has several elements, but one value",
                              v->name);
    }
    if (!parse_braces(r, &f, 0, &end)) {
        return false;
    }
    if (v->is_unsized) {
        uint64_t row = span(&f, 1) * f.bytes;
        v->size = row ? (end + row - 1) / row * row : 0;
        v->is_unsized = false;
        uint64_t at = v->size ? v->size - f.bytes : 0;
        f.v->is_unsized = true; /* to let make_room pad the last row */
        bool ok = v->size == 0 || make_room(r, &f, at);
        v->is_unsized = false;
        return ok;
    }
    return true;
}
