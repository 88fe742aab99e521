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
static void merge_fixes(struct lessons *l) {
    size_t kept = 0;
    for (size_t i = 0; i < l->fix_count; i++) {
        size_t k = 0;
        while (k < kept && !(same(l->fixes[k].error, l->fixes[i].error) &&
                             same_changes(&l->fixes[k], &l->fixes[i]))) {
            k++;
        }
        if (k == kept) {
            l->fixes[kept++] = l->fixes[i];
            continue;
        }
        l->fixes[k].seen += l->fixes[i].seen;
        join(&l->fixes[k].evidence, &l->fixes[i].evidence);
        if (!l->fixes[k].cause) {
            l->fixes[k].cause = take(l->fixes[i].cause);
        }
        lesson_fix_finish(&l->fixes[i]);
    }
    l->fix_count = kept;
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

static bool is_fixed(const struct lessons *l, const char *error) {
    for (size_t i = 0; i < l->fix_count; i++) {
        if (same(l->fixes[i].error, error)) {
            return true;
        }
    }
    return false;
}

/* What one trace could not do and another could is no dead end. */
static void drop_dead_ends(struct lessons *l) {
    size_t kept = 0;
    for (size_t i = 0; i < l->dead_end_count; i++) {
        struct lesson_dead_end *d = &l->dead_ends[i];
        if (is_fixed(l, d->error)) {
            free(d->error);
            free(d->quote);
            free(d->context);
            free(d->evidence.list);
        } else {
            l->dead_ends[kept++] = *d;
        }
    }
    l->dead_end_count = kept;
}

static void merge_corrections(struct lessons *l) {
    size_t kept = 0;
    for (size_t i = 0; i < l->correction_count; i++) {
        struct lesson_correction *c = &l->corrections[i];
        size_t k = 0;
        while (k < kept && !same(l->corrections[k].text, c->text)) {
            k++;
        }
        if (k == kept) {
            l->corrections[kept++] = *c;
            continue;
        }
        join(&l->corrections[k].evidence, &c->evidence);
        free(c->text);
        free(c->heeded);
        free(c->instead);
        free(c->evidence.list);
    }
    l->correction_count = kept;
}

/* An error that is told as such is no further limit. */
static bool is_error(const struct lessons *l, const char *text) {
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

static void drop_told_limits(struct lessons *l) {
    size_t kept = 0;
    for (size_t i = 0; i < l->limit_count; i++) {
        if (is_error(l, l->limits[i].text)) {
            free(l->limits[i].text);
            free(l->limits[i].evidence.list);
        } else {
            l->limits[kept++] = l->limits[i];
        }
    }
    l->limit_count = kept;
}

void lessons_consolidate(struct lessons *l) {
    merge_fixes(l);
    order_fixes(l);
    drop_dead_ends(l);
    merge_corrections(l);
    drop_told_limits(l);
}
