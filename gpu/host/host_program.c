#include "gpu/host/host_program.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/host/host_conditions.h"

#define TOKENS_MAX (1u << 19)
#define FRAMES_MAX 4096
#define DEPTH_MAX 12 /* functions that lead to a launch */

size_t host_close(const struct code_tokens *t, size_t i) {
    int depth = 0;
    for (; i < t->count; i++) {
        depth += code_word_nests(code_word(t, i));
        if (depth <= 0) {
            return i;
        }
    }
    return t->count;
}

bool host_part(const struct place *list, size_t n, struct place *ret) {
    size_t start = list->from;
    int depth = 0;
    for (size_t i = list->from; i <= list->to; i++) {
        enum code_word w = i < list->to ? code_word(list->t, i) : WORD_COMMA;
        depth += code_word_nests(w);
        if (w == WORD_COMMA && depth == 0 && n-- == 0) {
            *ret = *list;
            ret->from = start;
            ret->to = i;
            return i > start;
        }
        start = w == WORD_COMMA && depth == 0 ? i + 1 : start;
    }
    return false;
}

struct place host_inside(const struct place *at, size_t i) {
    struct place inside = *at;
    inside.from = i + 1;
    inside.to = host_close(at->t, i);
    return inside;
}

/* --- its text --- */

bool host_program_init(struct host_program *p, const char *const *files,
                       const size_t *lens, size_t count, bool certain) {
    *p = (struct host_program){.certain = certain};
    autobuf text = BUF_INIT(64u << 20);
    for (size_t i = 0; i < count; i++) {
        p->own = text.len;
        buf_add(&text, files[i], lens[i]);
        buf_addc(&text, '\n');
    }
    size_t len = text.len;
    p->text = buf_detach(&text);
    if (!p->text || host_blanker_init(&p->b, p->text, len, TOKENS_MAX, NULL) < 0) {
        free(take(p->text));
        return false;
    }
    host_blanker_judge(&p->b);
    p->active = host_conditions_read(p);
    p->functions = xcalloc(p->b.declarations.count + 1, sizeof(struct host_frame *));
    return true;
}

void host_program_finish(struct host_program *p) {
    if (!p->text) {
        return;
    }
    for (size_t i = 0; i < p->expanded_count; i++) {
        char *text = (char *)(uintptr_t)p->expanded[i].text;
        code_tokens_finish(&p->expanded[i]);
        free(text);
    }
    for (size_t i = 0; i < p->frame_count; i++) {
        free(p->frames[i]);
    }
    free(p->expanded);
    free(p->frames);
    free(p->functions);
    free(p->active);
    host_blanker_finish(&p->b);
    free(p->text);
    *p = (struct host_program){0};
}

/* --- functions --- */

static struct host_frame *frame_add(struct host_program *p,
                                    const struct declaration *in) {
    if (p->frame_count >= FRAMES_MAX) {
        return NULL;
    }
    p->frames = xreallocarray(p->frames, p->frame_count + 1, sizeof *p->frames);
    struct host_frame *f = p->frames[p->frame_count++] = xcalloc(1, sizeof *f);
    f->in = in;
    return f;
}

static const struct declaration *function_at(const struct host_program *p, size_t i) {
    const struct declaration *found = NULL;
    list_each(n, d, p->b.declarations.list, p->b.declarations.count) {
        if (d->kind != DECLARATION_CLASS && d->body && d->body < i && i < d->body_end) {
            found = d;
        }
    }
    return found;
}

const struct declaration *host_function_find(const struct host_program *p,
                                             const struct code_tokens *t, size_t i) {
    uint64_t name = code_word(t, i) == WORD_NAME ? code_token_hash(t, i) : 0;
    return name ? list_find(d, p->b.declarations.list, p->b.declarations.count,
                            d->kind == DECLARATION_FUNCTION && d->body && d->name &&
                                code_token_hash(&p->b.tokens, d->name) == name)
                : NULL;
}

size_t host_call_paren(const struct code_tokens *t, size_t i) {
    if (code_word(t, i + 1) == WORD_LESS) {
        size_t end = code_angles_end(t, i + 1);
        i = end == i + 1 ? i : end;
    }
    return code_word(t, i + 1) == WORD_PAREN_OPEN ? i + 1 : 0;
}

const struct host_frame *host_frame_call(struct host_program *p,
                                         const struct declaration *in,
                                         const struct place *at) {
    struct host_frame *f = frame_add(p, in);
    if (f && host_call_paren(at->t, at->from)) {
        f->called = true;
        f->at = *at;
    }
    return f;
}

static const struct host_frame *frame_of(struct host_program *p,
                                         const struct declaration *d, unsigned depth);

/* The first call of a function in another. */
static size_t find_call(struct host_program *p, const struct declaration *d) {
    const struct code_tokens *t = &p->b.tokens;
    uint64_t name = d->name ? code_token_hash(t, d->name) : 0;
    for (size_t i = 1; name && i < t->count; i++, p->looked++) {
        if (code_word(t, i) == WORD_NAME && code_token_hash(t, i) == name &&
            (i < d->first || i > d->last) && host_call_paren(t, i) && p->active[i]) {
            const struct declaration *in = function_at(p, i);
            if (in && !in->has_global && in != d) {
                return i;
            }
        }
    }
    return 0;
}

static const struct host_frame *frame_of(struct host_program *p,
                                         const struct declaration *d, unsigned depth) {
    size_t index = d ? (size_t)(d - p->b.declarations.list) : p->b.declarations.count;
    struct host_frame *f = p->functions[index];
    if (f || !(f = frame_add(p, d))) {
        return f;
    }
    p->functions[index] =
        f; /* also while its callers are looked for: they may be its own */
    size_t call =
        d && depth < DEPTH_MAX && p->looked < HOST_LOOKED_MAX ? find_call(p, d) : 0;
    if (call) {
        const struct host_frame *caller = frame_of(p, function_at(p, call), depth + 1);
        f->called = caller != NULL;
        f->at = (struct place){caller, &p->b.tokens, call, call + 1, call};
    }
    return f;
}

const struct host_frame *host_frame_at(struct host_program *p, size_t i) {
    return frame_of(p, function_at(p, i), 0);
}
