#include "gpu/source/kernel_template.h"

#include "base/buf.h"
#include "gpu/source/host_parameters.h"

enum { EXAMPLE_MAX = 256 };

/* Types of whole numbers, by what they are mostly called. */
static bool is_number_type(const struct code_tokens *t, size_t i) {
    size_t len = t->list[i].end - t->list[i].start;
    return code_word(t, i) == WORD_TYPE ||
           code_token_in(t, i, "uint uchar ushort size_t ulong Index") ||
           (len > 2 && memcmp(t->text + t->list[i].end - 2, "_t", 2) == 0);
}

/* "ns::Mode(0)" of an enumeration's parameter "const ns::Mode M". */
static void add_value(const struct code_tokens *t, struct list_part part,
                      struct buf *out) {
    size_t first = part.from;
    while (code_word(t, first) == WORD_CONST || code_word(t, first) == WORD_ENUM) {
        first++;
    }
    size_t last = first;
    while (code_word(t, last + 1) == WORD_SCOPE) {
        last += 2;
    }
    bool named = last + 1 == part.to || code_word(t, last + 1) == WORD_NAME;
    if (code_word(t, last) != WORD_NAME || is_number_type(t, last) || !named) {
        buf_adds(out, "128");
    } else {
        size_t start = t->list[first].start;
        buf_addf(out, "%.*s(0)", (int)(t->list[last].end - start), t->text + start);
    }
}

static void add_example(const struct code_tokens *t, struct list_part part,
                        struct buf *out) {
    enum code_word first = code_word(t, part.from);
    buf_adds(out, out->len ? ", " : "");
    if (first == WORD_TYPENAME || first == WORD_CLASS) {
        buf_adds(out, "float");
    } else if (code_token_is(t, part.from, "bool")) {
        buf_adds(out, "true");
    } else {
        add_value(t, part, out);
    }
}

static bool has_default(const struct code_tokens *t, struct list_part part) {
    while (part.from < part.to && code_word(t, part.from) != WORD_ASSIGN) {
        part.from++;
    }
    return part.from < part.to;
}

char *kernel_template_example(const char *signature, size_t len) {
    autobuf out = BUF_INIT(EXAMPLE_MAX);
    struct code_tokens t;
    struct list_part part;
    bool is = code_tokens_read(&t, signature, len) == 0 &&
              code_word(&t, 0) == WORD_TEMPLATE && code_word(&t, 1) == WORD_LESS;
    size_t close = is ? code_angles_end(&t, 1) : 0;
    for (size_t at = 2; template_list_next(&t, &at, close, &part) && /* so has the rest */
                        !has_default(&t, part);) {
        add_example(&t, part, &out);
    }
    code_tokens_finish(&t);
    return !is || out.full ? xstrdup("float") : xstrndup(out.data, out.len);
}
