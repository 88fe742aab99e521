#include "gpu/source/host_behind.h"

#include "base/buf.h"
#include "gpu/source/cuda_lexer.h"

static bool is_conditional(const struct code_tokens *t, size_t base, size_t offset) {
    int depth = 0;
    struct cuda_directive d;
    for (size_t i = 0; i < t->count && t->list[i].start < offset; i++) {
        if (t->list[i].start >= base && code_token_directive(t, i, &d)) {
            depth += cuda_directive_nests(&d);
            cuda_directive_finish(&d);
        }
    }
    return depth > 0;
}

static size_t count_lines(const char *text, size_t from, size_t to) {
    size_t n = 0;
    for (; from < to; from++) {
        n += text[from] == '\n';
    }
    return n;
}

bool host_behind_add(struct buf *out, const struct host_blanker *b,
                     const struct host_launch *launch, size_t base) {
    if (is_conditional(&b->tokens, base, launch->offset)) {
        return false;
    }
    autofree char *scope = host_scope_name(&b->tokens, &b->declarations, launch->scope);
    size_t depth = 0;
    buf_addf(out, "\n#line %zu\n", count_lines(b->tokens.text, base, launch->offset) + 1);
    for (char *name = scope, *end; (end = strstr(name, "::")); name = end + 2, depth++) {
        buf_addf(out, "namespace %.*s{", (int)(end - name), name);
    }
    buf_addf(out, "static_assert(&%s,\"\");", launch->expression);
    for (; depth > 0; depth--) {
        buf_addc(out, '}');
    }
    return true;
}

void host_behind_end(struct buf *out, const char *text, size_t len) {
    if (out->len) {
        buf_addf(out, "\n#line %zu",
                 count_lines(text, 0, len) + count_lines(out->data, 0, out->len) + 3);
    }
}
