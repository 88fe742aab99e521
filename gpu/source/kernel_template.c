#include "gpu/source/kernel_template.h"

#include "base/buf.h"
#include "base/mem.h"
#include "gpu/source/cuda_lexer.h"

#include <string.h>

enum { EXAMPLE_MAX = 256 };

/* Inside parentheses > is an operator. */
struct nesting {
    int angles, rounds;
};

static void nest(struct nesting *n, const struct cuda_lexer *l,
                 const struct cuda_token *t) {
    n->rounds += cuda_token_is(l, t, "(") || cuda_token_is(l, t, "{");
    n->rounds -= cuda_token_is(l, t, ")") || cuda_token_is(l, t, "}");
    if (n->rounds <= 0) {
        n->angles += cuda_token_is(l, t, "<");
        n->angles -= cuda_token_is(l, t, ">") ? 1 : 2 * cuda_token_is(l, t, ">>");
        n->angles -= 3 * cuda_token_is(l, t, ">>>");
    }
}

static const char *example_of(const struct cuda_lexer *l, const struct cuda_token *t) {
    bool type = cuda_token_is(l, t, "typename") || cuda_token_is(l, t, "class");
    return type ? "float" : cuda_token_is(l, t, "bool") ? "true" : "128";
}

/* With the lexer behind "template <". */
static void read_parameters(struct cuda_lexer *l, struct buf *out) {
    struct nesting n = {.angles = 1};
    bool first = true;
    for (struct cuda_token t = cuda_lexer_next(l); t.kind != CUDA_END;
         t = cuda_lexer_next(l)) {
        bool outermost = n.angles == 1 && n.rounds == 0;
        nest(&n, l, &t);
        if (n.angles <= 0) {
            return;
        }
        if (outermost && cuda_token_is(l, &t, "=")) { /* so has the rest */
            const char *last = out->len ? memrchr(out->data, ',', out->len) : NULL;
            out->len = last ? (size_t)(last - out->data) : 0;
            return;
        }
        if (outermost && first) {
            buf_addf(out, "%s%s", out->len ? ", " : "", example_of(l, &t));
        }
        first = outermost && cuda_token_is(l, &t, ",");
    }
}

char *kernel_template_example(const char *signature, size_t len) {
    struct buf out = BUF_INIT(EXAMPLE_MAX);
    struct cuda_lexer l;
    cuda_lexer_init(&l, signature, len);
    struct cuda_token word = cuda_lexer_next(&l), angle = cuda_lexer_next(&l);
    if (!cuda_token_is(&l, &word, "template") || !cuda_token_is(&l, &angle, "<")) {
        return xstrdup("float");
    }
    read_parameters(&l, &out);
    buf_addc(&out, '\0');
    char *ret = out.full ? xstrdup("float") : xstrndup(out.data, out.len);
    buf_finish(&out);
    return ret;
}
