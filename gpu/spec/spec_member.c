/* Members of a check spec's objects: known, of their type, in their range. */
#include "base/buf.h"
#include "base/err.h"
#include "gpu/spec/spec_internal.h"
#include "gpu/spec/spec_words.h"
#include "gpu/spec/value_expression.h"

#include <math.h>

/* Every case must have the names: the first is used for all, values may differ. */
static struct size_values first_sizes(const struct spec_reader *r,
                                      struct size_value sizes[static SPEC_MAX_SIZES]) {
    struct size_values list = {.list = sizes};
    json_each_member(r->spec->cases[0], name, size) {
        sizes[list.count++] = (struct size_value){name, json_integer_value(size)};
    }
    return list;
}

int spec_check_size(struct spec_reader *r, const json_t *value, const char *at) {
    struct size_value sizes[SPEC_MAX_SIZES];
    if (json_is_integer(value)) {
        return 0;
    }
    if (!json_is_string(value)) {
        return err_set(r->err, -EINVAL, "%s: an integer or an expression is expected",
                       at);
    }
    struct size_values list = first_sizes(r, sizes);
    int64_t ignored;
    struct err why = {0};
    if (integer_expression(json_string_value(value), &list, &ignored, &why) < 0) {
        return err_set(r->err, -EINVAL, "%s: %s", at, why.msg);
    }
    return 0;
}

static const struct spec_member *find_member(const struct spec_member *known,
                                             const char *name) {
    while (known->name && strcmp(known->name, name) != 0) {
        known++;
    }
    return known->name ? known : NULL;
}

/* Its place among the words, or -1. */
static int find_word(const struct spec_member *m, const json_t *value) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    const char *text = m->kind != SPEC_NUMBER   ? json_string_value(value)
                       : json_is_integer(value) ? number
                                                : NULL;
    for (int i = 0; text && m->words[i]; i++) {
        if (!strcmp(m->words[i], text)) {
            return i;
        }
    }
    return -1;
}

static int check_words(struct spec_reader *r, const struct spec_member *m,
                       const json_t *value, const char *at) {
    json_each(value, i, item) {
        if (find_word(m, item) < 0) {
            return err_set(r->err, -EINVAL, "%s[%zu]: %s", at, i, m->expected);
        }
    }
    return json_is_array(value)
               ? 0
               : err_set(r->err, -EINVAL, "%s: a list of %s", at, m->expected);
}

static bool is_text(const json_t *value) {
    return json_is_string(value) &&
           strlen(json_string_value(value)) == json_string_length(value);
}

static int check_fraction(struct spec_reader *r, const struct spec_member *m,
                          const json_t *value, const char *at) {
    double number = json_number_value(value);
    if (!json_is_number(value)) {
        return err_set(r->err, -EINVAL, "%s: a number is expected", at);
    }
    bool above = m->low == INT64_MIN || number >= (double)m->low,
         below = m->high == INT64_MAX || number <= (double)m->high;
    return above && below
               ? 0
               : err_set(r->err, -EINVAL, "%s: %s", at, m->expected);
}

static int check_value(struct spec_reader *r, const struct spec_member *m,
                       const json_t *value, const char *at) {
    json_int_t n = json_integer_value(value);
    switch (m->kind) {
    case SPEC_ANY:
        return 0;
    case SPEC_WORDS:
        return check_words(r, m, value, at);
    case SPEC_FLAG:
        return json_is_boolean(value)
                   ? 0
                   : err_set(r->err, -EINVAL, "%s: true or false is expected", at);
    case SPEC_INTEGER:
        if (!json_is_integer(value)) {
            return err_set(r->err, -EINVAL, "%s: an integer is expected", at);
        }
        return n >= m->low && n <= m->high
                   ? 0
                   : err_set(r->err, -EINVAL, "%s: %s", at, m->expected);
    case SPEC_FRACTION:
        return check_fraction(r, m, value, at);
    default:
        if (m->kind != SPEC_NUMBER && !is_text(value)) {
            return err_set(r->err, -EINVAL, "%s: a text is expected%s%s", at,
                           m->words ? ": " : "", m->words ? m->expected : "");
        }
        return !m->words || find_word(m, value) >= 0
                   ? 0
                   : err_set(r->err, -EINVAL, "%s: %s", at, m->expected);
    }
}

static int refuse_unknown(struct spec_reader *r, const struct spec_member *known,
                          const char *name, const char *at) {
    char hint[512];
    autobuf names = BUF_INIT(1024);
    for (; known->name; known++) {
        buf_addf(&names, "%s%s", names.len ? " " : "", known->name);
    }
    return err_set(r->err, -EINVAL, "%s: unknown%s", at,
                   spec_words_member(name, names.data, hint, sizeof hint));
}

int spec_check_members(struct spec_reader *r, const json_t *json,
                       const struct spec_member *known, const char *at) {
    json_each_member(json, name, value) {
        char path[256];
        const struct spec_member *m = find_member(known, name);
        snprintf(path, sizeof path, "%.200s%s%.40s", at, *at ? "." : "", name);
        int n = m ? check_value(r, m, value, path) : refuse_unknown(r, known, name, path);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

int spec_word(const struct spec_member *known, const json_t *json, const char *name) {
    const json_t *value = json_object_get(json, name);
    return value ? find_word(find_member(known, name), value) : 0;
}

unsigned spec_words(const struct spec_member *known, const json_t *json,
                    const char *name) {
    unsigned bits = 0;
    json_each(json_object_get(json, name), i, item) {
        bits |= 1u << find_word(find_member(known, name), item);
    }
    return bits;
}

int spec_check_type(struct spec_reader *r, const json_t *json, const char *at,
                    enum tensor_type *ret) {
    const char *name = json_get_string(json, "type", NULL);
    *ret = name ? tensor_type_find(name) : TENSOR_TYPES;
    if (*ret == TENSOR_TYPES) {
        char hint[96] = "";
        return err_set(r->err, -EINVAL,
                       "%s.type: one of float32, float16, bfloat16, float8_e4m3, float8_e5m2, "
                       "float64, int8 to int64, uint8 to uint64 or bool%s",
                       at, name ? spec_words_type(name, hint, sizeof hint) : hint);
    }
    return 0;
}

bool spec_is_special(const json_t *value) {
    const char *word = json_string_value(value);
    return word && (!strcmp(word, "NaN") || !strcmp(word, "Infinity") ||
                    !strcmp(word, "-Infinity"));
}

double spec_number(const json_t *value) {
    const char *word = json_string_value(value);
    return json_is_true(value)    ? 1
           : !word                ? json_number_value(value) /* -0 stays -0 */
           : !strcmp(word, "NaN") ? NAN
           : *word == '-'         ? -INFINITY
                                  : INFINITY;
}

int spec_check_range(struct spec_reader *r, enum tensor_type type, const json_t *value,
                     const char *at) {
    json_int_t number = json_integer_value(value);
    return tensor_type_holds(type, number)
               ? 0
               : err_set(r->err, -EINVAL, "%s: %lld is not a valid %s", at,
                         (long long)number, tensor_type_name(type));
}

static int check_expression(struct spec_reader *r, const json_t *value, const char *at) {
    struct size_value sizes[SPEC_MAX_SIZES];
    struct size_values list = first_sizes(r, sizes);
    double ignored;
    struct err why = {0};
    if (value_expression_number(json_string_value(value), &list, &ignored, &why) < 0) {
        return err_set(r->err, -EINVAL, "%s: %s", at, why.msg);
    }
    return 0;
}

int spec_check_value(struct spec_reader *r, enum tensor_type type, const json_t *value,
                     const char *at) {
    if (json_is_boolean(value) ||
        (tensor_type_float(type) && (json_is_number(value) || spec_is_special(value)))) {
        return 0;
    }
    if (tensor_type_float(type) && json_is_string(value)) {
        return check_expression(r, value, at);
    }
    int n = spec_check_size(r, value, at);
    return n < 0 ? n : spec_check_range(r, type, value, at); /* expressions: by case */
}

int spec_check_scalar(struct spec_reader *r, const json_t *json, const char *at,
                      enum tensor_type *ret) {
    char path[256];
    int n = spec_check_type(r, json, at, ret);
    snprintf(path, sizeof path, "%.240s.value", at);
    return n < 0 ? n : spec_check_value(r, *ret, json_object_get(json, "value"), path);
}

int spec_read_array(struct spec_reader *r, const json_t *path, size_t buffer,
                    bool expected, const char *at) {
    struct kernel_spec *spec = r->spec;
    const char *text = json_string_value(path);
    size_t len = text ? strlen(text) : 0;
    if (len <= strlen(".npy") || len > 4096 || len != json_string_length(path) ||
        strcmp(text + len - strlen(".npy"), ".npy") != 0) {
        return err_set(r->err, -EINVAL, "%s: the name of a .npy file is expected", at);
    }
    if (spec->array_count == SPEC_MAX_ARRAYS) {
        return err_set(r->err, -EINVAL, "%s: a spec names at most %d files", at,
                       SPEC_MAX_ARRAYS);
    }
    spec->arrays =
        xreallocarray(spec->arrays, spec->array_count + 1, sizeof *spec->arrays);
    spec->arrays[spec->array_count++] = (struct spec_array){
        .path = text, .buffer = buffer, .expected = expected, .type = TENSOR_TYPES};
    return 0;
}
