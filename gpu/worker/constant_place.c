#include "gpu/worker/constant_place.h"

#include "gpu/fixes/fix_text.h"

struct constant_search {
    const char *name;
    struct constant_place *ret;
    bool found, initialised;
};

static bool opens(const struct fix_text *t, size_t i) {
    return fix_text_is(t, i, "(") || fix_text_is(t, i, "[") || fix_text_is(t, i, "{");
}

static bool closes(const struct fix_text *t, size_t i) {
    return fix_text_is(t, i, ")") || fix_text_is(t, i, "]") || fix_text_is(t, i, "}");
}

/* Behind the bracket that closes the one at i, of whatever kind. */
static size_t behind_brackets(const struct fix_text *t, size_t i) {
    int depth = 0;
    do {
        depth += opens(t, i) - closes(t, i);
    } while (++i < t->count && depth > 0);
    return i;
}

/* The name of a declarator is at i, with the sizes of an array behind it. */
static void look_at_name(struct constant_search *s, const struct fix_text *t, size_t i) {
    size_t next = i + 1;
    while (fix_text_is(t, next, "[")) {
        next = behind_brackets(t, next);
    }
    bool ends = fix_text_is(t, next, ";") || fix_text_is(t, next, ",");
    bool set = fix_text_is(t, next, "=") || fix_text_is(t, next, "{") ||
               fix_text_is(t, next, "(");
    s->initialised |= set;
    if (ends && !s->found) {
        s->found = true;
        *s->ret = (struct constant_place){
            t->display, lines_place(&t->lines, t->tokens[i].start, NULL)};
    }
}

/* Of the statement that goes on at i. */
static size_t look_at_declaration(struct constant_search *s, const struct fix_text *t, size_t i) {
    bool in_value = false;
    while (i < t->count && !fix_text_is(t, i, ";") && !closes(t, i)) {
        if (!in_value && fix_text_is(t, i, s->name)) {
            look_at_name(s, t, i);
        }
        in_value = (in_value || fix_text_is(t, i, "=")) && !fix_text_is(t, i, ",");
        i = opens(t, i) ? behind_brackets(t, i) : i + 1;
    }
    return i;
}

static bool is_extern(const struct fix_text *t, size_t i) {
    return i > 0 && fix_text_is(t, i - 1, "extern");
}

bool constant_place_find(const struct source_set *sources, const char *name,
                         struct constant_place *ret) {
    struct constant_search s = {.name = name, .ret = ret};
    for (size_t n = 0; n < sources->count; n++) {
        struct fix_text t;
        fix_text_init(&t, &sources->files[n]);
        for (size_t i = 0; i < t.count; i++) {
            if (fix_text_is(&t, i, "__constant__") && !is_extern(&t, i)) {
                i = look_at_declaration(&s, &t, i + 1);
            }
        }
        fix_text_finish(&t);
    }
    return s.found && !s.initialised;
}
