#include "gpu/source/host_joint.h"

#include "base/buf.h"
#include "base/mem.h"
#include "gpu/source/host_expansion.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_macros.h"
#include "gpu/source/source_set.h"

#include <string.h>

#define TEXT_MAX (64u << 10) /* of all instantiations */

static bool may_launch(const struct source_file *f) {
    return memmem(f->text, f->len, "<<<", 3) || memmem(f->text, f->len, "__global__", 10);
}

/* The headers before the unit, each before what includes it. Returns where the unit
 * begins, 0 when no header is of interest. */
static size_t join(const struct source_set *sources, struct buf *out) {
    size_t last = 0, bytes = 0;
    for (size_t i = 1; i < sources->count && bytes < HOST_JOINT_BYTES; i++) {
        bytes += may_launch(&sources->files[i]) ? sources->files[i].len : 0;
        last = bytes <= HOST_JOINT_BYTES ? i : last;
    }
    for (size_t i = last; i > 0; i--) {
        const struct source_file *f = &sources->files[i];
        if (may_launch(f)) {
            buf_add(out, f->text, f->len);
            buf_addc(out, '\n');
        }
    }
    size_t base = out->len;
    if (base) {
        buf_add(out, sources->files[0].text, sources->files[0].len);
    }
    return out->full ? 0 : base;
}

/* Whether the unit has an #if around what stands at `offset`. */
static bool is_conditional(const struct code_tokens *t, size_t base, size_t offset) {
    int depth = 0;
    for (size_t i = 0; i < t->count && t->list[i].start < offset; i++) {
        if (t->list[i].word == WORD_DIRECTIVE && t->list[i].start >= base) {
            const char *word = t->text + t->list[i].start + 1;
            word += strspn(word, " \t");
            depth += strncmp(word, "if", 2) == 0;
            depth -= strncmp(word, "endif", 5) == 0;
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

/* In its namespaces, and for the compiler on the line that asks for it. */
static void write_one(const struct host_blanker *b, const struct host_launch *launch,
                      size_t base, struct buf *out) {
    autofree char *scope = host_scope_name(b, launch->scope);
    size_t depth = 0;
    buf_addf(out, "\n#line %zu\n", count_lines(b->tokens.text, base, launch->offset) + 1);
    for (char *name = scope, *end; (end = strstr(name, "::")); name = end + 2, depth++) {
        buf_addf(out, "namespace %.*s{", (int)(end - name), name);
    }
    buf_addf(out, "static_assert(&%s,\"\");", launch->expression);
    for (; depth > 0; depth--) {
        buf_addc(out, '}');
    }
}

static bool is_duplicate(const struct host_launches *l, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (l->list[k].borrowed &&
            strcmp(l->list[k].expression, l->list[i].expression) == 0) {
            return true;
        }
    }
    return false;
}

static void write_all(const struct host_blanker *b, const struct host_launches *launches,
                      size_t base, struct buf *out) {
    const struct code_tokens *t = &b->tokens;
    unsigned written = 0;
    for (size_t i = 0; i < launches->count && written < HOST_JOINT_MAX; i++) {
        const struct host_launch *l = &launches->list[i];
        if (l->borrowed && !host_guess_is(l->expression) && !is_duplicate(launches, i) &&
            !is_conditional(t, base, l->offset)) {
            write_one(b, l, base, out);
            written++;
        }
    }
    if (written) { /* what follows has its own lines again */
        buf_addf(out, "\n#line %zu",
                 count_lines(t->text, base, t->len) +
                     count_lines(out->data, 0, out->len) + 3);
    }
}

static void ask(const struct host_blanker *b, const struct host_macros *macros,
                size_t base, struct buf *out) {
    struct host_launches launches;
    host_launches_collect(&launches, b, macros, base);
    write_all(b, &launches, base, out);
    host_launches_finish(&launches);
}

char *host_joint_read(const struct source_set *sources, const struct space_macros *spaces,
                      const struct host_macros *macros) {
    autobuf text = BUF_INIT(HOST_JOINT_BYTES + SOURCE_SET_MAX_BYTES);
    struct buf out = BUF_INIT(TEXT_MAX);
    size_t base = join(sources, &text);
    struct host_blanker b;
    if (base &&
        host_blanker_init(&b, text.data, text.len, HOST_TOKENS_MAX, spaces) == 0) {
        host_blanker_judge(&b);
        struct host_expansion e;
        if (host_expansion_read(&e, &b, macros, spaces)) {
            ask(&e.b, macros, host_expansion_place(&e, base), &out);
        } else {
            ask(&b, macros, base, &out);
        }
        host_expansion_finish(&e);
        host_blanker_finish(&b);
    }
    if (out.full || !out.len) {
        buf_finish(&out);
        return xstrdup("");
    }
    return buf_detach(&out);
}
