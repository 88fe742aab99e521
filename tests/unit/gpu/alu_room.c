#include "alu_room.h"

#include "gpu/ptx/read/ptx_names.h"

#include <string.h>

#define SLOT (ALU_LANES * 8u)

static void add_word(struct ptx_instruction *i, const struct ptx_word *word) {
    if (word->type != PTX_NONE && i->type_count < 4) {
        i->types[i->type_count++] = word->type;
    }
    if (word->modifier >= 0) {
        i->modifiers[word->modifier / 64] |= UINT64_C(1) << (word->modifier % 64);
    }
}

static bool read_spelling(struct ptx_instruction *i, const char *spelling) {
    size_t len = strcspn(spelling, ".");
    int opcode = ptx_opcode_find(spelling, len);
    if (opcode < 0) {
        return false;
    }
    i->opcode = (uint16_t)opcode;
    const char *at = spelling + len;
    while (*at == '.') {
        len = strcspn(++at, ".");
        struct ptx_word word;
        if (!ptx_word_find(at, len, &word)) {
            return false;
        }
        add_word(i, &word);
        at += len;
    }
    return true;
}

static uint8_t width_bytes(char letter) {
    switch (letter) {
    case 'b':
        return 1;
    case 'h':
        return 2;
    case 'w':
        return 4;
    case 'd':
        return 8;
    default:
        return 0;
    }
}

bool alu_room_bind(struct alu_room *room, const char *spelling, const char *widths,
                   bool has_pair) {
    memset(room, 0, sizeof(*room));
    room->instruction.guard = -1;
    room->instruction.vector = 1;
    if (!read_spelling(&room->instruction, spelling)) {
        return false;
    }
    room->sources = (unsigned)strlen(widths) - 1;
    room->result_bytes = width_bytes(widths[0]);
    room->instruction.has_pair = has_pair;
    room->instruction.operand_count = (uint8_t)(room->sources + 1 + has_pair);
    room->step.dst = 0;
    room->step.dst2 = has_pair ? SLOT : STEP_NO_REGISTER;
    room->step.guard = -1;
    for (unsigned k = 0; k < ALU_SOURCES; k++) {
        room->step.src[k] = k < room->sources ? (k + 2) * SLOT : STEP_NO_REGISTER;
    }
    for (unsigned k = 0; k < room->sources; k++) {
        room->source_bytes[k] = width_bytes(widths[k + 1]);
    }
    room->run = bind_alu(&room->instruction, &room->step);
    return true;
}

static void put_lane(uint8_t *slot, unsigned bytes, unsigned lane, uint64_t value) {
    if (bytes != 0) {
        memcpy(slot + bytes * lane, &value, bytes);
        return;
    }
    uint32_t bits;
    memcpy(&bits, slot, sizeof bits);
    bits = (bits & ~(1u << lane)) | (uint32_t)(value & 1) << lane;
    memcpy(slot, &bits, sizeof bits);
}

static uint64_t get_lane(const uint8_t *slot, unsigned bytes, unsigned lane) {
    uint64_t value = 0;
    if (bytes != 0) {
        memcpy(&value, slot + bytes * lane, bytes);
        return value;
    }
    uint32_t bits;
    memcpy(&bits, slot, sizeof bits);
    return bits >> lane & 1;
}

static uint8_t regs[(ALU_SOURCES + 2) * SLOT] __attribute__((aligned(64)));

void alu_room_repeat(struct alu_room *room, uint32_t mask, unsigned long times) {
    uint32_t lane_mask[ALU_LANES] __attribute__((aligned(64)));
    struct warp_head head = {.regs = regs, .lane_mask = lane_mask};
    for (unsigned l = 0; l < ALU_LANES; l++) {
        lane_mask[l] = mask >> l & 1 ? UINT32_MAX : 0;
    }
    for (unsigned long k = 0; k < times; k++) {
        room->run((struct warp *)(void *)&head, &room->step, mask);
    }
}

void alu_room_run(struct alu_room *room, uint32_t mask) {
    uint32_t lane_mask[ALU_LANES] __attribute__((aligned(64)));
    struct warp_head head = {.regs = regs, .carry = room->carry, .lane_mask = lane_mask};
    for (unsigned l = 0; l < ALU_LANES; l++) {
        lane_mask[l] = mask >> l & 1 ? UINT32_MAX : 0;
        put_lane(regs, room->result_bytes, l, room->before);
        put_lane(regs + SLOT, 0, l, room->before);
        for (unsigned k = 0; k < room->sources; k++) {
            put_lane(regs + (k + 2) * SLOT, room->source_bytes[k], l, room->in[k][l]);
        }
    }
    room->run((struct warp *)(void *)&head, &room->step, mask);
    for (unsigned l = 0; l < ALU_LANES; l++) {
        room->out[l] = get_lane(regs, room->result_bytes, l);
        room->pair[l] = get_lane(regs + SLOT, 0, l);
    }
    room->carry = head.carry;
}
