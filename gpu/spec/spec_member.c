/* Members of a check spec's objects: known, of their type, in their range. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/spec/spec_internal.h"
#include "gpu/spec/spec_words.h"
#include "gpu/spec/value_expression.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every case must know the names: the first stands for all, values may differ. */
static struct size_values first_sizes(const struct spec_reader *r,
                                      struct size_value sizes[static SPEC_MAX_SIZES]) {
    struct size_values list = {.list = sizes};
    const char *name;
    json_t *size;
    json_object_foreach((json_t *)(uintptr_t)r->spec->cases[0], name, size) {
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

static bool is_known(const char *known, const char *name) {
    size_t len = strlen(name);
    for (const char *at = known; len && (at = strstr(at, name)); at += len) {
        if ((at == known || at[-1] == ' ') && (at[len] == ' ' || !at[len])) {
            return true;
        }
    }
    return false;
}

int spec_check_members(struct spec_reader *r, const json_t *json, const char *known,
                       const char *at) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        if (!is_known(known, name)) {
            char hint[512];
            return err_set(r->err, -EINVAL, "%s%s%.40s: unknown%s", at, *at ? "." : "",
                           name, spec_words_member(name, known, hint, sizeof hint));
        }
    }
    return 0;
}

int spec_check_flag(struct spec_reader *r, const json_t *json, const char *name,
                    const char *at) {
    const json_t *value = json_object_get(json, name);
    return !value || json_is_boolean(value)
               ? 0
               : err_set(r->err, -EINVAL, "%s%s%s: true or false is expected", at,
                         *at ? "." : "", name);
}

int spec_check_text(struct spec_reader *r, const json_t *json, const char *name,
                    const char *at) {
    const json_t *value = json_object_get(json, name);
    size_t len = json_string_length(value);
    return !value || (json_is_string(value) && strlen(json_string_value(value)) == len)
               ? 0
               : err_set(r->err, -EINVAL, "%s%s%s: a text is expected", at,
                         *at ? "." : "", name);
}

int spec_check_type(struct spec_reader *r, const json_t *json, const char *at,
                    enum tensor_type *ret) {
    const char *name = json_get_string(json, "type", NULL);
    *ret = name ? tensor_type_find(name) : TENSOR_TYPES;
    if (*ret == TENSOR_TYPES) {
        char hint[96] = "";
        return err_set(r->err, -EINVAL,
                       "%s.type: float32, float16, bfloat16, float8_e4m3, float8_e5m2, "
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
               : err_set(r->err, -EINVAL, "%s: %lld is no %s", at, (long long)number,
                         tensor_type_name(type));
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
