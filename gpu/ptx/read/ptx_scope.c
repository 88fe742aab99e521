#include "gpu/ptx/read/ptx_scope.h"

#define KEPT_ROOM 1024

void ptx_scopes_init(struct ptx_scopes *s, const char *text) {
    *s = (struct ptx_scopes){.text = text, .room = 256, .scope_room = 16};
    s->slots = xcalloc(s->room, sizeof *s->slots);
    s->parents = xcalloc(s->scope_room, sizeof *s->parents);
    s->scope_count = 1;
}

void ptx_scopes_finish(struct ptx_scopes *s) {
    free(s->slots);
    free(s->parents);
    *s = (struct ptx_scopes){0};
}

void ptx_scopes_reset(struct ptx_scopes *s) {
    if (s->room > KEPT_ROOM) { /* a small function after a big one pays for itself only */
        s->room = KEPT_ROOM;
        s->slots = xreallocarray(s->slots, s->room, sizeof *s->slots);
    }
    memset(s->slots, 0, s->room * sizeof *s->slots);
    s->count = s->current = s->depth = 0;
    s->scope_count = 1;
}

/* The slot stays occupied, under an invalid name. */
void ptx_scopes_forget_own(struct ptx_scopes *s) {
    for (uint32_t i = 0; i < s->room; i++) {
        s->slots[i].len = s->slots[i].own ? 0 : s->slots[i].len;
    }
}

bool ptx_scope_open(struct ptx_scopes *s) {
    if (s->depth >= PTX_MAX_DEPTH) {
        return false;
    }
    if (s->scope_count == s->scope_room) {
        s->scope_room *= 2;
        s->parents = xreallocarray(s->parents, s->scope_room, sizeof *s->parents);
    }
    s->parents[s->scope_count] = s->current;
    s->current = s->scope_count++;
    s->depth++;
    return true;
}

bool ptx_scope_close(struct ptx_scopes *s) {
    if (s->depth == 0) {
        return false;
    }
    s->current = s->parents[s->current];
    s->depth--;
    return true;
}

static uint32_t hash_name(const char *name, uint32_t len) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < len; i++) {
        h = (h ^ (uint8_t)name[i]) * 16777619u;
    }
    return h;
}

static uint32_t mix(uint32_t hash, uint32_t scope) {
    uint32_t h = hash ^ scope * 2654435761u;
    return h ^ h >> 15;
}

/* The slot of a name in one scope, or the free one where it belongs. */
static struct ptx_symbol *slot_of(const struct ptx_scopes *s, uint32_t scope,
                                  const char *name, uint32_t len, uint32_t hash) {
    for (uint32_t i = mix(hash, scope);; i++) {
        struct ptx_symbol *slot = &s->slots[i & (s->room - 1)];
        if (slot->scope == 0 ||
            (slot->hash == hash && slot->scope == scope + 1 && slot->len == len &&
             memcmp(s->text + slot->at, name, len) == 0)) {
            return slot;
        }
    }
}

static void grow(struct ptx_scopes *s) {
    struct ptx_scopes old = *s;
    s->room *= 2;
    s->slots = xcalloc(s->room, sizeof *s->slots);
    for (uint32_t i = 0; i < old.room; i++) {
        const struct ptx_symbol *from = &old.slots[i];
        if (from->scope) {
            *slot_of(s, from->scope - 1, s->text + from->at, from->len, from->hash) =
                *from;
        }
    }
    free(old.slots);
}

struct ptx_symbol *ptx_symbol_add(struct ptx_scopes *s, uint32_t at, uint32_t len,
                                  int kind, struct ptx_symbol **ret_old) {
    if (s->count * 2 >= s->room) {
        grow(s);
    }
    uint32_t hash = hash_name(s->text + at, len);
    struct ptx_symbol *slot = slot_of(s, s->current, s->text + at, len, hash);
    if (slot->scope) {
        *ret_old = slot;
        return NULL;
    }
    s->count++;
    *slot = (struct ptx_symbol){at, len, s->current + 1, hash, .kind = (uint8_t)kind};
    return slot;
}

struct ptx_symbol *ptx_symbol_find(struct ptx_scopes *s, uint32_t scope, const char *name,
                                   uint32_t len) {
    uint32_t hash = hash_name(name, len);
    for (;; scope = s->parents[scope]) {
        struct ptx_symbol *slot = slot_of(s, scope, name, len, hash);
        if (slot->scope) {
            return slot;
        }
        if (scope == 0) {
            return NULL;
        }
    }
}

/* The length of %r in %r7, len without a number: digits with no leading zero. */
static uint32_t stem_length(const char *name, uint32_t len, uint32_t *ret_number) {
    uint32_t stem = len;
    while (stem > 1 && len - stem < 7 && name[stem - 1] >= '0' && name[stem - 1] <= '9') {
        stem--;
    }
    if (stem < len && name[stem] == '0' && stem + 1 < len) {
        return len;
    }
    *ret_number = 0;
    for (uint32_t i = stem; i < len; i++) {
        *ret_number = *ret_number * 10 + (uint32_t)(name[i] - '0');
    }
    return stem;
}

struct ptx_symbol *ptx_symbol_find_numbered(struct ptx_scopes *s, uint32_t scope,
                                            const char *name, uint32_t len,
                                            uint32_t *ret_number) {
    uint32_t number = 0, stem = stem_length(name, len, &number);
    uint32_t hash = hash_name(name, len), stem_hash = hash_name(name, stem);
    for (;; scope = s->parents[scope]) {
        struct ptx_symbol *slot = slot_of(s, scope, name, len, hash);
        if (slot->scope && slot->kind != PTX_SYMBOL_RANGE) {
            *ret_number = 0;
            return slot;
        }
        slot = stem < len ? slot_of(s, scope, name, stem, stem_hash) : slot;
        if (stem < len && slot->scope && slot->kind == PTX_SYMBOL_RANGE &&
            number < slot->count) {
            *ret_number = number;
            return slot;
        }
        if (scope == 0) {
            return NULL;
        }
    }
}
