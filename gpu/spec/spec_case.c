#include "gpu/spec/spec_case.h"

#include "base/err.h"
#include "base/find.h"
#include "gpu/spec/launch_limits.h"
#include "gpu/spec/spec_tensor_map.h"
#include "gpu/spec/spec_texture.h"

/* --- buffers --- */

/* Fewer values repeat; more would be dropped, which is never intended. */
static int check_values(const struct spec_buffer *spec, uint64_t count, struct err *err) {
    size_t given = json_array_size(json_object_get(spec->init, "values"));
    return given <= count ? 0
                          : err_set(err, -EINVAL,
                                    "%s.init.values: it has %zu numbers, the buffer %llu "
                                    "elements",
                                    spec->name, given, (unsigned long long)count);
}

static int resolve_buffer(struct spec_case *c, size_t i, struct err *err) {
    const struct spec_buffer *spec = &c->spec->buffers[i];
    struct case_buffer *b = &c->buffers[i];
    b->rank = json_array_size(spec->shape);
    b->count = 1;
    double bytes = (double)tensor_type_bytes(spec->type);
    for (size_t d = 0; d < b->rank; d++) {
        int64_t extent = 0;
        int n = case_size_value(c, json_array_get(spec->shape, d), &extent, err);
        if (n < 0) {
            return n;
        }
        if (extent < 0) {
            return err_set(err, -EINVAL, "%s.shape[%zu] is %lld: an extent is 0 or more",
                           spec->name, d, (long long)extent);
        }
        b->shape[d] = extent;
        b->count *= (uint64_t)extent;
        bytes *= (double)extent;
    }
    if (bytes + (double)c->bytes > (double)SPEC_MAX_BYTES) {
        char sum[64] = "";
        if (c->bytes) {
            snprintf(sum, sizeof sum, ", %.3g GB with the buffers before it",
                     (bytes + (double)c->bytes) / 1e9);
        }
        return err_set(
            err, -EINVAL,
            "%s takes %.3g GB%s: the buffers of a case may hold %llu GB in all",
            spec->name, bytes / 1e9, sum, SPEC_MAX_BYTES / 1000000000);
    }
    b->bytes = (uint64_t)bytes;
    c->bytes += b->bytes;
    return check_values(spec, b->count, err);
}

/* --- launches --- */

static int resolve_extents(const struct spec_case *c, const json_t *value,
                           uint32_t lowest, uint32_t ret[static 3], const char *what,
                           struct err *err) {
    size_t count = json_is_array(value) ? json_array_size(value) : value != NULL;
    for (size_t d = 0; d < count; d++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, d) : value;
        int64_t extent = 0;
        int n = case_size_value(c, item, &extent, err);
        if (n < 0) {
            return n;
        }
        if (extent < lowest || extent > INT32_MAX) {
            return err_set(err, -EINVAL, "launch.%s[%zu] is %lld: %s %d", what, d,
                           (long long)extent, extent < lowest ? "at least" : "at most",
                           extent < lowest ? (int)lowest : INT32_MAX);
        }
        ret[d] = (uint32_t)extent;
    }
    return 0;
}

static int resolve_shape(const struct spec_case *c, const struct spec_launch *spec,
                         struct case_launch *ret, struct err *err) {
    uint32_t shared[3] = {0};
    *ret = (struct case_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    if (spec->cluster) {
        ret->cluster[0] = ret->cluster[1] = ret->cluster[2] = 1;
    }
    int n = resolve_extents(c, spec->grid, 1, ret->grid, "grid", err);
    n = n < 0 ? n : resolve_extents(c, spec->block, 1, ret->block, "block", err);
    n = n < 0 ? n : resolve_extents(c, spec->cluster, 1, ret->cluster, "cluster", err);
    n = n < 0 ? n
              : resolve_extents(c, spec->shared_bytes, 0, shared, "shared_bytes", err);
    ret->shared_bytes = shared[0];
    return n < 0 ? n : launch_limits_check(ret, c->spec->arch, err);
}

static bool is_image(const struct spec_arg *arg) {
    return arg->kind == ARG_TEXTURE || arg->kind == ARG_SURFACE;
}

/* Its tensor maps and textures are resolved again when they have an address. */
static int check_maps(const struct spec_case *c, const struct spec_launch *spec,
                      struct err *err) {
    for (size_t i = 0; i < spec->arg_count; i++) {
        struct tensor_map map;
        if (spec->args[i].kind == ARG_TENSOR_MAP &&
            spec_tensor_map_resolve(c, spec->args[i].json, &map, err) < 0) {
            err_wrap(err, "args[%zu].tensor_map", i);
            return -EINVAL;
        }
        struct texture texture;
        if (is_image(&spec->args[i]) &&
            spec_texture_resolve(c, &spec->args[i], &texture, err) < 0) {
            err_wrap(err, "args[%zu].%s", i,
                     spec->args[i].kind == ARG_TEXTURE ? "texture" : "surface");
            return -EINVAL;
        }
    }
    return 0;
}

static int resolve_launches(const struct spec_case *c, const struct spec_launch *list,
                            size_t count, struct case_launch **ret, struct err *err) {
    *ret = xcalloc(count ? count : 1, sizeof **ret);
    for (size_t i = 0; i < count; i++) {
        int n = resolve_shape(c, &list[i], *ret + i, err);
        n = n < 0 ? n : check_maps(c, &list[i], err);
        if (n < 0) {
            if (*list[i].at) {
                err_wrap(err, "%.*s", (int)strlen(list[i].at) - 1, list[i].at);
            }
            return n;
        }
    }
    return 0;
}

static void add_sizes(struct spec_case *c, const json_t *sizes) {
    json_each_member(sizes, name, value) {
        c->sizes[c->size_list.count++] =
            (struct size_value){name, json_integer_value(value)};
    }
    c->size_list.list = c->sizes;
}

/* --- scalars --- */

/* The scalar arguments by name. A name that stands for several values stands for none. */
struct named_scalars {
    const struct spec_arg *list[SPEC_MAX_ARGS];
    bool several[SPEC_MAX_ARGS];
    size_t count;
};

static void name_scalar(struct named_scalars *names, const struct spec_arg *arg) {
    size_t i = first_of(k, 0, names->count, !strcmp(names->list[k]->name, arg->name));
    if (arg->kind != ARG_SCALAR || !*arg->name || i == SPEC_MAX_ARGS) {
        return;
    }
    if (i == names->count) {
        names->list[names->count++] = arg;
    }
    names->several[i] |= names->list[i]->type != arg->type ||
                         !json_equal(names->list[i]->value, arg->value);
}

/* What has no valid value is refused where it is packed. */
static void add_scalars(struct spec_case *c) {
    struct named_scalars names = {.count = 0};
    list_each(i, launch, c->spec->launches, c->spec->launch_count) {
        for (size_t k = 0; k < launch->arg_count; k++) {
            name_scalar(&names, &launch->args[k]);
        }
    }
    c->scalars = xcalloc(names.count ? names.count : 1, sizeof *c->scalars);
    for (size_t i = 0; i < names.count; i++) {
        const struct spec_arg *arg = names.list[i];
        unsigned char value[16] = {0};
        if (!names.several[i] &&
            case_scalar(c, arg->type, arg->value, "", value, NULL) == 0) {
            c->scalars[c->scalar_count++] =
                (struct value_scalar){arg->name, tensor_get(arg->type, value, 0),
                                      !tensor_type_float(arg->type)};
        }
    }
}

/* --- what is expected --- */

static int check_numbers(const struct spec_case *c, const char *name,
                         const json_t *values, struct err *err) {
    uint64_t count = c->buffers[kernel_spec_buffer(c->spec, name)].count;
    return json_array_size(values) == count
               ? 0
               : err_set(err, -EINVAL,
                         "expect.values.%s: it has %zu numbers, the output %llu elements",
                         name, json_array_size(values), (unsigned long long)count);
}

struct value_inputs case_value_inputs(const struct spec_case *c, void *const *before,
                                      struct value_input list[static SPEC_MAX_BUFFERS]) {
    list_each(i, spec, c->spec->buffers, c->spec->buffer_count) {
        list[i] = (struct value_input){.name = spec->name,
                                       .type = spec->type,
                                       .data = before ? before[i] : NULL,
                                       .count = c->buffers[i].count};
    }
    return (struct value_inputs){list, c->spec->buffer_count, c->scalars,
                                 c->scalar_count};
}

/* Its names and its grammar; what it computes is seen when it is. */
static int check_expression(const struct spec_case *c, const char *text,
                            struct err *err) {
    struct value_input list[SPEC_MAX_BUFFERS];
    struct value_inputs inputs = case_value_inputs(c, NULL, list);
    struct value_expression *e = NULL;
    int n = value_expression_new(&e, text, &c->size_list, &inputs, err);
    value_expression_free(e);
    return n;
}

static int check_judges(const struct spec_case *c, struct err *err) {
    list_each(i, b, c->spec->buffers, c->spec->buffer_count) {
        if (b->judge && check_expression(c, b->judge, err) < 0) {
            err_wrap(err, "%s.judge", b->name);
            return -EINVAL;
        }
    }
    return 0;
}

static int check_expected(const struct spec_case *c, struct err *err) {
    enum spec_expect_kind kind = c->spec->expect;
    if (kind != EXPECT_VALUES && kind != EXPECT_EXPRESSION) {
        return 0;
    }
    json_each_member(c->spec->expected, name, value) {
        int n = kind == EXPECT_VALUES
                    ? check_numbers(c, name, value, err)
                    : check_expression(c, json_string_value(value), err);
        if (n < 0) {
            if (kind == EXPECT_EXPRESSION) {
                err_wrap(err, "expect.expression.%s", name);
            }
            return n;
        }
    }
    return 0;
}

int spec_case_resolve(struct spec_case *ret, const struct kernel_spec *spec, size_t i,
                      struct err *err) {
    struct spec_case *c = ret;
    *c = (struct spec_case){.spec = spec};
    add_sizes(c, spec->cases[i]);
    add_scalars(c);
    c->buffers = xcalloc(spec->buffer_count ? spec->buffer_count : 1, sizeof *c->buffers);
    int n = 0;
    for (size_t b = 0; b < spec->buffer_count && n == 0; b++) {
        n = resolve_buffer(c, b, err);
    }
    n = n < 0
            ? n
            : resolve_launches(c, spec->launches, spec->launch_count, &c->launches, err);
    n = n < 0 ? n
              : resolve_launches(c, spec->reference, spec->reference_count, &c->reference,
                                 err);
    n = n < 0 ? n : check_expected(c, err);
    n = n < 0 ? n : check_judges(c, err);
    if (n < 0) {
        err_wrap(err, "case %zu", i);
        spec_case_finish(c);
    }
    return n;
}

void spec_case_finish(struct spec_case *c) {
    free(c->buffers);
    free(c->launches);
    free(c->reference);
    free(c->scalars);
    *c = (struct spec_case){0};
}

static json_t *extents(const uint32_t list[static 3]) {
    return json_pack("[I,I,I]", (json_int_t)list[0], (json_int_t)list[1],
                     (json_int_t)list[2]);
}

json_t *case_launch_to_json(const struct case_launch *launch) {
    json_t *json = json_pack("{s:o, s:o, s:I}", "grid", extents(launch->grid), "block",
                             extents(launch->block), "shared_bytes",
                             (json_int_t)launch->shared_bytes);
    if (launch->cluster[0]) {
        json_object_set_new(json, "cluster", extents(launch->cluster));
    }
    return json;
}

/* --- contents --- */

static void init_pair(struct tensor_init *ret, enum tensor_init_kind kind,
                      const json_t *value) {
    ret->kind = kind;
    ret->a = json_number_value(json_array_get(value, 0));
    ret->b = json_number_value(json_array_get(value, 1));
}

/* *list: the numbers, followed by the same as integers. */
static int init_values(const struct spec_case *c, struct tensor_init *ret,
                       const json_t *value, double **list, struct err *err) {
    size_t count = json_array_size(value);
    _Static_assert(sizeof(int64_t) == sizeof(double), "one list for both");
    *list = xcalloc(count ? 2 * count : 1, sizeof **list);
    int64_t *whole = (int64_t *)(void *)(*list + count);
    bool are_whole = true;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        bool sized = json_is_string(number) && !spec_is_special(number);
        if (sized && case_size_value(c, number, &whole[i], err) < 0) {
            return -EINVAL;
        }
        whole[i] = sized ? whole[i] : json_integer_value(number);
        (*list)[i] = sized ? (double)whole[i] : spec_number(number);
        are_whole = are_whole && (sized || json_is_integer(number));
    }
    ret->kind = INIT_VALUES;
    ret->value_count = count;
    ret->values = *list;
    ret->whole = are_whole ? whole : NULL;
    return 0;
}

static int init_fill(const struct spec_case *c, struct tensor_init *ret,
                     const json_t *value, struct err *err) {
    int64_t whole = 0;
    bool sized = json_is_string(value) && !spec_is_special(value);
    int n = sized ? case_size_value(c, value, &whole, err) : 0;
    ret->kind = INIT_FILL;
    ret->a = sized ? (double)whole : spec_number(value);
    return n;
}

static int init_integers(const struct spec_case *c, struct tensor_init *ret,
                         const json_t *value, struct err *err) {
    ret->kind = INIT_INTEGERS;
    int n = case_size_value(c, json_array_get(value, 0), &ret->low, err);
    n = n < 0 ? n : case_size_value(c, json_array_get(value, 1), &ret->high, err);
    if (n == 0 && ret->low >= ret->high) {
        return err_set(err, -EINVAL, "init.integers: no number lies in [%lld, %lld)",
                       (long long)ret->low, (long long)ret->high);
    }
    return n;
}

static int init_file(const struct spec_case *c, size_t buffer, struct tensor_init *ret,
                     struct err *err) {
    const struct spec_array *a = kernel_spec_array(c->spec, buffer, false);
    if (!a || !a->data || a->bytes != c->buffers[buffer].bytes) {
        return err_set(err, -EINVAL, "%s.init.file: the file is not here",
                       c->spec->buffers[buffer].name);
    }
    ret->kind = INIT_COPY;
    ret->elements = a->data;
    return 0;
}

int spec_case_init(const struct spec_case *c, size_t buffer, struct tensor_init *ret,
                   double **ret_values, struct err *err) {
    const json_t *init = c->spec->buffers[buffer].init, *value;
    *ret = (struct tensor_init){.kind = INIT_POISON};
    *ret_values = NULL;
    if ((value = json_object_get(init, "normal"))) {
        init_pair(ret, INIT_NORMAL, value);
    } else if ((value = json_object_get(init, "uniform"))) {
        init_pair(ret, INIT_UNIFORM, value);
    } else if ((value = json_object_get(init, "integers"))) {
        return init_integers(c, ret, value, err);
    } else if ((value = json_object_get(init, "fill"))) {
        return init_fill(c, ret, value, err);
    } else if ((value = json_object_get(init, "arange"))) {
        *ret = (struct tensor_init){.kind = INIT_ARANGE, .b = 1};
        if (json_is_array(value)) {
            init_pair(ret, INIT_ARANGE, value);
        }
    } else if ((value = json_object_get(init, "values"))) {
        return init_values(c, ret, value, ret_values, err);
    } else if (json_object_get(init, "file")) {
        return init_file(c, buffer, ret, err);
    }
    return 0;
}
