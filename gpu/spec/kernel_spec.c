#include "gpu/spec/kernel_spec.h"

#include "base/err.h"
#include "gpu/spec/spec_internal.h"

/* --- sizes --- */

static bool is_name(const char *text) {
    size_t len = strlen(text);
    return len && len <= 64 && !strchr("0123456789", *text) &&
           strspn(text,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               len;
}

static int read_case(struct spec_reader *r, const json_t *sizes, const char *at) {
    struct kernel_spec *spec = r->spec;
    if (!json_is_object(sizes)) {
        return err_set(r->err, -EINVAL, "%s: an object of sizes is expected", at);
    }
    if (spec->case_count == SPEC_MAX_CASES || json_object_size(sizes) > SPEC_MAX_SIZES) {
        return err_set(r->err, -EINVAL, "sizes: at most %d cases of %d sizes each",
                       SPEC_MAX_CASES, SPEC_MAX_SIZES);
    }
    json_each_member(sizes, name, value) {
        if (!is_name(name) || !json_is_integer(value)) {
            return err_set(
                r->err, -EINVAL, "%s.%.64s: a size is a name with an integer%s", at, name,
                json_is_array(value) ? "; cases are a list: [{\"n\": 1000}, {\"n\": 1}]"
                                     : "");
        }
    }
    spec->cases[spec->case_count++] = sizes;
    return 0;
}

static int read_cases(struct spec_reader *r, const json_t *sizes) {
    if (!sizes) {
        json_t *none = json_object();
        json_object_set_new(r->spec->json, "sizes", none);
        return read_case(r, none, "sizes");
    }
    if (!json_is_array(sizes)) {
        return read_case(r, sizes, "sizes");
    }
    if (!json_array_size(sizes)) {
        return err_set(r->err, -EINVAL, "sizes: the list is empty");
    }
    json_each(sizes, i, item) {
        char at[32];
        snprintf(at, sizeof at, "sizes[%zu]", i);
        int n = read_case(r, item, at);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* --- launches --- */

static int read_launches(struct spec_reader *r, const json_t *params) {
    struct kernel_spec *spec = r->spec;
    int n = spec_read_launches(r, params, "", &spec->launches, &spec->launch_count);
    return n < 0 || json_object_get(params, "launches") ? n
                                                        : spec_need_launch(r, params, "");
}

static int read_globals(struct spec_reader *r, const json_t *globals) {
    if (globals && !json_is_object(globals)) {
        return err_set(r->err, -EINVAL,
                       "globals: an object by variable name is expected");
    }
    json_each_member(globals, name, value) {
        char at[96];
        snprintf(at, sizeof at, "globals.%.64s", name);
        if (!json_is_object(value)) {
            return err_set(r->err, -EINVAL, "%s: an object is expected", at);
        }
        json_object_set_new(value, "name", json_string(name));
        int n = spec_read_buffer(r, value, at, true);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* Buffers that no parameter points to by itself: those of tensor maps and pointers. */
static int read_buffers(struct spec_reader *r, const json_t *buffers) {
    if (buffers && !json_is_array(buffers)) {
        return err_set(r->err, -EINVAL, "buffers: a list of {name, type, shape, …}");
    }
    json_each(buffers, i, item) {
        char at[32];
        snprintf(at, sizeof at, "buffers[%zu]", i);
        if (!json_is_object(item) || !json_object_get(item, "shape")) {
            return err_set(r->err, -EINVAL, "%s: {name, type, shape, …} is expected", at);
        }
        int n = spec_read_buffer(r, item, at, false);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* --- all of it --- */

static int read_all(struct spec_reader *r, const json_t *params) {
    int n = spec_check_members(r, params, KERNEL_SPEC_MEMBERS, "");
    n = n < 0 ? n : read_cases(r, json_object_get(params, "sizes"));
    n = n < 0 ? n : spec_read_course(r, params);
    n = n < 0 ? n : spec_read_save(r, json_object_get(params, "save"));
    n = n < 0 ? n : read_globals(r, json_object_get(params, "globals"));
    n = n < 0 ? n : read_buffers(r, json_object_get(params, "buffers"));
    n = n < 0 ? n : read_launches(r, params);
    n = n < 0 ? n : spec_check_struct_inits(r);
    return n < 0 ? n : spec_read_expect(r, json_object_get(params, "expect"));
}

int kernel_spec_read(struct kernel_spec *ret, const json_t *params, struct err *err) {
    struct kernel_spec spec = {.json = json_deep_copy(params)};
    struct spec_reader r = {.spec = &spec, .err = err};
    spec.buffers = xcalloc(SPEC_MAX_BUFFERS, sizeof *spec.buffers);
    int n = read_all(&r, spec.json);
    if (n < 0) {
        kernel_spec_finish(&spec);
        return n;
    }
    *ret = spec;
    return 0;
}

static void launches_free(struct spec_launch *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        spec_launch_finish(&list[i]);
    }
    free(list);
}

void kernel_spec_finish(struct kernel_spec *spec) {
    launches_free(spec->launches, spec->launch_count);
    launches_free(spec->reference, spec->reference_count);
    free(spec->buffers);
    for (size_t i = 0; i < spec->array_count; i++) {
        free(spec->arrays[i].owned);
    }
    free(spec->arrays);
    json_decref(spec->added);
    json_decref(spec->json);
    *spec = (struct kernel_spec){0};
}
