#include "gpu/reference/parts.h"

#include "base/parts.h"

struct loop {
    const struct operator_call *c;
    call_body *body;
    const void *data;
};

static int run(void *data, int64_t from, int64_t to) {
    const struct loop *l = data;
    return l->body(l->c, l->data, from, to);
}

int call_parts(struct operator_call *c, int64_t count, int64_t least, call_body *body,
               const void *data) {
    struct loop l = {c, body, data};
    int r = parts_run(count, least, run, &l, c->budget->stopped);
    return r == -ETIME ? call_late(c) : r;
}
