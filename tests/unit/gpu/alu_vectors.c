#include "alu_vectors.h"

#include "alu_room.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const extensions[] = {"avx512", "avx2", "baseline", "neon"};
/* What stands in lanes that do not run, in turn: zeros as divisors, -1, the least
 * numbers, a signalling NaN, ordinary ones. */
static const uint64_t poison[] = {0, UINT64_MAX, UINT64_C(0x8000000080008080),
                                  UINT64_C(0x7ff000017f817d01),
                                  UINT64_C(0x3ff000003f803c00)};
static const uint32_t masks[] = {0x55555555, 1, 0x80000000, 0xfffffffe, 0x0f0f00ff};

struct reader {
    const uint8_t *at, *end;
};
static uint64_t take_number(struct reader *r, unsigned bytes) {
    uint64_t v = 0;
    cr_assert(r->end - r->at >= bytes);
    memcpy(&v, r->at, bytes);
    r->at += bytes;
    return v;
}
static void take_text(struct reader *r, char out[256]) {
    size_t len = take_number(r, 1);
    cr_assert((size_t)(r->end - r->at) >= len);
    memcpy(out, r->at, len);
    out[len] = '\0';
    r->at += len;
}

struct row {
    uint64_t in[ALU_SOURCES], result;
    uint8_t carry_in, pair, carry_out;
};
struct record {
    char spelling[256], widths[256];
    bool pair, carry;
    unsigned rows;
    struct row row[ALU_LANES]; /* of the chunk under way */
    unsigned in_chunk;
};

static unsigned stored(unsigned bytes) {
    return bytes ? bytes : 1;
}
static void take_chunk(struct reader *r, struct record *c, const struct alu_room *room) {
    c->in_chunk = c->rows < ALU_LANES ? c->rows : ALU_LANES;
    for (unsigned k = 0; k < c->in_chunk; k++) {
        struct row *row = &c->row[k];
        for (unsigned s = 0; s < room->sources; s++) {
            row->in[s] = take_number(r, stored(room->source_bytes[s]));
        }
        row->carry_in = c->carry ? (uint8_t)take_number(r, 1) : 0;
        row->result = take_number(r, stored(room->result_bytes));
        row->pair = c->pair ? (uint8_t)take_number(r, 1) : 0;
        row->carry_out = c->carry ? (uint8_t)take_number(r, 1) : 0;
    }
    c->rows -= c->in_chunk;
}

static void fill_lane(struct alu_room *room, const struct record *c, unsigned l,
                      bool runs) {
    const struct row *row = &c->row[l % c->in_chunk];
    for (unsigned s = 0; s < room->sources; s++) {
        bool uniform = s == 3 && room->instruction.opcode == PTX_OP_LOP3;
        room->in[s][l] = runs || uniform ? row->in[s] : poison[(l + s) % 5];
    }
    room->carry |= (uint32_t)(row->carry_in & 1) << l;
}

static uint64_t fit(uint64_t v, unsigned bytes) {
    return bytes == 0 ? v & 1 : bytes == 8 ? v : v & ((UINT64_C(1) << (8 * bytes)) - 1);
}
static bool lane_is_right(const struct alu_room *room, const struct record *c, unsigned l,
                          bool runs) {
    const struct row *row = &c->row[l % c->in_chunk];
    uint64_t result = runs ? row->result : fit(room->before, room->result_bytes);
    uint8_t carry = runs ? row->carry_out : row->carry_in;
    uint64_t pair = runs ? row->pair : room->before & 1;
    return room->out[l] == result && (!c->pair || room->pair[l] == pair) &&
           (!c->carry || (room->carry >> l & 1) == carry);
}

static unsigned run_chunk(struct alu_room *room, const struct record *c, uint32_t mask,
                          const char *extension) {
    room->carry = 0;
    room->before = UINT64_C(0xa5a5a5a5a5a5a5a5);
    for (unsigned l = 0; l < ALU_LANES; l++) {
        fill_lane(room, c, l, mask >> l & 1);
    }
    alu_room_run(room, mask);
    for (unsigned l = 0; l < ALU_LANES; l++) {
        if (!lane_is_right(room, c, l, mask >> l & 1)) {
            const struct row *row = &c->row[l % c->in_chunk];
            cr_expect(
                false,
                "%s %s mask %08x lane %u: (%llx, %llx, %llx, %llx; %u) gives %llx|%llx "
                "carry %u, not %llx|%u carry %u",
                extension, c->spelling, mask, l, (unsigned long long)room->in[0][l],
                (unsigned long long)room->in[1][l], (unsigned long long)room->in[2][l],
                (unsigned long long)room->in[3][l], row->carry_in,
                (unsigned long long)room->out[l], (unsigned long long)room->pair[l],
                room->carry >> l & 1, (unsigned long long)row->result, row->pair,
                row->carry_out);
            return 1;
        }
    }
    return 0;
}

static unsigned long check_record(struct reader *r, const char *extension) {
    struct record c;
    take_text(r, c.spelling);
    take_text(r, c.widths);
    unsigned flags = (unsigned)take_number(r, 1);
    c.pair = flags & 1;
    c.carry = flags & 2;
    c.rows = (unsigned)take_number(r, 2);
    struct alu_room room;
    cr_assert(alu_room_bind(&room, c.spelling, c.widths, c.pair), "%s", c.spelling);
    cr_expect(room.run != NULL, "%s is refused", c.spelling);
    unsigned long rows = c.rows;
    unsigned failures = 0;
    while (c.rows > 0) {
        take_chunk(r, &c, &room);
        if (room.run == NULL || failures > 2) {
            continue;
        }
        failures += run_chunk(&room, &c, UINT32_MAX, extension);
        for (unsigned k = 0; k < sizeof(masks) / sizeof(masks[0]); k++) {
            failures += run_chunk(&room, &c, masks[k], extension);
        }
    }
    return rows;
}

unsigned long alu_vectors_check(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s", path);
    size_t room = 2u << 20;
    uint8_t *bytes = malloc(room);
    size_t len = fread(bytes, 1, room, f);
    fclose(f);
    unsigned long rows = 0;
    for (unsigned e = 0; e < 4; e++) {
        if (bind_force_extension(extensions[e]) < 0) {
            continue;
        }
        struct reader r = {bytes, bytes + len};
        while (r.at < r.end) {
            rows += check_record(&r, extensions[e]);
        }
    }
    bind_force_extension(NULL);
    free(bytes);
    return rows;
}
