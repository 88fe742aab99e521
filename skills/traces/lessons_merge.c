/* What several traces gave, made one. */
#include "skills/traces/lessons_internal.h"

#include "base/mem.h"

#include <string.h>

static void join(struct evidence_list *to, const struct evidence_list *from) {
    for (size_t i = 0; i < from->count; i++) {
        lessons_add_evidence(to, from->list[i].trace, from->list[i].event,
                             from->list[i].role);
    }
}

static bool same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_changes(const struct lesson_fix *a, const struct lesson_fix *b) {
    if (a->change_count != b->change_count) {
        return false;
    }
    for (size_t i = 0; i < a->change_count; i++) {
        const struct lesson_change *x = &a->changes[i], *y = &b->changes[i];
        if (x->kind != y->kind || !same(x->to, y->to) || !same(x->path, y->path)) {
            return false;
        }
    }
    return true;
}

/* The same failure with the same change is one lesson. */
static bool is_joined(struct lessons *l, void *fix) {
    struct lesson_fix *f = fix;
    for (size_t i = 0; i < l->fix_count; i++) {
        struct lesson_fix *first = &l->fixes[i];
        if (same(first->error, f->error) && same_changes(first, f)) {
            first->seen += f->seen;
            join(&first->evidence, &f->evidence);
            first->cause = first->cause ? first->cause : take(f->cause);
            return true;
        }
    }
    return false;
}

/* Stable: what was seen more often comes first. */
static void order_fixes(struct lessons *l) {
    for (size_t i = 1; i < l->fix_count; i++) {
        struct lesson_fix fix = l->fixes[i];
        size_t k = i;
        for (; k > 0 && l->fixes[k - 1].seen < fix.seen; k--) {
            l->fixes[k] = l->fixes[k - 1];
        }
        l->fixes[k] = fix;
    }
}

/* What one trace could not do and another could is no dead end. */
static bool is_solved(struct lessons *l, void *dead_end) {
    return lessons_find(l, LESSON_FIX, ((struct lesson_dead_end *)dead_end)->error);
}

/* Joined with the same one before it. */
static bool is_repeated(struct lessons *l, void *correction) {
    const struct lesson_correction *c = correction;
    struct lesson_correction *first = lessons_find(l, LESSON_CORRECTION, c->text);
    if (first) {
        join(&first->evidence, &c->evidence);
    }
    return first;
}

/* An error that is told as such is no further limit. */
static bool is_error(struct lessons *l, void *limit) {
    const char *text = ((struct lesson_limit *)limit)->text;
    for (size_t i = 0; i < l->fix_count; i++) {
        if (strstr(l->fixes[i].quote, text) || strstr(text, l->fixes[i].quote)) {
            return true;
        }
    }
    for (size_t i = 0; i < l->dead_end_count; i++) {
        if (strstr(l->dead_ends[i].quote, text)) {
            return true;
        }
    }
    return false;
}

void lessons_consolidate(struct lessons *l) {
    lessons_drop(l, LESSON_FIX, is_joined);
    order_fixes(l);
    lessons_drop(l, LESSON_DEAD_END, is_solved);
    lessons_drop(l, LESSON_CORRECTION, is_repeated);
    lessons_drop(l, LESSON_LIMIT, is_error);
}
