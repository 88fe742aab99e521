#include "gpu/draft/draft_launch.h"

#include "base/buf.h"
#include "base/mem.h"
#include "gpu/host/host_params.h"

#include <stdio.h>

#define NESTED_MAX 6 /* template parameters that stand for one another */

/* "case 4:" and "switch (n)" around a token. False: it is in none. */
static bool case_around(const struct code_tokens *t, size_t i, size_t least,
                        struct place *label, struct place *value) {
    int depth = 0;
    bool found = false;
    for (; i > least; i--) {
        enum code_word w = code_word(t, i);
        depth += w == WORD_BRACE_CLOSE;
        if (depth == 0 && !found && code_token_is(t, i, "case")) {
            label->from = label->to = i + 1;
            while (code_word(t, label->to) != WORD_COLON && label->to < i + 16) {
                label->to++;
            }
            found = true;
        }
        if (w == WORD_BRACE_OPEN && depth-- == 0) {
            size_t open = i - 1;
            for (int n = 0; open > least; open--) {
                n += (code_word(t, open) == WORD_PAREN_CLOSE) -
                     (code_word(t, open) == WORD_PAREN_OPEN);
                if (n <= 0) {
                    break;
                }
            }
            if (code_token_is(t, open - 1, "switch")) {
                value->from = open + 1;
                value->to = i - 1;
                return found;
            }
            depth = 0;
            found = false;
        }
    }
    return false;
}

/* The condition of the if whose block, or statement, token i is in; *value: what is in
 * its brackets. */
static bool if_around(const struct code_tokens *t, size_t i, size_t least,
                      struct place *value) {
    int depth = 0;
    bool alone = true; /* no statement stands between */
    for (i--; i > least; i--) {
        enum code_word w = code_word(t, i);
        depth += w == WORD_BRACE_CLOSE;
        if (depth == 0 && (w == WORD_BRACE_OPEN || (w == WORD_PAREN_CLOSE && alone))) {
            i -= w == WORD_BRACE_OPEN;
            break;
        }
        alone = alone && w != WORD_SEMICOLON && w != WORD_BRACE_CLOSE;
        depth -= w == WORD_BRACE_OPEN;
    }
    value->to = i;
    for (int n = 0; i > least; i--) {
        n += (code_word(t, i) == WORD_PAREN_CLOSE) - (code_word(t, i) == WORD_PAREN_OPEN);
        if (n <= 0) {
            break;
        }
    }
    value->from = i + 1;
    return code_word(t, i) == WORD_PAREN_OPEN && code_token_is(t, i - 1, "if");
}

/* Whether the program as it stands would take the launch: false where a switch has
 * another value, or its if says no. */
static bool is_taken(struct host_program *p, const struct place *at) {
    struct place label = *at, value = *at;
    struct host_sizes sizes = {.fixes = true};
    struct amount a, b;
    bool yes;
    const struct declaration *in = at->frame ? at->frame->in : NULL;
    if (!in) {
        return true;
    }
    if (if_around(at->t, at->from, in->body, &value) && host_condition(p, &value, &yes) &&
        !yes) {
        return false;
    }
    return !case_around(at->t, at->from, in->body, &label, &value) ||
           !host_amount(p, &sizes, &label, &a) || !host_amount(p, &sizes, &value, &b) ||
           a.value == b.value;
}

void draft_launch_find(struct host_program *p, const struct declaration *kernel,
                       struct kernel_launch *ret) {
    const struct code_tokens *t = &p->b.tokens;
    uint64_t name = code_token_hash(t, kernel->name);
    int best = -1;
    *ret = (struct kernel_launch){.found = false};
    for (size_t i = 1; i < t->count && best < 3; i++) {
        struct kernel_launch one;
        if (!kernel_launch_at(p, i, &one) || code_token_hash(t, one.name.from) != name) {
            continue;
        }
        struct host_sizes sizes = {0};
        kernel_launch_read(p, &sizes, &one);
        int good = 2 * (one.has_grid && one.has_block) + is_taken(p, &one.name);
        if (good > best) {
            best = good;
            *ret = one;
        }
    }
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
    is_type |= word && host_alias(p, name, &alias);
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
