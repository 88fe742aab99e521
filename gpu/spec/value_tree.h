#pragma once
/* value_tree: a parsed expression, for its evaluation. Part of value_expression. */
#include "gpu/spec/value_expression.h"
#include "gpu/spec/value_functions.h"

enum {
    VALUE_MAX_NODES = 1024,
    VALUE_MAX_VARIABLES = 8, /* i and the indices of nested sums */
    VALUE_MAX_KEYS = 4,      /* the variables on which a remembered sum depends */
};

enum value_node_kind {
    NODE_NUMBER,
    NODE_VARIABLE, /* slot */
    NODE_ELEMENT,  /* input[arg 0] */
    NODE_FUNCTION, /* function->call(args) */
    NODE_CHOICE,   /* arg 0 ? arg 1 : arg 2 */
    NODE_AND,
    NODE_OR,
    NODE_FOLD, /* fold over slot: from arg 0 to arg 1 of arg 2 */
};

struct value_node {
    enum value_node_kind kind;
    bool whole;   /* an index, a size, an integer constant, or computed from these */
    uint8_t uses; /* the variables on which it depends, a bit each */
    uint16_t keys[VALUE_MAX_KEYS]; /* a fold's value depends only on these, */
    unsigned key_count;            /* or there are too many */
    double number;
    unsigned slot;
    const struct value_input *input;
    const struct value_function *function;
    const struct value_fold *fold;
    uint16_t args[3];
};

struct value_expression {
    char *text;
    struct value_node nodes[VALUE_MAX_NODES];
    unsigned count;
    uint16_t root;
};
