#include "gpu/draft/draft_launch.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/host/host_params.h"

#include <stdio.h>

/* "k<256><<<grid, block>>>", word by word. */
static bool is_alike(const struct kernel_launch *a, const struct kernel_launch *b) {
    const struct code_tokens *t = a->name.t;
    size_t count = a->config.to - a->name.from;
    bool alike = count == b->config.to - b->name.from;
    for (size_t i = 0; alike && i < count; i++) {
        alike =
            code_token_hash(t, a->name.from + i) == code_token_hash(t, b->name.from + i);
    }
    return alike;
}

bool draft_launch_find(struct host_program *p, const struct declaration *kernel,
                       struct kernel_launch *ret) {
    const struct code_tokens *t = &p->b.tokens;
    uint64_t name = code_token_hash(t, kernel->name);
    bool known = false, alone = true;
    *ret = (struct kernel_launch){.found = false};
    for (size_t i = 1; i < t->count; i++) {
        struct kernel_launch one;
        if (!kernel_launch_at(p, i, &one) || code_token_hash(t, one.name.from) != name) {
            continue;
        }
        alone = alone && (!ret->found || is_alike(ret, &one));
        struct host_sizes sizes = {0};
        kernel_launch_read(p, &sizes, &one);
        bool better = one.has_grid && one.has_block && !known;
        known = known || better;
        if (better || !ret->found) {
            *ret = one;
        }
    }
    return alone;
}

/* Whether an example is among the sizes from `first` on. */
static bool stands_in(const struct host_sizes *sizes, size_t first) {
    return any_of(i, first, sizes->count, sizes->list[i].stands_in);
}

/* One template argument: a number, or a type that needs no name of the source. */
static bool write_argument(struct host_program *p, struct host_sizes *sizes,
                           const struct place *part, struct buf *out) {
    struct amount a;
    struct host_param type;
    const struct code_tokens *t = part->t;
    size_t before = sizes->count;
    host_param_read(t, part->from, part->to, &type);
    bool plain = (type.type != TENSOR_TYPES && !*type.name) ||
                 code_token_in(t, part->from, "true false");
    if (!plain) {
        bool known = host_amount(p, sizes, part, &a) && !stands_in(sizes, before);
        buf_addf(out, "%lld", known ? (long long)a.value : 0);
        return known;
    }
    for (size_t i = part->from; i < part->to; i++) {
        buf_addf(out, "%s%.*s", i > part->from ? " " : "",
                 (int)(t->list[i].end - t->list[i].start), t->text + t->list[i].start);
    }
    return true;
}

char *draft_launch_kernel(struct host_program *p, struct host_sizes *sizes,
                          const struct declaration *kernel,
                          const struct kernel_launch *launch) {
    char *name = host_qualified_name(&p->b.tokens, &p->b.declarations, kernel);
    const struct code_tokens *t = launch->name.t;
    size_t angle = launch->name.from + 1;
    if (!launch->found || code_word(t, angle) != WORD_LESS) {
        return name;
    }
    struct place part, list = launch->name;
    list.from = angle + 1;
    list.to = code_angles_end(t, angle);
    autobuf text = BUF_INIT(4096);
    bool fixes = sizes->fixes, good = list.to > angle;
    sizes->fixes = true;
    buf_addf(&text, "%s<", name);
    for (size_t n = 0; good && host_part(&list, n, &part); n++) {
        buf_adds(&text, n ? ", " : "");
        good = write_argument(p, sizes, &part, &text);
    }
    sizes->fixes = fixes;
    buf_addc(&text, '>');
    if (!good) {
        return name;
    }
    free(name);
    return buf_detach(&text);
}
