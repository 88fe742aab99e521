#include "gpu/spec/spec_npy.h"

#include "base/err.h"
#include "gpu/spec/spec_case.h"
#include "gpu/tensor/npy.h"
#include "gpu/tensor/tensor_shape.h"

#include <nettle/base64.h>

void spec_array_name(const struct kernel_spec *spec, size_t i, char *ret, size_t size) {
    const struct spec_array *a = &spec->arrays[i];
    const char *name = spec->buffers[a->buffer].name;
    if (a->expected) {
        snprintf(ret, size, "expect.files.%.64s '%.200s'", name, a->path);
    } else {
        snprintf(ret, size, "%.64s.init.file '%.200s'", name, a->path);
    }
}

/* --- whether it fits --- */

static int check_type(const struct kernel_spec *spec, const struct spec_array *a,
                      const struct npy *npy, enum tensor_type *ret, struct err *err) {
    enum tensor_type type = spec->buffers[a->buffer].type;
    bool wider = a->expected && tensor_type_float(type) &&
                 (npy->type == TENSOR_FLOAT32 || npy->type == TENSOR_FLOAT64);
    *ret = wider ? npy->type : type;
    if (!wider && !npy_stands_for(npy, type)) {
        return err_set(err, -EINVAL, "the file's elements are %s, the buffer's %s",
                       npy->type < TENSOR_TYPES ? tensor_type_name(npy->type)
                                                : npy->descr,
                       tensor_type_name(type));
    }
    return 0;
}

static int check_shape(const struct spec_case *c, size_t at, const struct spec_array *a,
                       const struct npy *npy, struct err *err) {
    const struct case_buffer *b = &c->buffers[a->buffer];
    char have[160], want[160];
    if (tensor_shape_fits(npy->shape, npy->rank, b->shape, b->rank)) {
        return 0;
    }
    return err_set(err, -EINVAL, "the file's shape is %s, case %zu needs %s",
                   tensor_shape_text(npy->shape, npy->rank, have, sizeof have), at,
                   tensor_shape_text(b->shape, b->rank, want, sizeof want));
}

static int check_cases(const struct kernel_spec *spec, const struct spec_array *a,
                       const struct npy *npy, struct err *err) {
    for (size_t k = 0; k < spec->case_count; k++) {
        struct spec_case c;
        int n = spec_case_resolve(&c, spec, k, err);
        if (n < 0) {
            return n;
        }
        n = check_shape(&c, k, a, npy, err);
        spec_case_finish(&c);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

static int read_array(const struct kernel_spec *spec, size_t i, const void *bytes,
                      size_t have, size_t len, struct npy *npy, enum tensor_type *ret,
                      struct err *err) {
    const struct spec_array *a = &spec->arrays[i];
    int n = npy_read_head(npy, bytes, have, len, err);
    n = n < 0 ? n : check_type(spec, a, npy, ret, err);
    n = n < 0 ? n : check_cases(spec, a, npy, err);
    if (n < 0) {
        char name[300];
        spec_array_name(spec, i, name, sizeof name);
        err_wrap(err, "%s", name);
    }
    return n;
}

int spec_array_check(const struct kernel_spec *spec, size_t i, const void *bytes,
                     size_t have, size_t len, struct err *err) {
    struct npy npy;
    enum tensor_type type;
    return read_array(spec, i, bytes, have, len, &npy, &type, err);
}

/* --- base64 --- */

json_t *spec_array_encode(const void *bytes, size_t len) {
    size_t size = BASE64_ENCODE_RAW_LENGTH(len);
    autofree char *text = xmalloc(size + 1);
    base64_encode_raw(text, len, bytes);
    return json_stringn_nocheck(text, size);
}

unsigned char *spec_array_decode(const json_t *text, size_t *ret_len) {
    struct base64_decode_ctx context;
    size_t size = json_string_length(text);
    *ret_len = BASE64_DECODE_LENGTH(size);
    unsigned char *bytes = xmalloc(*ret_len + 1);
    base64_decode_init(&context);
    if (!json_is_string(text) ||
        !base64_decode_update(&context, ret_len, bytes, size, json_string_value(text)) ||
        !base64_decode_final(&context)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

/* --- contents --- */

static int take_array(struct kernel_spec *spec, size_t i, const json_t *place,
                      const struct spec_files *files, struct err *err) {
    struct spec_array *a = &spec->arrays[i];
    struct npy npy;
    json_int_t at =
        json_is_array(place) ? json_integer_value(json_array_get(place, 0)) : -1;
    if (!files || at < 0 || (size_t)at >= files->count) {
        return err_set(err, -EINVAL, "the request lacks the file '%.200s'", a->path);
    }
    const struct spec_file *f = &files->list[at];
    int n = read_array(spec, i, f->bytes, f->len, f->len, &npy, &a->type, err);
    if (n < 0) {
        return n;
    }
    a->bytes = npy.count * npy.item_bytes;
    a->data = npy_elements(&npy, f->bytes);
    if (!a->data) {
        a->data = a->owned = xmalloc(a->bytes ? a->bytes : 1);
        npy_copy(&npy, f->bytes, a->owned);
    }
    return 0;
}

int spec_arrays_take(struct kernel_spec *spec, const json_t *places,
                     const struct spec_files *files, struct err *err) {
    int n = 0;
    for (size_t i = 0; n == 0 && i < spec->array_count; i++) {
        const json_t *place = json_object_get(places, spec->arrays[i].path);
        n = take_array(spec, i, place, files, err);
    }
    return n;
}
