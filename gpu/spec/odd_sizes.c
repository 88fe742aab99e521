#include "gpu/spec/odd_sizes.h"

#include "base/find.h"
#include "base/text.h"
#include "gpu/spec/spec_case.h"

enum { LEAST_BLOCK = 4 }; /* half of a smaller one says no more than one element less */

/* --- which sizes --- */

bool odd_sizes_round(const json_t *sizes) {
    json_each_member(sizes, name, value) {
        json_int_t n = json_integer_value(value);
        if (n <= 0 || (n % 32 && n & (n - 1))) {
            return false;
        }
    }
    return true;
}

static bool all_round(const struct kernel_spec *spec) {
    return !any_of(i, 0, spec->case_count, !odd_sizes_round(spec->cases[i]));
}

static bool names(const char *text, const char *name) {
    size_t len = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += len) {
        if ((at == text || !text_is_word(at[-1])) && !text_is_word(at[len])) {
            return true;
        }
    }
    return false;
}

struct use {
    const char *name;
    const struct size_values *sizes; /* of the case that changes */
    bool is_used, is_divided;
};

/* Every text of an expression below `json`. */
static void look(struct use *use, const json_t *json, bool counts) {
    const char *text = json_string_value(json);
    if (text && names(text, use->name)) {
        use->is_used |= counts;
        use->is_divided |=
            strpbrk(text, "/%") && integer_expression_divides(text, use->sizes);
    }
    json_each(json, i, item) {
        look(use, item, counts);
    }
    json_each_member(json, key, item) {
        look(use, item, counts);
    }
}

static bool can_change(const struct spec_case *c, const char *name) {
    const struct kernel_spec *spec = c->spec;
    struct use use = {.name = name, .sizes = &c->size_list};
    for (size_t i = 0; i < spec->buffer_count; i++) {
        look(&use, spec->buffers[i].shape, true);
        look(&use, spec->buffers[i].init, false);
    }
    list_each(i, l, spec->launches, spec->launch_count) {
        look(&use, l->grid, true);
        look(&use, l->block, true);
        look(&use, l->cluster, true);
        look(&use, l->shared_bytes, true);
        for (size_t k = 0; k < l->arg_count; k++) {
            look(&use, l->args[k].value, false);
            look(&use, l->args[k].json, false);
        }
    }
    return use.is_used && !use.is_divided;
}

/* --- which case --- */

static bool is_possible(const struct kernel_spec *spec, size_t i, uint64_t *ret_bytes) {
    struct spec_case c;
    if (spec_case_resolve(&c, spec, i, NULL) < 0) {
        return false;
    }
    *ret_bytes = c.bytes;
    spec_case_finish(&c);
    return true;
}

static size_t smallest_case(const struct kernel_spec *spec) {
    uint64_t least = UINT64_MAX, bytes;
    size_t found = 0;
    for (size_t i = 0; i < spec->case_count; i++) {
        if (is_possible(spec, i, &bytes) && bytes < least) {
            least = bytes;
            found = i;
        }
    }
    return found;
}

static void add_case(struct kernel_spec *spec, size_t base, const char *name,
                     json_int_t value) {
    json_t *sizes = json_copy((json_t *)(uintptr_t)spec->cases[base]);
    uint64_t bytes;
    json_object_set_new(sizes, name, json_integer(value));
    json_array_append_new(spec->added, sizes);
    spec->cases[spec->case_count++] = sizes;
    if (!is_possible(spec, spec->case_count - 1, &bytes)) {
        spec->case_count--;
        json_array_remove(spec->added, json_array_size(spec->added) - 1);
    }
}

/* "kv_heads" and "heads": related sizes have related names. */
static bool are_related(const char *a, const char *b) {
    return strcmp(a, b) != 0 && (strstr(a, b) || strstr(b, a));
}

static bool divides_always(const struct kernel_spec *spec, size_t cases, const char *by,
                           const char *name) {
    for (size_t i = 0; i < cases; i++) {
        json_int_t b = json_get_integer(spec->cases[i], by, 0);
        if (b < 1 || json_get_integer(spec->cases[i], name, 0) % b) {
            return false;
        }
    }
    return true;
}

/* The amount by which a size may be reduced. */
static json_int_t step_of(const struct kernel_spec *spec, size_t cases,
                          const char *name) {
    const char *other;
    json_t *value;
    json_int_t step = 1;
    json_object_foreach((json_t *)(uintptr_t)spec->cases[spec->added_base], other,
                        value) {
        json_int_t by = json_integer_value(value);
        if (by > step && are_related(name, other) &&
            divides_always(spec, cases, other, name)) {
            step = by;
        }
    }
    return step;
}

/* A case for each size of `base` that can change. */
static void add_cases(struct kernel_spec *spec, const struct spec_case *base) {
    size_t given = spec->case_count;
    json_each_member(spec->cases[spec->added_base], name, value) {
        json_int_t size = json_integer_value(value);
        if (spec->case_count < SPEC_MAX_CASES &&
            spec->case_count - given < ODD_SIZES_MAX && can_change(base, name)) {
            json_int_t step = step_of(spec, given, name);
            json_int_t odd = step > 1 ? size - step : size < 4 ? 3 : size - 1;
            if (odd > 0) {
                add_case(spec, spec->added_base, name, odd);
            }
        }
    }
}

size_t odd_sizes_add(struct kernel_spec *spec) {
    size_t given = spec->case_count;
    bool fixed = spec->expect == EXPECT_VALUES || spec->expect == EXPECT_FILES ||
                 spec->array_count;
    if (!spec->odd_sizes || fixed || spec->added || !all_round(spec)) {
        return 0;
    }
    spec->added = json_array();
    spec->added_base = smallest_case(spec);
    struct spec_case base;
    if (spec_case_resolve(&base, spec, spec->added_base, NULL) == 0) {
        add_cases(spec, &base);
        spec_case_finish(&base);
    }
    return spec->case_count - given;
}

const char *odd_sizes_name(const struct kernel_spec *spec, size_t i, json_int_t *ret_was,
                           json_int_t *ret_is) {
    const json_t *base = spec->cases[spec->added_base];
    json_each_member(spec->cases[i], name, value) {
        *ret_is = json_integer_value(value);
        *ret_was = json_integer_value(json_object_get(base, name));
        if (*ret_is != *ret_was) {
            return name;
        }
    }
    return "";
}

/* --- partial blocks --- */

static void change(struct kernel_spec *spec, size_t i, const char *name,
                   json_int_t value) {
    json_object_set_new((json_t *)(uintptr_t)spec->cases[i], name, json_integer(value));
}

/* The blocks of all launches with this value of a size; 0: it is impossible. */
static uint64_t blocks_with(struct kernel_spec *spec, size_t i, const char *name,
                            json_int_t value) {
    json_int_t is = json_get_integer(spec->cases[i], name, 0);
    struct spec_case c;
    uint64_t blocks = 0;
    change(spec, i, name, value);
    if (spec_case_resolve(&c, spec, i, NULL) == 0) {
        for (size_t k = 0; k < spec->launch_count; k++) {
            const uint32_t *grid = c.launches[k].grid;
            blocks += (uint64_t)grid[0] * grid[1] * grid[2];
        }
        spec_case_finish(&c);
    }
    change(spec, i, name, is);
    return blocks;
}

json_int_t odd_sizes_halve(struct kernel_spec *spec, size_t i) {
    json_int_t was, is;
    const char *name = odd_sizes_name(spec, i, &was, &is);
    uint64_t full = blocks_with(spec, i, name, was);
    json_int_t low = 0, high = was; /* high: as many blocks; low: fewer */
    if (!full || blocks_with(spec, i, name, was + 1) <= full) {
        return 0;
    }
    while (high - low > 1) {
        json_int_t middle = low + (high - low) / 2;
        bool same = blocks_with(spec, i, name, middle) == full;
        high = same ? middle : high;
        low = same ? low : middle;
    }
    json_int_t half = was - (was - low) / 2;
    if (was - low < LEAST_BLOCK) {
        return 0;
    }
    change(spec, i, name, half);
    return half;
}
