/* Pi's sessions and Hugging Face session traces: a tree of messages, one per line. */
#include "skills/traces/trace_branch.h"
#include "skills/traces/trace_reader.h"

static bool enter(struct trace_build *b, const char *, const json_t *record) {
    const char *id = json_get_string(record, "id", NULL);
    struct branch_record r = {
        .id = branch_hash(id),
        .parent = branch_hash(json_get_string(record, "parentId", NULL)),
        .leaf = true,
    };
    b->mark.record =
        id && json_object_get(record, "parentId") ? branch_add(b->state, &r) : 0;
    return true;
}

static void pi_end(struct trace_build *b) {
    branch_filter(b->state, b);
}

const struct trace_hooks trace_pi = {
    .state_size = sizeof(struct branch),
    .begin = enter,
    .end = pi_end,
};
