/* The places of `.loc` and `.file`: which line of the CUDA source an instruction is of.
 */
#include "gpu/ptx/read/ptx_reader.h"

/* Places by their contents, so that the module has each only once. */
struct ptx_place_index {
    uint32_t *slots; /* place numbers, 0 = free; a power of two of them */
    uint32_t room;
    uint32_t
        recent[256]; /* of the function's inlined code, by position: the last place */
};

void ptx_place_index_free(struct ptx_place_index *index) {
    if (index) {
        free(index->slots);
        free(index);
    }
}

static uint32_t hash_place(const struct ptx_place *p) {
    uint32_t h = p->file * 0x9e3779b1u;
    h = (h ^ p->line) * 0x85ebca6bu;
    h = (h ^ p->column) * 0xc2b2ae35u;
    h = (h ^ p->caller) * 0x27d4eb2fu;
    return h ^ h >> 15;
}

static uint32_t *slot_of(const struct ptx_reader *r, const struct ptx_place *p) {
    const struct ptx_place_index *index = r->place_index;
    for (uint32_t i = hash_place(p);; i++) {
        uint32_t *slot = &index->slots[i & (index->room - 1)];
        if (*slot == 0 || memcmp(&r->m->places[*slot], p, sizeof *p) == 0) {
            return slot;
        }
    }
}

static void index_grow(struct ptx_reader *r) {
    struct ptx_place_index *index = r->place_index;
    index->room *= 2;
    index->slots = xreallocarray(index->slots, index->room, sizeof *index->slots);
    memset(index->slots, 0, index->room * sizeof *index->slots);
    for (uint32_t i = 1; i < r->m->place_count; i++) {
        *slot_of(r, &r->m->places[i]) = i;
    }
}

/* Place 0 is "unknown". */
static void places_start(struct ptx_reader *r) {
    if (r->place_index) {
        return;
    }
    r->place_index = xcalloc(1, sizeof *r->place_index);
    r->place_index->room = 256;
    r->place_index->slots = xcalloc(r->place_index->room, sizeof(uint32_t));
    PTX_GROW(r->m->places, r->m->place_count);
    r->m->places[r->m->place_count++] = (struct ptx_place){0};
}

static uint32_t place_of(struct ptx_reader *r, struct ptx_place p) {
    if (r->m->place_count * 2 >= r->place_index->room) {
        index_grow(r);
    }
    uint32_t *slot = slot_of(r, &p);
    if (*slot == 0) {
        PTX_GROW(r->m->places, r->m->place_count);
        r->m->places[r->m->place_count] = p;
        *slot = r->m->place_count++;
    }
    return *slot;
}

/* A file's number in the whole text. */
static bool parse_file_number(struct ptx_reader *r, uint64_t *ret) {
    if (!ptx_parse_count(r, PTX_MAX_FILES - 1 - r->first_file, ret)) {
        return false;
    }
    *ret += r->first_file;
    return true;
}

static bool parse_position(struct ptx_reader *r, struct ptx_place *ret) {
    uint64_t file, line, column;
    if (!parse_file_number(r, &file) || !ptx_parse_count(r, INT32_MAX, &line) ||
        !ptx_parse_count(r, INT32_MAX, &column)) {
        return false;
    }
    *ret = (struct ptx_place){(uint32_t)file, (uint32_t)line, (uint32_t)column, 0};
    return true;
}

static bool same_position(const struct ptx_place *a, const struct ptx_place *b) {
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

static uint32_t *recent_of(const struct ptx_reader *r, struct ptx_place position) {
    position.caller = 0;
    return &r->place_index->recent[hash_place(&position) % 256];
}

/* inlined_at names a position. Where that is inlined code itself, its `.loc` has been
 * read: mostly just now, else the function's last one with that position says by whom. */
static uint32_t caller_of(struct ptx_reader *r, struct ptx_place position) {
    const struct ptx_place *last = &r->m->places[r->place];
    if (r->place && same_position(last, &position)) {
        return r->place;
    }
    for (uint32_t at = r->place ? last->caller : 0; at; at = r->m->places[at].caller) {
        if (same_position(&r->m->places[at], &position)) {
            return at;
        }
    }
    uint32_t recent = *recent_of(r, position);
    return recent && same_position(&r->m->places[recent], &position)
               ? recent
               : place_of(r, position);
}

/* `, function_name $L__info_string0 + 4, inlined_at 1 7 3` */
static bool parse_inlined(struct ptx_reader *r, struct ptx_place *place) {
    while (ptx_accept(r, ',')) {
        if (ptx_at_name(r, "inlined_at")) {
            struct ptx_place position;
            ptx_next(r);
            if (!parse_position(r, &position)) {
                return false;
            }
            place->caller = caller_of(r, position);
            continue;
        }
        ptx_next(r);
        if (!ptx_expect(r, PTX_TOKEN_NAME)) {
            return false;
        }
        if (ptx_accept(r, '+') && !ptx_expect(r, PTX_TOKEN_NUMBER)) {
            return false;
        }
    }
    return r->code == 0;
}

/* The directive ends with its line; nothing after it can be mistaken for its numbers. */
bool ptx_parse_loc(struct ptx_reader *r) {
    struct ptx_place place;
    places_start(r);
    if (!r->place) { /* the function's first */
        memset(r->place_index->recent, 0, sizeof r->place_index->recent);
    }
    ptx_next(r);
    if (!parse_position(r, &place) || !parse_inlined(r, &place)) {
        return false;
    }
    r->place = place_of(r, place);
    *recent_of(r, place) = r->place;
    return true;
}

uint32_t ptx_place_at(struct ptx_reader *r, uint32_t line) {
    if (r->place || !r->m->file_count || !r->m->files[0]) {
        return r->place;
    }
    places_start(r);
    return place_of(r, (struct ptx_place){.line = line});
}

static void keep_file(struct ptx_reader *r, uint64_t number, struct ptx_token name) {
    struct ptx_module *m = r->m;
    if (number >= m->file_count) {
        m->files = xreallocarray(m->files, number + 1, sizeof *m->files);
        memset(m->files + m->file_count, 0,
               (number + 1 - m->file_count) * sizeof *m->files);
        m->file_count = (uint32_t)number + 1;
    }
    m->files[number] = ptx_name_keep(r, name);
}

/* `.file 1 "k.cu"`, older ones followed by `, timestamp, size`. */
bool ptx_parse_file(struct ptx_reader *r) {
    uint64_t number, ignored;
    ptx_next(r);
    if (!parse_file_number(r, &number)) {
        return false;
    }
    struct ptx_token name = r->token;
    if (!ptx_expect(r, PTX_TOKEN_STRING)) {
        return false;
    }
    while (ptx_accept(r, ',')) {
        if (!ptx_parse_count(r, UINT64_MAX, &ignored)) {
            return false;
        }
    }
    keep_file(r, number, name);
    return true;
}

/* `.section .debug_str { … }`: DWARF, no PTX. Braces do not nest in it. */
bool ptx_parse_section(struct ptx_reader *r) {
    while (!r->code && !ptx_at(r, '{') && !ptx_at(r, PTX_TOKEN_END)) {
        ptx_next(r);
    }
    while (!r->code && !ptx_at(r, '}') && !ptx_at(r, PTX_TOKEN_END)) {
        ptx_next(r);
    }
    return ptx_expect(r, '}');
}

static const char *file_of(const struct ptx_module *m, const struct ptx_place *at) {
    const char *name = at->file < m->file_count ? m->files[at->file] : NULL;
    return name ? name : "";
}

/* nvcc names its own folders by the one that it is in, but for that of thrust, cub and
 * libcu++. */
bool ptx_place_is_toolkit(const struct ptx_module *m, const struct ptx_place *at) {
    const char *name = file_of(m, at);
    return strstr(name, "/bin/..//") || strstr(name, "/include/cccl/");
}

/* Of the toolkit, or NVRTC's own. */
static bool is_in_header(const struct ptx_module *m, const struct ptx_place *at) {
    const char *name = file_of(m, at);
    return *name == '<' || !strcmp(name, "__nv_nvrtc_builtin_header.h") ||
           ptx_place_is_toolkit(m, at);
}

const struct ptx_place *ptx_place_told(const struct ptx_module *m, uint32_t place) {
    if (!place || place >= m->place_count || !m->places[place].line) {
        return NULL;
    }
    uint32_t at = place;
    while (is_in_header(m, &m->places[at]) && m->places[at].caller) {
        at = m->places[at].caller;
    }
    return is_in_header(m, &m->places[at]) ? &m->places[place] : &m->places[at];
}

const struct ptx_place *ptx_place_caller(const struct ptx_module *m,
                                         const struct ptx_place *at) {
    uint32_t caller = at->caller;
    while (caller && is_in_header(m, &m->places[caller])) {
        caller = m->places[caller].caller;
    }
    return caller && m->places[caller].line ? &m->places[caller] : NULL;
}
