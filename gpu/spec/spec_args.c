/* The arguments and buffers of a check spec. */
#include "base/err.h"
#include "gpu/spec/spec_internal.h"
#include "gpu/spec/spec_struct.h"
#include "gpu/spec/spec_tensor_map.h"
#include "gpu/spec/spec_texture.h"

#include <float.h>
#include <math.h>

/* --- tolerances --- */

/* The tolerance that `holder` gives, the spec or a buffer. */
static int read_tolerance(struct spec_reader *r, struct tolerance *ret,
                          const json_t *holder, const char *at) {
    const json_t *json = json_object_get(holder, "tolerance");
    const json_t *compare = json_object_get(holder, "compare");
    if (compare) {
        ret->mode =
            (enum compare_mode)spec_word(KERNEL_SPEC_BUFFER_MEMBERS, holder, "compare");
    }
    if (!json) {
        return 0;
    }
    if (!json_is_object(json)) {
        return err_set(r->err, -EINVAL,
                       "%s: an object is expected; did you mean {\"rtol\": %g}?",
                       at, json_is_number(json) ? json_number_value(json) : 1e-3);
    }
    if (ret->mode == COMPARE_EXACT && !compare) {
        ret->mode = COMPARE_ELEMENTWISE; /* a tolerance for integers was asked for */
    }
    SPEC_READ(KERNEL_SPEC_TOLERANCE_VALUES)
    ret->scale = false;
    return spec_check_members(r, json, KERNEL_SPEC_TOLERANCE_MEMBERS, at);
}

/* --- buffers --- */

static int check_shape(struct spec_reader *r, const json_t *shape, const char *at) {
    if (!shape) {
        return err_set(r->err, -EINVAL,
                       "%s.shape: a buffer has a list of extents; a scalar has a "
                       "\"value\" instead",
                       at);
    }
    if (!json_is_array(shape) || json_array_size(shape) > TENSOR_MAX_RANK) {
        return err_set(r->err, -EINVAL,
                       "%s.shape: a list of up to %d extents, like [\"n\"]", at,
                       TENSOR_MAX_RANK);
    }
    json_each(shape, i, extent) {
        char path[192];
        snprintf(path, sizeof path, "%s.shape[%zu]", at, i);
        int n = spec_check_size(r, extent, path);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* Which elements are compared; the names and the grammar of an expression are a case's
 * to check. */
static int read_judge(struct spec_reader *r, struct spec_buffer *ret, const json_t *judge,
                      const char *at) {
    ret->judged = ret->output && !ret->scratch && !json_is_false(judge);
    ret->judge = json_string_value(judge);
    if (!judge) {
        return 0;
    }
    if (!ret->output || ret->scratch) {
        return err_set(r->err, -EINVAL,
                       "%s.judge: only outputs are judged: a buffer with \"output\": "
                       "true and without \"scratch\"",
                       at);
    }
    return json_is_boolean(judge) || ret->judge
               ? 0
               : err_set(r->err, -EINVAL,
                         "%s.judge: false, or an expression that is not 0 for the "
                         "elements to judge, like \"i < n\", is expected",
                         at);
}

static int read_new_buffer(struct spec_reader *r, struct spec_buffer *ret,
                           const json_t *json, const char *at) {
    int n = spec_check_members(r, json, KERNEL_SPEC_BUFFER_MEMBERS, at);
    n = n < 0 ? n : spec_check_type(r, json, at, &ret->type);
    n = n < 0 ? n : check_shape(r, json_object_get(json, "shape"), at);
    n = n < 0 ? n : spec_check_init(r, ret->type, json_object_get(json, "init"), at);
    if (n < 0) {
        return n;
    }
    ret->shape = json_object_get(json, "shape");
    ret->init = json_object_get(json, "init");
    SPEC_READ(KERNEL_SPEC_BUFFER_VALUES)
    ret->output = ret->scratch || json_get_bool(json, "output", 0);
    if (!ret->output && !ret->init && !ret->is_global) {
        return err_set(r->err, -EINVAL,
                       "%s: say what it contains (\"init\"), that it is an output "
                       "(\"output\": true) or workspace (\"scratch\": true)",
                       at);
    }
    n = read_judge(r, ret, json_object_get(json, "judge"), at);
    if (n < 0) {
        return n;
    }
    ret->tolerance = tolerance_default(ret->type);
    char path[192];
    snprintf(path, sizeof path, "%s.tolerance", at);
    n = read_tolerance(r, &ret->tolerance, r->spec->json, "tolerance");
    return n < 0 ? n : read_tolerance(r, &ret->tolerance, json, path);
}

int spec_read_buffer(struct spec_reader *r, const json_t *json, const char *at,
                     bool is_global) {
    struct kernel_spec *spec = r->spec;
    const char *name = json_get_string(json, "name", "");
    size_t known = kernel_spec_buffer(spec, name);
    if (!*name || strlen(name) > 64) {
        return err_set(r->err, -EINVAL, "%s.name: a buffer needs a name", at);
    }
    if (known != SIZE_MAX) {
        return json_object_get(json, "shape")
                   ? err_set(r->err, -EINVAL, "%s.name: there are two buffers '%s'", at,
                             name)
                   : (int)known;
    }
    if (spec->buffer_count == SPEC_MAX_BUFFERS) {
        return err_set(r->err, -EINVAL, "%s: more than %d buffers", at, SPEC_MAX_BUFFERS);
    }
    struct spec_buffer buffer = {.name = name, .is_global = is_global};
    int n = read_new_buffer(r, &buffer, json, at);
    if (n < 0) {
        return n;
    }
    spec->buffers[spec->buffer_count] = buffer;
    return (int)spec->buffer_count++;
}

/* --- arguments --- */

static int check_pointers(struct spec_reader *r, const json_t *names, const char *at) {
    if (!json_is_array(names) || !json_array_size(names)) {
        return err_set(r->err, -EINVAL, "%s.pointers: a list of buffer names", at);
    }
    json_each(names, i, name) {
        const char *word = json_string_value(name);
        if (!word || kernel_spec_buffer(r->spec, word) == SIZE_MAX) {
            return err_set(r->err, -EINVAL,
                           "%s.pointers[%zu]: there is no buffer of that name before it",
                           at, i);
        }
    }
    return 0;
}

/* One of any kind that a launch before described. */
static const struct spec_arg *earlier_arg(const struct kernel_spec *spec,
                                          const char *name) {
    for (size_t i = 0; i < spec->launch_count; i++) {
        for (size_t k = 0; k < spec->launches[i].arg_count; k++) {
            if (!strcmp(spec->launches[i].args[k].name, name)) {
                return &spec->launches[i].args[k];
            }
        }
    }
    return NULL;
}

static int read_named(struct spec_reader *r, struct spec_arg *ret, const char *name,
                      const char *at) {
    const struct spec_arg *known = earlier_arg(r->spec, name);
    size_t buffer = kernel_spec_buffer(r->spec, name);
    if (buffer != SIZE_MAX) {
        ret->name = name;
        ret->buffer = buffer;
    } else if (known && *name) {
        *ret = *known;
    } else {
        return err_set(r->err, -EINVAL,
                       "%s: no buffer and no argument of a launch before it is called "
                       "'%.64s'; %s",
                       at, name,
                       strchr(name, '=') ? "a size belongs in `sizes`"
                                         : "a scalar is {\"name\", \"type\", \"value\"}");
    }
    return 0;
}

static int check_contents(struct spec_reader *r, struct spec_arg *ret, const json_t *json,
                          const char *at) {
    const char *of = json_get_string(json, "contents_of", "");
    ret->buffer = kernel_spec_buffer(r->spec, of);
    if (ret->buffer == SIZE_MAX) {
        return err_set(r->err, -EINVAL,
                       "%s.contents_of: expected the name of a buffer described earlier",
                       at);
    }
    return spec_check_members(r, json, KERNEL_SPEC_CONTENTS_MEMBERS, at);
}

/* What holds the number, as long as nobody knows the parameter's type. */
static enum tensor_type type_of_number(const json_t *value) {
    if (json_is_integer(value)) {
        json_int_t n = json_integer_value(value);
        return n == (int32_t)n ? TENSOR_INT32 : TENSOR_INT64;
    }
    bool wide = json_is_real(value) && fabs(json_real_value(value)) > FLT_MAX;
    return wide ? TENSOR_FLOAT64 : TENSOR_FLOAT32;
}

static int read_scalar(struct spec_reader *r, struct spec_arg *ret, const json_t *json,
                       const char *at) {
    int n = spec_check_members(r, json, KERNEL_SPEC_SCALAR_MEMBERS, at);
    ret->kind = ARG_SCALAR;
    ret->open = (json_is_number(ret->value) || spec_is_special(ret->value)) &&
                !json_object_get(json, "type");
    if (n == 0 && ret->open) {
        ret->type = type_of_number(ret->value);
        return 0;
    }
    return n < 0 ? n : spec_check_scalar(r, json, at, &ret->type);
}

static int read_arg(struct spec_reader *r, struct spec_arg *ret, const json_t *json,
                    const char *at) {
    if (json_is_string(json)) {
        return read_named(r, ret, json_string_value(json), at);
    }
    if (!json_is_object(json)) {
        return err_set(r->err, -EINVAL, "%s: an object is expected", at);
    }
    ret->name = json_get_string(json, "name", "");
    ret->value = json_object_get(json, "value");
    if (json_object_get(json, "struct")) {
        ret->kind = ARG_STRUCT;
        ret->json = json;
        int n = spec_check_members(r, json, KERNEL_SPEC_STRUCTURE_MEMBERS, at);
        return n < 0 ? n : spec_struct_check(r, json, at);
    }
    if ((ret->list = json_object_get(json, "pointers"))) {
        ret->kind = ARG_POINTERS;
        int n = spec_check_members(r, json, KERNEL_SPEC_POINTERS_MEMBERS, at);
        return n < 0 ? n : check_pointers(r, ret->list, at);
    }
    if ((ret->json = json_object_get(json, "tensor_map"))) {
        ret->kind = ARG_TENSOR_MAP;
        int n = spec_check_members(r, json, KERNEL_SPEC_TENSOR_MAP_ARGUMENT_MEMBERS, at);
        return n < 0 ? n : spec_tensor_map_check(r, ret->json, at);
    }
    if (json_object_get(json, "contents_of")) {
        ret->kind = ARG_CONTENTS;
        return check_contents(r, ret, json, at);
    }
    if ((ret->json = json_object_get(json, "texture")) ||
        (ret->json = json_object_get(json, "surface"))) {
        ret->kind = json_object_get(json, "texture") ? ARG_TEXTURE : ARG_SURFACE;
        int n = spec_check_members(r, json,
                                   ret->kind == ARG_TEXTURE
                                       ? KERNEL_SPEC_TEXTURE_ARGUMENT_MEMBERS
                                       : KERNEL_SPEC_SURFACE_ARGUMENT_MEMBERS,
                                   at);
        return n < 0 ? n : spec_texture_check(r, ret, at);
    }
    if (ret->value) {
        return read_scalar(r, ret, json, at);
    }
    int n = spec_read_buffer(r, json, at, false);
    ret->buffer = (size_t)n;
    return n < 0 ? n : 0;
}

int spec_read_args(struct spec_reader *r, struct spec_launch *ret, const json_t *args,
                   const char *at) {
    size_t count = json_array_size(args);
    if ((args && !json_is_array(args)) || count > SPEC_MAX_ARGS) {
        return err_set(r->err, -EINVAL, "%sargs: a list of up to %d arguments", at,
                       SPEC_MAX_ARGS);
    }
    ret->args = xcalloc(count ? count : 1, sizeof *ret->args);
    for (; ret->arg_count < count; ret->arg_count++) {
        char path[128];
        snprintf(path, sizeof path, "%sargs[%zu]", at, ret->arg_count);
        int n = read_arg(r, &ret->args[ret->arg_count],
                         json_array_get(args, ret->arg_count), path);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}
