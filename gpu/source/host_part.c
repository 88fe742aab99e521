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

/* --- files that are read once --- */

struct host_parts {
    const struct source_set *sources;
    struct space_macros macros;
    bool has_macros, has_file, is_sound; /* sound: it could be read */
    size_t index;                        /* of the file that was read last */
    struct host_blanker blanker;
};

struct host_parts *host_parts_new(const struct source_set *s) {
    struct host_parts *p = xcalloc(1, sizeof *p);
    p->sources = s;
    return p;
}

void host_parts_forget(struct host_parts *p) {
    if (p->is_sound) {
        host_blanker_finish(&p->blanker);
    }
    p->has_file = p->is_sound = false;
}

void host_parts_free(struct host_parts *p) {
    host_parts_forget(p);
    space_macros_finish(&p->macros);
    free(p);
}

static void read_file(struct host_parts *p, size_t index) {
    const struct source_file *f = &p->sources->files[index];
    if (!p->has_macros) {
        read_macros(p->sources, &p->macros);
        p->has_macros = true;
    }
    if (!p->has_file || p->index != index) {
        host_parts_forget(p);
        p->is_sound = host_blanker_init(&p->blanker, original_of(f), f->len,
                                        HOST_TOKENS_MAX, &p->macros) == 0;
        p->has_file = true;
        p->index = index;
    }
}

struct host_part host_parts_at(struct host_parts *p, size_t index, size_t offset,
                               bool whole) {
    const struct host_blanker *b = &p->blanker;
    if (p->sources->default_device) {
        return (struct host_part){0}; /* it is the device's all the same */
    }
    read_file(p, index);
    if (!p->is_sound) {
        return (struct host_part){0};
    }
    bool header = index != source_set_unit(p->sources) && b->tokens.count &&
                  !has_device_words(b, 0, b->tokens.count - 1);
    return header && whole ? (struct host_part){0, p->sources->files[index].len}
                           : part_at(b, offset);
}
