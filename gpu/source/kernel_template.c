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

/* Types of whole numbers, by what they are mostly called. */
static bool is_number_type(const struct cuda_lexer *l, const struct cuda_token *t) {
    static const char *const words[] = {"int",    "unsigned", "signed", "long",  "short",
                                        "char",   "auto",     "uint",   "uchar", "ushort",
                                        "size_t", "ulong",    "Index"};
    size_t len = t->end - t->start;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (cuda_token_is(l, t, words[i])) {
            return true;
        }
    }
    return len > 2 && memcmp(l->text + t->end - 2, "_t", 2) == 0;
}

/* "ns::Mode(0)" of an enumeration's parameter "const ns::Mode M", with *t its first
 * token. */
static void add_value(struct cuda_lexer peek, struct cuda_token t, struct buf *out) {
    while (cuda_token_is(&peek, &t, "const") || cuda_token_is(&peek, &t, "enum")) {
        t = cuda_lexer_next(&peek);
    }
    struct cuda_token last = t, next = cuda_lexer_next(&peek);
    while (cuda_token_is(&peek, &next, "::")) {
        last = cuda_lexer_next(&peek);
        next = cuda_lexer_next(&peek);
    }
    if (last.kind != CUDA_IDENTIFIER || is_number_type(&peek, &last) ||
        !(next.kind == CUDA_IDENTIFIER || cuda_token_is(&peek, &next, ",") ||
          cuda_token_is(&peek, &next, ">"))) {
        buf_adds(out, "128");
        return;
    }
    buf_addf(out, "%.*s(0)", (int)(last.end - t.start), peek.text + t.start);
}

static void add_example(const struct cuda_lexer *l, const struct cuda_token *t,
                        struct buf *out) {
    if (cuda_token_is(l, t, "typename") || cuda_token_is(l, t, "class")) {
        buf_adds(out, "float");
    } else if (cuda_token_is(l, t, "bool")) {
        buf_adds(out, "true");
    } else {
        add_value(*l, *t, out);
    }
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
            buf_adds(out, out->len ? ", " : "");
            add_example(l, &t, out);
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
