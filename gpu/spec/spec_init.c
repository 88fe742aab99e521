/* The initial contents of a buffer of a check spec: its "init". */
#include "base/err.h"
#include "gpu/spec/spec_internal.h"
#include "gpu/spec/spec_struct.h"
#include "gpu/spec/spec_words.h"

#include <math.h>

/* --- numbers that a type can hold --- */

/* An integer of a buffer is neither 1.5 nor NaN. */
static int check_number(struct spec_reader *r, enum tensor_type type, const json_t *item,
                        const char *at) {
    double value = spec_number(item);
    if (json_is_integer(item)) {
        return spec_check_range(r, type, item, at);
    }
    if (tensor_type_float(type) || type == TENSOR_BOOL || json_is_boolean(item) ||
        (value == floor(value) && fabs(value) < 0x1p63 &&
         tensor_type_holds(type, (int64_t)value))) {
        return 0;
    }
    autofree char *text = json_shown(item, 0);
    return err_set(r->err, -EINVAL, "%s: %.40s is not a valid %s", at, text ? text : "?",
                   tensor_type_name(type));
}

int spec_check_values(struct spec_reader *r, enum tensor_type type, const json_t *value,
                      const char *at) {
    r->numbers += json_array_size(value);
    if (!json_array_size(value) || r->numbers > SPEC_MAX_VALUES) {
        return err_set(r->err, -EINVAL, "%s: 1 to %u numbers are expected", at,
                       SPEC_MAX_VALUES);
    }
    json_each(value, i, item) {
        struct err why = {0};
        struct spec_reader quiet = {.spec = r->spec, .err = &why};
        if (!json_is_number(item) && !json_is_boolean(item) && !spec_is_special(item)) {
            return err_set(r->err, -EINVAL, "%s[%zu]: a number is expected", at, i);
        }
        if (check_number(&quiet, type, item, "") < 0) {
            return err_set(r->err, -EINVAL, "%s[%zu]%s", at, i, why.msg);
        }
    }
    return 0;
}

/* --- the kinds --- */

static int check_pair(struct spec_reader *r, const json_t *value, const char *at) {
    bool numbers = json_array_size(value) == 2 &&
                   json_is_number(json_array_get(value, 0)) &&
                   json_is_number(json_array_get(value, 1));
    return numbers ? 0 : err_set(r->err, -EINVAL, "%s: two numbers are expected", at);
}

static int check_normal(struct spec_reader *r, enum tensor_type, const json_t *value,
                        const char *at) {
    int n = check_pair(r, value, at);
    return n == 0 && json_number_value(json_array_get(value, 1)) < 0
               ? err_set(r->err, -EINVAL, "%s: a deviation is not negative", at)
               : n;
}

static int check_uniform(struct spec_reader *r, enum tensor_type, const json_t *value,
                         const char *at) {
    int n = check_pair(r, value, at);
    double low = json_number_value(json_array_get(value, 0));
    double high = json_number_value(json_array_get(value, 1));
    return n == 0 && low > high
               ? err_set(r->err, -EINVAL, "%s: [low, high): %.9g lies above %.9g", at,
                         low, high)
               : n;
}

/* Bounds that are expressions are seen case by case. */
static int check_integers(struct spec_reader *r, enum tensor_type type,
                          const json_t *value, const char *at) {
    const json_t *low = json_array_get(value, 0), *high = json_array_get(value, 1);
    int n = spec_check_size(r, low, at);
    n = n < 0 ? n : spec_check_size(r, high, at);
    if (n == 0 && json_array_size(value) != 2) {
        return err_set(r->err, -EINVAL, "%s: [low, high)", at);
    }
    if (n == 0 && json_is_integer(low)) {
        n = spec_check_range(r, type, low, at);
    }
    if (n == 0 && json_is_integer(high) && json_integer_value(high) > INT64_MIN) {
        autojson *last = json_integer(json_integer_value(high) - 1);
        n = spec_check_range(r, type, last, at);
    }
    bool plain = json_is_integer(low) && json_is_integer(high);
    return n == 0 && plain && json_integer_value(low) >= json_integer_value(high)
               ? err_set(r->err, -EINVAL, "%s: no number lies in [%lld, %lld)", at,
                         (long long)json_integer_value(low),
                         (long long)json_integer_value(high))
               : n;
}

/* The numbers may include expressions over the sizes, which are checked for each case. */
static int check_values(struct spec_reader *r, enum tensor_type type, const json_t *value,
                        const char *at) {
    autojson *numbers = json_array();
    char path[192];
    json_each(value, i, item) {
        snprintf(path, sizeof path, "%s[%zu]", at, i);
        bool expression = json_is_string(item) && !spec_is_special(item);
        if (expression && spec_check_size(r, item, path) < 0) {
            return -EINVAL;
        }
        json_array_append_new(numbers, expression ? json_integer(0) : json_incref(item));
    }
    return spec_check_values(r, type, numbers, at);
}

static int check_fill(struct spec_reader *r, enum tensor_type type, const json_t *value,
                      const char *at) {
    autojson *one = json_pack("[O]", value);
    return check_values(r, type, one, at);
}

static int check_arange(struct spec_reader *r, enum tensor_type, const json_t *value,
                        const char *at) {
    return json_is_true(value) ? 0 : check_pair(r, value, at);
}

static int check_file(struct spec_reader *r, enum tensor_type, const json_t *value,
                      const char *at) {
    /* It becomes buffer_count if all is well. */
    return spec_read_array(r, value, r->spec->buffer_count, false, at);
}

/* Its members are checked when all buffers are known (spec_check_struct_inits). */
static int check_members(struct spec_reader *r, enum tensor_type, const json_t *value,
                         const char *at) {
    return json_array_size(value)
               ? 0
               : err_set(r->err, -EINVAL, "%s: a list of members is expected", at);
}

static int holds_address(const struct spec_struct_value *value, void *) {
    return value->type == TENSOR_TYPES;
}

int spec_check_struct_inits(struct spec_reader *r) {
    for (size_t i = 0; i < r->spec->buffer_count; i++) {
        const struct spec_buffer *b = &r->spec->buffers[i];
        char at[96];
        snprintf(at, sizeof at, "%.64s.init", b->name);
        if (!json_object_get(b->init, "struct")) {
            continue;
        }
        int n = spec_struct_check(r, b->init, at);
        if (n < 0) {
            return n;
        }
        if (b->judged && !b->judge && spec_struct_each(b->init, holds_address, NULL)) {
            return err_set(r->err, -EINVAL,
                           "%s: addresses differ between runs: say with \"judge\" which "
                           "elements to compare, or false",
                           at);
        }
    }
    return 0;
}

int spec_check_init(struct spec_reader *r, enum tensor_type type, const json_t *init,
                    const char *at) {
    static const struct {
        const char *name;
        int (*check)(struct spec_reader *r, enum tensor_type type, const json_t *value,
                     const char *at);
    } kinds[] = {{"normal", check_normal},     {"uniform", check_uniform},
                 {"integers", check_integers}, {"values", check_values},
                 {"fill", check_fill},         {"arange", check_arange},
                 {"file", check_file},         {"struct", check_members}};
    char path[192];
    if (!init) {
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds) && json_object_size(init) == 1; i++) {
        const json_t *value = json_object_get(init, kinds[i].name);
        if (value) {
            snprintf(path, sizeof path, "%s.init.%s", at, kinds[i].name);
            return kinds[i].check(r, type, value, path);
        }
    }
    char hint[96];
    return err_set(r->err, -EINVAL,
                   "%s.init: an object with one of normal, uniform, integers, fill, "
                   "arange, values, file and struct is expected%s",
                   at, spec_words_init(init, hint, sizeof hint));
}
