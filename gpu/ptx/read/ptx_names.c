#include "gpu/ptx/read/ptx_names.h"

#include <pthread.h>

static const char *const opcode_names[] = {
#define PTX_OPCODE(id, text) text,
#include "gpu/ptx/read/opcodes.def"
};

static const char *const modifier_names[] = {
#define PTX_MODIFIER(id, text) text,
#include "gpu/ptx/read/modifiers.def"
#undef PTX_MODIFIER
};

static const char *const special_names[] = {
#define PTX_SPECIAL(id, text) text,
#include "gpu/ptx/read/specials.def"
#undef PTX_SPECIAL
};

enum { SIGNED = 1, FLOAT = 2 };
static const struct type_facts {
    const char *name;
    uint8_t bytes, flags;
} types[PTX_TYPES] = {
    [PTX_NONE] = {"", 0, 0},
    [PTX_PRED] = {".pred", 0, 0},
    [PTX_B8] = {".b8", 1, 0},
    [PTX_B16] = {".b16", 2, 0},
    [PTX_B32] = {".b32", 4, 0},
    [PTX_B64] = {".b64", 8, 0},
    [PTX_B128] = {".b128", 16, 0},
    [PTX_U8] = {".u8", 1, 0},
    [PTX_U16] = {".u16", 2, 0},
    [PTX_U32] = {".u32", 4, 0},
    [PTX_U64] = {".u64", 8, 0},
    [PTX_S8] = {".s8", 1, SIGNED},
    [PTX_S16] = {".s16", 2, SIGNED},
    [PTX_S32] = {".s32", 4, SIGNED},
    [PTX_S64] = {".s64", 8, SIGNED},
    [PTX_F16] = {".f16", 2, FLOAT},
    [PTX_BF16] = {".bf16", 2, FLOAT},
    [PTX_TF32] = {".tf32", 4, FLOAT},
    [PTX_F32] = {".f32", 4, FLOAT},
    [PTX_F64] = {".f64", 8, FLOAT},
    [PTX_F16X2] = {".f16x2", 4, FLOAT},
    [PTX_BF16X2] = {".bf16x2", 4, FLOAT},
    [PTX_F32X2] = {".f32x2", 8, FLOAT},
    [PTX_U16X2] = {".u16x2", 4, 0},
    [PTX_S16X2] = {".s16x2", 4, SIGNED},
    [PTX_E4M3] = {".e4m3", 1, FLOAT},
    [PTX_E5M2] = {".e5m2", 1, FLOAT},
    [PTX_E4M3X2] = {".e4m3x2", 2, FLOAT},
    [PTX_E5M2X2] = {".e5m2x2", 2, FLOAT},
    [PTX_E2M1] = {".e2m1", 0, FLOAT},
    [PTX_E2M3] = {".e2m3", 1, FLOAT},
    [PTX_E3M2] = {".e3m2", 1, FLOAT},
    [PTX_UE8M0] = {".ue8m0", 1, FLOAT},
    [PTX_UE4M3] = {".ue4m3", 1, FLOAT},
    [PTX_E2M1X2] = {".e2m1x2", 1, FLOAT},
    [PTX_E2M3X2] = {".e2m3x2", 2, FLOAT},
    [PTX_E3M2X2] = {".e3m2x2", 2, FLOAT},
    [PTX_UE8M0X2] = {".ue8m0x2", 2, FLOAT},
    [PTX_E4M3X4] = {".e4m3x4", 4, FLOAT},
    [PTX_E5M2X4] = {".e5m2x4", 4, FLOAT},
    [PTX_E2M1X4] = {".e2m1x4", 2, FLOAT},
    [PTX_E2M3X4] = {".e2m3x4", 4, FLOAT},
    [PTX_E3M2X4] = {".e3m2x4", 4, FLOAT},
    [PTX_B1024] = {".b1024", 128, 0},
    [PTX_U4] = {".u4", 0, 0},
    [PTX_S4] = {".s4", 0, SIGNED},
    [PTX_B1] = {".b1", 0, 0},
    [PTX_U2] = {".u2", 0, 0},
    [PTX_S2] = {".s2", 0, SIGNED},
    [PTX_TEXREF] = {".texref", 0, 0},
    [PTX_SAMPLERREF] = {".samplerref", 0, 0},
    [PTX_SURFREF] = {".surfref", 0, 0},
};

static const struct {
    const char *name;
    uint8_t space;
} spaces[] = {
    {"const", PTX_CONST},
    {"global", PTX_GLOBAL},
    {"local", PTX_LOCAL},
    {"param", PTX_PARAM},
    {"param::entry", PTX_PARAM},
    {"param::func", PTX_PARAM},
    {"reg", PTX_REG},
    {"shared", PTX_SHARED},
    {"shared::cta", PTX_SHARED},
    {"shared::cluster", PTX_SHARED_CLUSTER},
};

const char *ptx_type_name(enum ptx_type t) {
    return (unsigned)t < PTX_TYPES ? types[t].name : "";
}

unsigned ptx_type_bytes(enum ptx_type t) {
    return (unsigned)t < PTX_TYPES ? types[t].bytes : 0;
}

bool ptx_type_signed(enum ptx_type t) {
    return (unsigned)t < PTX_TYPES && types[t].flags & SIGNED;
}

bool ptx_type_float(enum ptx_type t) {
    return (unsigned)t < PTX_TYPES && types[t].flags & FLOAT;
}

/* Open addressing; at most half full. Filled once, then only read. */
#define SLOTS 1024
struct name_slot {
    const char *name; /* NULL = free */
    size_t len;
    int value;            /* opcode or special */
    struct ptx_word word; /* of a dotted word */
};
struct name_table {
    struct name_slot slots[SLOTS];
    size_t count;
};
static struct name_table opcodes_by_name, words_by_name, specials_by_name;
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static uint32_t hash(const char *s, size_t len) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < len; i++) {
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    }
    return h ^ h >> 15;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct name_slot *slot_of(struct name_table *t, const char *name, size_t len) {
    for (uint32_t i = hash(name, len) % SLOTS;; i = (i + 1) % SLOTS) {
        struct name_slot *slot = &t->slots[i];
        if (!slot->name || (slot->len == len && memcmp(slot->name, name, len) == 0)) {
            return slot;
        }
    }
}

static struct name_slot *add(struct name_table *t, const char *name) {
    struct name_slot *slot = slot_of(t, name, strlen(name));
    if (!slot->name) {
        if (++t->count > SLOTS / 2) {
            abort(); /* a bigger SLOTS is due */
        }
        *slot = (struct name_slot){name, strlen(name), 0, {.modifier = -1}};
    }
    return slot;
}

static void fill(void) {
    for (int i = 0; i < PTX_OPCODES; i++) {
        add(&opcodes_by_name, opcode_names[i])->value = i;
    }
    for (int i = 0; i < PTX_SPECIALS; i++) {
        add(&specials_by_name, special_names[i])->value = i;
    }
    for (int i = 0; i < PTX_MODIFIERS; i++) {
        add(&words_by_name, modifier_names[i])->word.modifier = i;
    }
    for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
        add(&words_by_name, spaces[i].name)->word.space = spaces[i].space;
    }
    for (int i = PTX_NONE + 1; i < PTX_TYPES; i++) {
        add(&words_by_name, types[i].name + 1)->word.type = (uint8_t)i;
    }
    for (uint8_t i = 2; i <= 8; i = (uint8_t)(i * 2)) {
        add(&words_by_name, i == 2 ? "v2" : i == 4 ? "v4" : "v8")->word.vector = i;
    }
}

static const struct name_slot *find(struct name_table *t, const char *name, size_t len) {
    pthread_once(&filled, fill);
    const struct name_slot *slot = slot_of(t, name, len);
    return slot->name ? slot : NULL;
}

int ptx_opcode_find(const char *word, size_t len) {
    const struct name_slot *slot = find(&opcodes_by_name, word, len);
    return slot ? slot->value : -1;
}

int ptx_special_find(const char *word, size_t len) {
    const struct name_slot *slot = find(&specials_by_name, word, len);
    return slot ? slot->value : -1;
}

/* "16" of m16…: at most three digits, no leading zero. */
static const char *take_extent(const char *at, const char *end, char letter,
                               uint16_t *ret) {
    if (!at || at == end || *at != letter) {
        return NULL;
    }
    unsigned value = 0;
    const char *digits = ++at;
    while (at < end && at < digits + 3 && *at >= '0' && *at <= '9') {
        value = value * 10 + (unsigned)(*at++ - '0');
    }
    *ret = (uint16_t)value;
    return value > 0 && *digits != '0' ? at : NULL;
}

static bool read_shape(const char *word, size_t len, uint16_t shape[3]) {
    const char *end = word + len;
    uint16_t m = 0, n = 0, k = 0;
    const char *at = take_extent(word, end, 'm', &m);
    at = take_extent(at, end, 'n', &n);
    if (at && at < end) {
        at = take_extent(at, end, 'k', &k);
    }
    if (at != end || !at) {
        return false;
    }
    shape[0] = m, shape[1] = n, shape[2] = k;
    return true;
}

bool ptx_word_find(const char *word, size_t len, struct ptx_word *ret) {
    const struct name_slot *slot = find(&words_by_name, word, len);
    *ret = slot ? slot->word : (struct ptx_word){.modifier = -1};
    bool shaped = len > 0 && word[0] == 'm' && read_shape(word, len, ret->shape);
    return slot || shaped;
}
