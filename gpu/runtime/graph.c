#include "gpu/runtime/graph.h"

#include "base/find.h"
#include "gpu/runtime/user_objects.h"

static struct graph *known;

struct graph *graph_new(void) {
    return xcalloc(1, sizeof(struct graph));
}

static void node_free(struct node *n) {
    if (n->op) {
        n->op->free(n->op);
    }
    graph_free(n->child);
    free(n->needs);
    free(n);
}

void graph_free(struct graph *g) {
    for (size_t k = 0; g && k < g->count; k++) {
        node_free(g->nodes[k]);
    }
    free(g ? g->nodes : NULL);
    for (size_t k = 0; g && k < g->object_count; k++) {
        if (g->objects[k].count) {
            user_object_release(g->objects[k].object, g->objects[k].count);
        }
    }
    free(g ? g->conditions : NULL);
    free(g ? g->objects : NULL);
    free(g);
}

void graph_add_condition(struct graph *g, const struct graph_condition *c) {
    g->conditions =
        xreallocarray(g->conditions, g->condition_count + 1, sizeof *g->conditions);
    g->conditions[g->condition_count++] = *c;
}

void graph_add_object(struct graph *g, struct user_object *o, unsigned count) {
    g->objects = xreallocarray(g->objects, g->object_count + 1, sizeof *g->objects);
    g->objects[g->object_count++] = (struct held_object){o, count};
}

bool graph_drop_object(struct graph *g, struct user_object *o, unsigned count) {
    struct held_object *h = list_find(x, g->objects, g->object_count,
                                      x->object == o && x->count >= count);
    if (h) {
        h->count -= count;
        user_object_release(o, count);
    }
    return h != NULL;
}

struct graph *graph_find(struct graph *handle) {
    struct graph *g = known;
    while (g && g != handle) {
        g = g->next;
    }
    return g;
}

static size_t place_of(const struct graph *g, const struct node *n) {
    return first_of(k, 0, g->count, g->nodes[k] == n);
}

struct graph *graph_holding(const struct node *n) {
    struct graph *g = known;
    while (g && place_of(g, n) == g->count) {
        g = g->next;
    }
    return g;
}

void node_need_no_more(struct node *n, const struct node *needed) {
    size_t kept = 0;
    for (size_t k = 0; k < n->need_count; k++) {
        if (n->needs[k] != needed) {
            n->needs[kept++] = n->needs[k];
        }
    }
    n->need_count = kept;
}

void graph_remove(struct graph *g, struct node *n) {
    size_t at = place_of(g, n);
    for (size_t k = 0; k < g->count; k++) {
        node_need_no_more(g->nodes[k], n);
    }
    g->count--;
    memmove(&g->nodes[at], &g->nodes[at + 1], (g->count - at) * sizeof *g->nodes);
    node_free(n);
}

void graph_know(struct graph *g) {
    g->next = known;
    known = g;
}

void graph_forget(struct graph *g) {
    struct graph **at = &known;
    while (*at && *at != g) {
        at = &(*at)->next;
    }
    *at = *at ? g->next : NULL;
}

void node_need(struct node *n, struct node *needed) {
    n->needs = xreallocarray(n->needs, n->need_count + 1, sizeof(struct node *));
    n->needs[n->need_count++] = needed;
}

struct node *graph_add(struct graph *g, enum node_type type, struct op *op,
                       struct node *const *needs, size_t count) {
    struct node *n = xcalloc(1, sizeof *n);
    n->type = type;
    n->op = op;
    for (size_t k = 0; k < count; k++) {
        if (needs[k]) {
            node_need(n, needs[k]);
        }
    }
    g->nodes = xreallocarray(g->nodes, g->count + 1, sizeof(struct node *));
    g->nodes[g->count++] = n;
    return n;
}

struct node *graph_clone_of(const struct graph *g, const struct node *original) {
    size_t at = first_of(k, 0, g->count, g->nodes[k]->original == original);
    return at < g->count ? g->nodes[at] : NULL;
}

struct graph *graph_copy(const struct graph *g) {
    struct graph *copy = graph_new();
    for (size_t k = 0; k < g->count; k++) {
        struct node *from = g->nodes[k];
        struct op *op = from->op && from->op->copy ? from->op->copy(from->op) : NULL;
        struct node *n = graph_add(copy, from->type, op, NULL, 0);
        n->child = from->child ? graph_copy(from->child) : NULL;
        n->original = from;
    }
    for (size_t k = 0; k < g->count; k++) {
        for (size_t d = 0; d < g->nodes[k]->need_count; d++) {
            node_need(copy->nodes[k], graph_clone_of(copy, g->nodes[k]->needs[d]));
        }
    }
    for (size_t k = 0; k < g->condition_count; k++) {
        graph_add_condition(copy, &g->conditions[k]);
    }
    for (size_t k = 0; k < g->object_count; k++) {
        user_object_retain(g->objects[k].object, g->objects[k].count);
        graph_add_object(copy, g->objects[k].object, g->objects[k].count);
    }
    return copy;
}

static bool is_free(const struct node *n) {
    return all_of(d, 0, n->need_count, !n->needs[d] || n->needs[d]->placed);
}

bool graph_sort(struct graph *g) {
    for (size_t k = 0; k < g->count; k++) {
        g->nodes[k]->placed = false;
    }
    for (size_t at = 0; at < g->count; at++) {
        size_t k = at;
        while (k < g->count && !is_free(g->nodes[k])) {
            k++;
        }
        if (k == g->count) {
            return false;
        }
        struct node *n = g->nodes[k];
        memmove(&g->nodes[at + 1], &g->nodes[at], (k - at) * sizeof(struct node *));
        g->nodes[at] = n;
        n->placed = true;
    }
    return true;
}

/* ---- order ---- */

uint64_t graph_course_number(void) {
    static uint64_t courses;
    return __atomic_add_fetch(&courses, 1, __ATOMIC_RELAXED);
}

/* Streams count from the other end. Branches may share a slot: then less is found. */
static unsigned branch_slot(struct graph_course *l) {
    return ORDER_SLOTS - 1 - l->branches++ % (ORDER_SLOTS - 1);
}

/* It goes on with the branch of one that it needs, if no other node does. */
void node_begin(struct graph_course *l, struct node *n, const struct order_clock *begin) {
    n->branch = (struct order_branch){.clock = *begin, .launch = l->number};
    n->continued = false;
    for (size_t k = 0; k < n->need_count; k++) {
        struct node *before = n->needs[k];
        if (!before) {
            continue;
        }
        order_join(&n->branch.clock, &before->branch.clock);
        if (!n->branch.slot && !before->continued) {
            n->branch.slot = before->branch.slot;
            before->continued = true;
        }
    }
    n->branch.slot = n->branch.slot ? n->branch.slot : branch_slot(l);
}
