/* Merges the lessons of several traces. */
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#define OPTION_MARK "  # " /* behind a command: lessons_again.c */

static void join(struct evidence_list *to, const struct evidence_list *from) {
    for (size_t i = 0; i < from->count; i++) {
        lessons_add_evidence(to, from->list[i].trace, from->list[i].event,
                             from->list[i].role);
    }
}

static bool same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_changes(const struct lesson *a, const struct lesson *b) {
    const struct lesson_change *x = a->changes, *y = b->changes;
    return a->change_count == b->change_count &&
           all_of(i, 0, a->change_count,
                  x[i].kind == y[i].kind && same(x[i].to, y[i].to) &&
                      same(x[i].path, y[i].path));
}

/* The calls of both asked for the same besides: "  # sandbox_permissions=…". */
static bool same_option(const char *a, const char *b) {
    const char *x = strstr(a, OPTION_MARK), *y = strstr(b, OPTION_MARK);
    return x && y && strcmp(x, y) == 0;
}

/* The same command failed with the same error, and another one took its place: either will do. Or
 * several commands needed the same option of their calls. */
static bool adds_remedy(struct lesson *a, struct lesson *b) {
    const struct lesson_change *now = b->changes;
    bool single = b->change_count == 1 && now->kind == CHANGE_COMMAND;
    bool other = single && same(a->key, b->key) &&
                 all_of(i, 0, a->change_count, a->changes[i].kind == CHANGE_COMMAND &&
                                                   same(a->changes[i].from, now->from) &&
                                                   !same(a->changes[i].to, now->to));
    bool option = single && all_of(i, 0, a->change_count, a->changes[i].kind == CHANGE_COMMAND &&
                                                              same_option(a->changes[i].to, now->to));
    if ((other || option) && a->change_count < LESSON_MAX_CHANGES) {
        struct lesson_change *c = lesson_add_change(a, CHANGE_COMMAND);
        c->from = take(b->changes->from);
        c->to = take(b->changes->to);
    }
    return other || option;
}

/* One run proved both. */
static bool same_proof(const struct lesson *a, const struct lesson *b) {
    return list_any(x, a->evidence.list, a->evidence.count,
                    x->role == EVIDENCE_PROOF &&
                        list_any(y, b->evidence.list, b->evidence.count,
                                 y->role == EVIDENCE_PROOF && y->trace == x->trace &&
                                     y->event == x->event));
}

/* The same failure with the same change is one lesson, and so are two that one change
 * ended: what was seen less often says more. */
static bool is_joined(struct lessons *l, struct lesson *f) {
    list_each(i, first, l->fixes.list, l->fixes.count) {
        bool joined = same_changes(first, f) && (same(first->key, f->key) || same_proof(first, f));
        if (joined || adds_remedy(first, f)) {
            if (!same(first->key, f->key) && f->seen < first->seen) {
                struct lesson general = *first;
                *first = *f;
                *f = general;
            }
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
    for (size_t i = 1; i < l->fixes.count; i++) {
        struct lesson fix = l->fixes.list[i];
        size_t k = i;
        for (; k > 0 && l->fixes.list[k - 1].seen < fix.seen; k--) {
            l->fixes.list[k] = l->fixes.list[k - 1];
        }
        l->fixes.list[k] = fix;
    }
}

/* Joined with the same one before it. */
static bool is_repeated(struct lessons *l, struct lesson *c) {
    struct lesson *first = lesson_list_find(&l->corrections, c->key);
    if (first) {
        join(&first->evidence, &c->evidence);
    }
    return first;
}

/* It tells a command that a person corrected. */
static bool is_refuted(const struct lesson *c, const char *text) {
    return text && ((c->context && strcmp(c->context, text) == 0) ||
                    (c->instead && lesson_has_word(text, c->instead) &&
                     !lesson_has_word(text, c->heeded)));
}

static bool is_corrected(struct lessons *l, struct lesson *f) {
    list_each(i, c, l->corrections.list, l->corrections.count) {
        const char *told = f->verified_by ? f->verified_by : f->key;
        if (is_refuted(c, told) || list_any(one, f->changes, f->change_count,
                                            one->kind != CHANGE_EDIT && is_refuted(c, one->to))) {
            return true;
        }
    }
    return false;
}

/* An error that is reported as such is not also a limit. */
static bool is_error(struct lessons *l, struct lesson *limit) {
    const char *text = limit->key;
    return list_any(one, l->fixes.list, l->fixes.count,
                    strstr(one->quote, text) || strstr(text, one->quote));
}

void lessons_consolidate(struct lessons *l) {
    lesson_list_drop(&l->fixes, l, is_joined);
    order_fixes(l);
    lesson_list_drop(&l->corrections, l, is_repeated);
    lesson_list_drop(&l->fixes, l, is_corrected);
    lesson_list_drop(&l->commands, l, is_corrected);
    lesson_list_drop(&l->limits, l, is_error);
}
