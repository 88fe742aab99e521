#pragma once
/* graph: operations with dependencies, to be executed many times. Handles are checked
 * against lists of existing graphs. These functions do not take runtime.lock: the callers
 * hold it. */
#include "gpu/runtime/order.h"

enum node_type { /* cudaGraphNodeType */
                 NODE_KERNEL,
                 NODE_COPY,
                 NODE_SET,
                 NODE_HOST,
                 NODE_CHILD,
                 NODE_EMPTY,
                 NODE_WAIT,
                 NODE_RECORD,
                 NODE_ALLOCATE = 10,
                 NODE_FREE,
                 NODE_CONDITIONAL = 13,
};

struct node {
    enum node_type type;
    struct op *op;       /* owned; NULL: the node does nothing itself */
    struct graph *child; /* owned, for NODE_CHILD */
    struct node **needs;
    size_t need_count;
    struct node *original; /* of a clone */
    bool placed;           /* used while ordering */
    bool disabled;         /* a launch leaves it out */
    /* Of its latest launch; continued: by a node that needs it. */
    struct order_branch branch;
    bool continued;
};

struct graph_condition {         /* what kernels set for conditional nodes */
    struct allocation *in; /* a word, whose address is the handle */
    bool has_first;
    unsigned first; /* its value when the graph begins, if it has one */
};

struct graph {
    struct graph *next;
    struct node **nodes; /* in the order of their addition */
    size_t count;
    struct graph_condition *conditions;
    size_t condition_count;
    struct held_object {
        struct user_object *object;
        unsigned count;
    } * objects;
    size_t object_count;
    bool frees_first; /* a launch frees what the last one left */
    struct order_clock ended; /* when its last launch ends: the next one waits for it */
    unsigned first_branch;    /* of its launches; 0: not launched */
};

/* A launch, or a run of a conditional node's body. */
struct graph_course {
    uint64_t number;
    unsigned branches; /* so far */
};
uint64_t graph_course_number(void);
/* Sets the node's branch, when those that it needs have theirs. begin: when all begin. */
void node_begin(struct graph_course *l, struct node *n, const struct order_clock *begin);

struct graph *graph_new(void);
void graph_free(struct graph *g);               /* NULL is fine */
/* Takes over `count` uses of the object. */
void graph_add_object(struct graph *g, struct user_object *o, unsigned count);
/* false: it holds fewer. */
bool graph_drop_object(struct graph *g, struct user_object *o, unsigned count);
void graph_add_condition(struct graph *g, const struct graph_condition *c);
struct graph *graph_find(struct graph *handle); /* a known one, or NULL */
void graph_know(struct graph *g);               /* the program gets its handle */
void graph_forget(struct graph *g);
struct graph *graph_holding(const struct node *n); /* a known one; NULL: no such node */
void graph_remove(struct graph *g, struct node *n); /* and its dependencies */
/* The clone of a node in a copy of its graph; NULL. */
struct node *graph_clone_of(const struct graph *copy, const struct node *original);
/* Takes ownership of op. needs may contain NULLs. */
struct node *graph_add(struct graph *g, enum node_type type, struct op *op,
                       struct node *const *needs, size_t count);
void node_need(struct node *n, struct node *needed);
void node_need_no_more(struct node *n, const struct node *needed);
struct graph *graph_copy(const struct graph *g);
/* Sorts nodes in place so that each follows its dependencies; false: there is a cycle. */
bool graph_sort(struct graph *g);
