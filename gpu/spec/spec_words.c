#include "gpu/spec/spec_words.h"

#include "base/edit_distance.h"
#include "base/strings.h"
#include "gpu/reference/operator.h"
#include "gpu/spec/value_functions.h"

#include <ctype.h>

struct spec_word {
    const char *said, *meant;
};
#include "gpu/spec_words_table.h"

static const char *meant_by(const struct spec_word *words, const char *said) {
    for (; words->said; words++) {
        if (strcasecmp(words->said, said) == 0) {
            return words->meant;
        }
    }
    return NULL;
}

/* A question about the probable meaning, if there is one; else "". */
static const char *ask_whether(const char *meant, char *ret, size_t size) {
    ret[0] = '\0';
    if (meant) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    }
    return ret;
}

/* Edits that still make the same word. */
static unsigned edits_allowed(size_t len) {
    return len < 4 ? 0 : len < 8 ? 1 : len < 12 ? 2 : 3;
}

/* --- members --- */

static size_t nearest_of(const char *known, const char *name, const char **ret) {
    size_t len = strlen(name), found = 0;
    unsigned best = edits_allowed(len) + 1;
    for (const char *at = known; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        unsigned distance = edit_distance(name, len, at, size, best);
        if (distance < best) {
            best = distance;
            found = size;
            *ret = at;
        }
        at += size;
    }
    return found;
}

const char *spec_words_member(const char *name, const char *known, char *ret,
                              size_t size) {
    const char *meant = meant_by(spec_members, name);
    const char *holder = meant_by(spec_inner, name);
    const char *near = NULL;
    size_t len = nearest_of(known, name, &near);
    if (meant && words_have(known, meant)) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    } else if (holder && words_have(known, holder)) {
        snprintf(ret, size, "; it belongs in \"%s\"", holder);
    } else if (len) {
        snprintf(ret, size, "; did you mean \"%.*s\"?", (int)len, near);
    } else {
        snprintf(ret, size, "; it may have %s", known);
    }
    return ret;
}

/* --- types --- */

/* "const float* __restrict__" is a float. */
const char *spec_words_type(const char *name, char *ret, size_t size) {
    char bare[32];
    name += strncmp(name, "const ", 6) ? 0 : 6;
    name += strncmp(name, "torch.", 6) ? 0 : 6;
    size_t len = strcspn(name, "*");
    while (len && name[len - 1] == ' ') {
        len--;
    }
    snprintf(bare, sizeof bare, "%.*s", len < sizeof bare ? (int)len : 0, name);
    const char *meant = meant_by(spec_types, bare);
    if (!meant && tensor_type_find(bare) != TENSOR_TYPES) {
        meant = bare;
    }
    return ask_whether(meant, ret, size);
}

/* --- first contents --- */

const char *spec_words_init(const json_t *init, char *ret, size_t size) {
    const char *said = json_string_value(init);
    if (json_object_size(init) == 1) {
        said = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)init));
    }
    const char *meant = said                   ? meant_by(spec_inits, said)
                        : json_is_array(init)  ? "{\"values\": [1, 2, 3]}"
                        : json_is_number(init) ? "{\"fill\": 0}"
                                               : NULL;
    ret[0] = '\0';
    if (meant) {
        snprintf(ret, size, "; did you mean %s?", meant);
    } else if (json_object_size(init) > 1) {
        snprintf(ret, size, "; only one member is expected");
    }
    return ret;
}

/* --- operators --- */

/* "nn.functional.LayerNorm" is "layernorm". */
static void plain_name(const char *name, char ret[64]) {
    const char *dot = strrchr(name, '.');
    size_t len = 0;
    for (const char *c = dot ? dot + 1 : name; *c && len < 63; c++) {
        if (*c != '_' && *c != '-' && *c != ' ') {
            ret[len++] = (char)tolower((unsigned char)*c);
        }
    }
    ret[len] = '\0';
}

/* The distance of `op` from the given word: 0 if equal except for case and underscores,
 * then misspellings, then the longest name within it, then one that contains it. */
static unsigned remoteness(const char *said, const char *op) {
    enum { FAR = 1000 };
    char name[64];
    plain_name(op, name);
    size_t said_len = strlen(said), len = strlen(name);
    unsigned allowed = edits_allowed(said_len);
    unsigned distance = edit_distance(said, said_len, name, len, allowed);
    if (distance <= allowed) {
        return distance;
    }
    if (len > 3 && strstr(said, name)) {
        return 100 - (unsigned)len;
    }
    return said_len > 3 && strstr(name, said) ? 100 + (unsigned)len : FAR;
}

const char *spec_words_operator(const char *name, char *ret, size_t size) {
    const char *meant = meant_by(spec_operators, name);
    char said[64];
    plain_name(name, said);
    unsigned best = 200;
    const struct operator* op;
    for (size_t i = 0; !meant && (op = operator_at(i)); i++) {
        best = remoteness(said, op->name) < best ? remoteness(said, op->name) : best;
    }
    for (size_t i = 0; !meant && best < 200 && (op = operator_at(i)); i++) {
        meant = remoteness(said, op->name) == best ? op->name : NULL;
    }
    if (meant) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    } else {
        snprintf(
            ret, size,
            "; the guide to operators lists all, and an expression or a plain kernel "
            "can say the rest");
    }
    return ret;
}

/* --- expressions --- */

static const char *function_meant(const char *name) {
    size_t len = strlen(name);
    const char *meant = meant_by(spec_functions, name);
    if (meant || len < 2 || name[len - 1] != 'f') {
        return meant;
    }
    const struct value_function *f = value_function_find(name, len - 1); /* expf */
    return f ? f->name : NULL;
}

const char *spec_words_expression(const char *name, char *ret, size_t size) {
    const char *meant = function_meant(name);
    ask_whether(meant, ret, size);
    if (!meant && operator_find(name)) {
        snprintf(ret, size,
                 "; it is a built-in operator of whole tensors: \"expect\": "
                 "{\"op\": \"%s\"}",
                 name);
    }
    return ret;
}

const char *spec_words_size_function(const char *name, char *ret, size_t size) {
    return ask_whether(meant_by(spec_size_functions, name), ret, size);
}
