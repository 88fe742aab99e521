#include "skills/traces/trace_branch.h"

#include "skills/traces/trace_build.h"

uint64_t branch_hash(const char *id) {
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    if (!id || !*id) {
        return 0;
    }
    for (; *id; id++) {
        h = (h ^ (unsigned char)*id) * 1099511628211u;
    }
    return h ? h : 1;
}

/* Slot of the id, or the free one where it would go. */
static size_t slot_of(const struct branch *b, uint64_t id) {
    size_t mask = b->slot_count - 1, at = (size_t)(id ^ id >> 32) & mask;
    while (b->slots[at] && b->records[b->slots[at] - 1].id != id) {
        at = (at + 1) & mask;
    }
    return at;
}

static void grow(struct branch *b) {
    b->cap = b->cap ? b->cap * 2 : 256;
    b->records = xreallocarray(b->records, b->cap, sizeof *b->records);
    free(b->slots);
    b->slot_count = b->cap * 2;
    b->slots = xcalloc(b->slot_count, sizeof *b->slots);
    for (size_t i = 0; i < b->count; i++) {
        if (b->records[i].id) {
            b->slots[slot_of(b, b->records[i].id)] = (uint32_t)i + 1;
        }
    }
}

uint32_t branch_add(struct branch *b, const struct branch_record *record) {
    if (b->count >= BRANCH_MAX) {
        b->full = true;
        return UINT32_MAX;
    }
    if (b->count == b->cap) {
        grow(b);
    }
    size_t slot = record->id ? slot_of(b, record->id) : 0;
    if (record->id && b->slots[slot]) {
        return 0;
    }
    b->records[b->count++] = *record;
    if (record->id) {
        b->slots[slot] = (uint32_t)b->count;
    }
    return (uint32_t)b->count;
}

/* The record's parent (from 1), 0: none. A parent that is not in the file (it was trimmed
 * or compacted away) is the record before. */
static uint32_t parent_of(const struct branch *b, uint32_t number) {
    const struct branch_record *r = &b->records[number - 1];
    if (!r->parent) {
        return 0;
    }
    uint32_t parent = b->slots[slot_of(b, r->parent)];
    return parent ? parent : number - 1;
}

/* A note on the path (a hook's progress) is no turn that was taken back: what hangs
 * beside it was said before. */
static void keep_path(struct branch *b, uint32_t leaf) {
    for (bool note = false; leaf && !b->records[leaf - 1].kept; leaf = parent_of(b, leaf)) {
        b->records[leaf - 1].kept = true;
        b->records[leaf - 1].open = note;
        note = !b->records[leaf - 1].leaf;
    }
}

static void keep_beside_notes(struct branch *b) {
    for (uint32_t i = 1; i <= b->count; i++) {
        uint32_t parent = parent_of(b, i);
        if (!b->records[i - 1].kept && parent && b->records[parent - 1].open) {
            b->records[i - 1].kept = b->records[i - 1].open = true;
        }
    }
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool is_in(const uint32_t *list, size_t count, uint32_t value) {
    return value && bsearch(&value, list, count, sizeof *list, compare) != NULL;
}

/* Lines of a message that is kept: its parallel calls hang side by side. */
static void keep_groups(struct branch *b) {
    autofree uint32_t *groups = xcalloc(b->count + 1, sizeof *groups);
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (b->records[i].kept && b->records[i].group) {
            groups[count++] = b->records[i].group;
        }
    }
    qsort(groups, count, sizeof *groups, compare);
    for (size_t i = 0; i < b->count; i++) {
        struct branch_record *r = &b->records[i];
        r->kept = r->kept || is_in(groups, count, r->group);
    }
}

/* Answers hang below the line of their call. */
static void keep_answers(struct branch *b) {
    for (uint32_t i = 1; i <= b->count; i++) {
        struct branch_record *r = &b->records[i - 1];
        if (!r->kept && r->call) {
            uint32_t parent = parent_of(b, i);
            r->kept = parent && b->records[parent - 1].kept;
        }
    }
}

/* False: keep everything. */
static bool choose(struct branch *b) {
    uint32_t leaf = (uint32_t)b->count;
    if (b->full || b->loose) {
        return false;
    }
    while (leaf && !b->records[leaf - 1].leaf) {
        leaf--;
    }
    if (!leaf) {
        return false;
    }
    keep_path(b, leaf);
    keep_beside_notes(b);
    keep_groups(b);
    keep_answers(b);
    return true;
}

void branch_finish(struct branch *b) {
    free(b->records);
    free(b->slots);
    *b = (struct branch){0};
}

static bool is_on_branch(void *data, const struct trace_event *,
                         const struct trace_mark *m) {
    const struct branch *branch = data;
    return m->side || !m->record || m->record > branch->count ||
           branch->records[m->record - 1].kept;
}

void branch_filter(struct branch *b, struct trace_build *build) {
    if (choose(b)) {
        build_filter(build, is_on_branch, b);
    }
    branch_finish(b);
}
