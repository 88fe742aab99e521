#include "gpu/draft/host_buffer.h"

#include "gpu/host/host_variables.h"

#define FOLLOWED_MAX 12

/* A variable, by its name. */
struct key {
    struct place at;
    const struct declaration *in; /* its function; NULL: anybody may name it */
};

/* --- arguments --- */

/* "(float *)x", "reinterpret_cast<float4 *>(x)", "&x[0]", "(x)": the x. */
static struct place unwrapped(struct place p) {
    for (int n = 0; n < 16 && p.from < p.to; n++) {
        const struct code_tokens *t = p.t;
        enum code_word w = code_word(t, p.from);
        size_t close = w == WORD_PAREN_OPEN ? host_close(t, p.from) : 0;
        size_t angle = p.from + 1;
        size_t open =
            code_word(t, angle) == WORD_LESS ? code_angles_end(t, angle) + 1 : 0;
        if (w == WORD_AMPERSAND) {
            p.from++;
        } else if (close && close + 1 == p.to) {
            p = host_inside(&p, p.from);
        } else if (close && close < p.to) {
            p.from = close + 1; /* a cast */
        } else if (code_token_in(t, p.from, "reinterpret_cast static_cast const_cast") &&
                   open && code_word(t, open) == WORD_PAREN_OPEN) {
            p = host_inside(&p, open);
        } else if (p.to - p.from == 4 && code_word(t, p.from + 1) == WORD_BRACKET_OPEN &&
                   code_token_is(t, p.from + 2, "0")) {
            p.to = p.from + 1;
        } else {
            break;
        }
    }
    return p;
}

static bool is_name(const struct place *p) {
    return p->to == p->from + 1 && code_word(p->t, p->from) == WORD_NAME;
}

static bool is_null(const struct place *p) {
    return code_token_in(p->t, p->from, "NULL nullptr 0");
}

/* To the variable that owns the memory: parameters lead to their callers. */
static bool key_find(struct host_program *p, struct place at, struct key *ret) {
    for (int n = 0; n < FOLLOWED_MAX; n++) {
        struct place value;
        size_t variable;
        at = unwrapped(at);
        if (!is_name(&at)) {
            return false;
        }
        *ret = (struct key){.at = at};
        enum host_found found = host_look_up(p, &at, &value, &variable);
        ret->in = at.frame && found != HOST_CONSTANT ? at.frame->in : NULL;
        if (found == HOST_PARAMETER) {
            return false;
        }
        if (found != HOST_VALUE && found != HOST_CONSTANT) {
            return true;
        }
        struct place inner = unwrapped(value);
        if (is_null(&inner) || !is_name(&inner)) {
            return true;
        }
        at = value;
    }
    return false;
}

/* --- calls --- */

static bool begins(const struct code_tokens *t, size_t i, const char *text) {
    size_t len = strlen(text);
    return code_word(t, i) == WORD_NAME && t->list[i].end - t->list[i].start >= len &&
           memcmp(t->text + t->list[i].start, text, len) == 0;
}

static bool is_in(const struct declaration *d, size_t i) {
    return !d || (d->body < i && i < d->body_end);
}

static bool names_key(const struct key *key, const struct place *list, size_t n) {
    struct place part;
    if (!host_part(list, n, &part)) {
        return false;
    }
    part = unwrapped(part);
    return is_name(&part) &&
           code_token_hash(part.t, part.from) == code_token_hash(key->at.t, key->at.from);
}

struct buffer_search {
    struct host_program *p;
    const struct key *key;
    size_t launch;
    struct host_buffer *ret;
};

static void see_allocation(struct buffer_search *s, size_t i, const struct place *list) {
    const struct code_tokens *t = &s->p->b.tokens;
    struct place bytes;
    if (begins(t, i, "cudaMallocPitch") || begins(t, i, "cudaMalloc3D") ||
        begins(t, i, "cudaMallocArray") || !names_key(s->key, list, 0) ||
        !host_part(list, 1, &bytes)) {
        return;
    }
    if (s->ret->bytes.from == s->ret->bytes.to) {
        bytes.frame = host_frame_at(s->p, i);
        bytes.before = i;
        s->ret->bytes = bytes;
    }
    if (begins(t, i, "cudaMallocManaged") || begins(t, i, "cudaMallocHost")) {
        s->ret->contents = CONTENTS_MANAGED;
    }
}

/* Afterwards does not count, where it is known what is afterwards. */
static bool is_before(const struct buffer_search *s, size_t i) {
    const struct host_frame *f = s->key->at.frame;
    return !s->key->in || (f && f->in && !is_in(f->in, s->launch)) || i < s->launch;
}

static void see_copy(struct buffer_search *s, size_t i, const struct place *list) {
    struct host_buffer *b = s->ret;
    if (names_key(s->key, list, 0) && is_before(s, i) && b->contents < CONTENTS_COPIED) {
        b->contents = CONTENTS_COPIED;
    }
    if (names_key(s->key, list, 1) && host_part(list, 2, &b->copied_back)) {
        b->copied_back.frame = host_frame_at(s->p, i);
        b->copied_back.before = i;
    }
}

static void see_memset(struct buffer_search *s, size_t i, const struct place *list) {
    struct host_buffer *b = s->ret;
    if (names_key(s->key, list, 0) && is_before(s, i) && b->contents == CONTENTS_NONE &&
        host_part(list, 1, &b->fill)) {
        b->fill.frame = host_frame_at(s->p, i);
        b->fill.before = i;
        b->contents = CONTENTS_SET;
    }
}

/* The arguments of an earlier launch. */
static void see_launch(struct buffer_search *s, size_t open) {
    const struct place list = host_inside(&(struct place){.t = &s->p->b.tokens}, open);
    for (size_t n = 0; n < 64; n++) {
        struct place part;
        if (!host_part(&list, n, &part)) {
            break;
        }
        s->ret->launched_before |= names_key(s->key, &list, n);
    }
}

static void see(struct buffer_search *s, size_t i) {
    const struct code_tokens *t = &s->p->b.tokens;
    if (code_word(t, i) == WORD_LAUNCH_CLOSE && i < s->launch &&
        code_word(t, i + 1) == WORD_PAREN_OPEN) {
        see_launch(s, i + 1);
    }
    if (!begins(t, i, "cudaM") || !s->p->active[i]) {
        return;
    }
    size_t open = i + 1;
    if (code_word(t, open) == WORD_LESS) {
        open = code_angles_end(t, open) + 1;
    }
    const struct place list = host_inside(&(struct place){.t = t}, open);
    if (begins(t, i, "cudaMalloc")) {
        see_allocation(s, i, &list);
    } else if (begins(t, i, "cudaMemcpy")) {
        see_copy(s, i, &list);
    } else if (begins(t, i, "cudaMemset")) {
        see_memset(s, i, &list);
    }
}

bool host_buffer_read(struct host_program *p, const struct place *place, size_t launch,
                      struct host_buffer *ret) {
    struct key key;
    if (!key_find(p, *place, &key)) {
        return false;
    }
    *ret = (struct host_buffer){.contents = CONTENTS_NONE};
    struct buffer_search s = {p, &key, launch, ret};
    for (size_t i = 1; i < p->b.tokens.count; i++) {
        if (is_in(key.in, i)) {
            see(&s, i);
        }
    }
    return true;
}
