#include "gpu/draft/draft_launch.h"

#include "base/buf.h"
#include "base/mem.h"
#include "gpu/host/host_params.h"

#include <stdio.h>

#define NESTED_MAX 6 /* template parameters that stand for one another */

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
    for (size_t i = first; i < sizes->count; i++) {
        if (sizes->list[i].stands_in) {
            return true;
        }
    }
    return false;
}

/* What a function calls a type, in words that hold outside of it, too. */
static bool write_alias(struct host_program *p, const struct place *alias,
                        unsigned nested, struct buf *out) {
    const struct code_tokens *t = alias->t;
    for (size_t i = alias->from; i < alias->to; i++) {
        struct place inner;
        bool name = code_word(t, i) == WORD_NAME && code_word(t, i - 1) != WORD_SCOPE;
        if (name && host_alias(p, code_token_hash(t, i), &inner) &&
            host_frame_at(p, inner.before)->in) {
            if (nested == NESTED_MAX || !write_alias(p, &inner, nested + 1, out)) {
                return false;
            }
        } else if (name &&
                   host_type_argument(p, alias->frame, code_token_hash(t, i), &inner)) {
            return false;
        } else {
            bool apart = i > alias->from && code_word(t, i) != WORD_SCOPE &&
                         code_word(t, i - 1) != WORD_SCOPE;
            buf_addf(out, "%s%.*s", apart ? " " : "",
                     (int)(t->list[i].end - t->list[i].start),
                     t->text + t->list[i].start);
        }
    }
    return true;
}

/* One template argument: a number, or a plain type. */
static bool write_argument(struct host_program *p, struct host_sizes *sizes,
                           const struct place *part, unsigned nested, struct buf *out) {
    struct amount a;
    struct host_param type;
    struct place alias;
    host_param_read(part->t, part->from, part->to, &type);
    bool is_type = type.type != TENSOR_TYPES && !*type.name;
    bool word = part->to == part->from + 1 && code_word(part->t, part->from) == WORD_NAME;
    uint64_t name = word ? code_token_hash(part->t, part->from) : 0;
    if (!is_type && word && nested < NESTED_MAX &&
        host_type_argument(p, part->frame, name, &alias)) {
        return write_argument(p, sizes, &alias, nested + 1, out);
    }
    if (!is_type && word && host_alias(p, name, &alias)) {
        if (host_frame_at(p, alias.before)->in) { /* it ends with its function */
            alias.frame = part->frame;
            return write_alias(p, &alias, 0, out);
        }
        is_type = true;
    }
    if (!is_type && word && host_function_find(p, part->t, part->from)) {
        is_type = true; /* a function: its name will do */
    }
    is_type |= word && (code_token_is(part->t, part->from, "true") ||
                        code_token_is(part->t, part->from, "false"));
    size_t before = sizes->count;
    if (!is_type && (!host_amount(p, sizes, part, &a) || stands_in(sizes, before))) {
        return false;
    }
    if (!is_type) {
        buf_addf(out, "%lld", (long long)a.value);
        return true;
    }
    for (size_t i = part->from; i < part->to; i++) {
        const struct code_token *token = &part->t->list[i];
        buf_addf(out, "%s%.*s", i > part->from ? " " : "",
                 (int)(token->end - token->start), part->t->text + token->start);
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
        good = write_argument(p, sizes, &part, 0, &text);
    }
    sizes->fixes = fixes;
    buf_addc(&text, '>');
    if (!good) {
        return name;
    }
    free(name);
    return buf_detach(&text);
}
