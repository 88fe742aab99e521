#include "gpu/source/host_part.h"

#include "gpu/source/host_blanker.h"
#include "gpu/source/source_set.h"

static const char *original_of(const struct source_file *f) {
    return f->original ? f->original : f->text;
}

static void read_macros(const struct source_set *s, struct space_macros *ret) {
    for (size_t i = s->count; i-- > 0;) { /* headers before what includes them */
        struct code_tokens tokens;
        const struct source_file *f = &s->files[i];
        if (code_tokens_read(&tokens, original_of(f), f->len) == 0) {
            space_macros_read(ret, &tokens);
            code_tokens_finish(&tokens);
        }
    }
}

static bool is_alias(const struct host_blanker *b, const struct declaration *d) {
    enum code_word first = b->tokens.list[d->first].word;
    return d->kind == DECLARATION_OTHER &&
           (first == WORD_USING || first == WORD_TYPEDEF || first == WORD_NAMESPACE);
}

static bool has_device_words(const struct host_blanker *b, size_t first, size_t last) {
    return b->device_words[last + 1] != b->device_words[first];
}

static bool can_go(const struct host_blanker *b, const struct declaration *d) {
    bool layout = d->parent != SIZE_MAX &&
                  (d->has_virtual || (d->kind == DECLARATION_VARIABLE && !d->has_static));
    bool kind = d->kind == DECLARATION_FUNCTION || d->kind == DECLARATION_VARIABLE ||
                d->kind == DECLARATION_CLASS || is_alias(b, d);
    return kind && !d->open && !layout && !has_device_words(b, d->first, d->last) &&
           !host_blanker_has_unknown_space(b, d);
}

/* The innermost that can go; nothing around what no use of it makes wrong. */
static struct host_part part_at(const struct host_blanker *b, size_t offset) {
    struct host_part ret = {0};
    for (size_t i = 0; i < b->declarations.count; i++) { /* inner ones come later */
        const struct declaration *d = &b->declarations.list[i];
        size_t from = b->tokens.list[d->first].start, to = b->tokens.list[d->last].end;
        if (offset < from || offset >= to) {
            continue;
        }
        if (can_go(b, d)) {
            ret = (struct host_part){from, to};
        } else if (b->tokens.list[d->first].word == WORD_STATIC_ASSERT) {
            ret = (struct host_part){0};
        }
    }
    return ret;
}

struct host_part host_part_at(const struct source_set *s, size_t index, size_t offset,
                              bool whole) {
    const struct source_file *f = &s->files[index];
    struct host_part ret = {0};
    struct space_macros macros = {0};
    struct host_blanker b;
    if (s->default_device) {
        return ret; /* it is the device's all the same */
    }
    read_macros(s, &macros);
    if (host_blanker_init(&b, original_of(f), f->len, HOST_TOKENS_MAX, &macros) == 0) {
        bool header = index != source_set_unit(s) && b.tokens.count &&
                      !has_device_words(&b, 0, b.tokens.count - 1);
        ret = header && whole ? (struct host_part){0, f->len} : part_at(&b, offset);
        host_blanker_finish(&b);
    }
    space_macros_finish(&macros);
    return ret;
}
