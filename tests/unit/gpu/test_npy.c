/* .npy files: what numpy wrote, what lies, and how a check spec takes them. */
#include "base/err.h"
#include "base/json.h"
#include "gpu/run/expectation.h"
#include "gpu/spec/spec_case.h"
#include "gpu/spec/spec_npy.h"
#include "gpu/tensor/npy.h"
#include "tests/unit/gpu/test_data.h"

#include <errno.h>
#include <string.h>

/* --- files of numpy's own (data/make_npy.py) --- */

static json_t *expected_files(void) {
    size_t len;
    autofree char *text = test_data_read("npy/expected.json", &len);
    json_t *all = json_loads(text, 0, NULL);
    cr_assert(json_object_size(all) > 20);
    return all;
}

static char *npy_file(const char *name, size_t *ret_len) {
    autofree char *path = xasprintf("npy/%s.npy", name);
    return test_data_read(path, ret_len);
}

static void check_bytes(const char *name, const unsigned char *have, size_t len,
                        const char *hex) {
    cr_assert_eq(strlen(hex), 2 * len, "%s", name);
    for (size_t i = 0; i < len; i++) {
        char pair[3];
        snprintf(pair, sizeof pair, "%02x", have[i]);
        cr_assert(!memcmp(pair, hex + 2 * i, 2), "%s: byte %zu is %s", name, i, pair);
    }
}

Test(npy, reads_what_numpy_wrote) {
    autojson *all = expected_files();
    const char *name;
    json_t *want;
    json_object_foreach(all, name, want) {
        size_t len;
        autofree char *file = npy_file(name, &len);
        struct npy npy;
        struct err err = {0};
        cr_assert_eq(npy_read_head(&npy, file, len, len, &err), 0, "%s: %s", name,
                     err.msg);
        enum tensor_type type = tensor_type_find(json_get_string(want, "type", ""));
        cr_assert(npy_stands_for(&npy, type), "%s", name);
        const json_t *shape = json_object_get(want, "shape");
        cr_assert_eq(npy.rank, json_array_size(shape), "%s", name);
        for (size_t d = 0; d < npy.rank; d++) {
            cr_assert_eq(npy.shape[d], json_integer_value(json_array_get(shape, d)));
        }
        size_t bytes = npy.count * npy.item_bytes;
        autofree unsigned char *elements = xmalloc(bytes + 1);
        npy_copy(&npy, file, elements);
        check_bytes(name, elements, bytes, json_get_string(want, "bytes", ""));
    }
}

Test(npy, a_cut_file_is_an_error) {
    static const char *const names[] = {"float32", "version2", "scalar", "fortran"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t len;
        autofree char *file = npy_file(names[k], &len);
        for (size_t cut = 0; cut < len; cut++) {
            autofree char *copy =
                xmalloc(cut + 1); /* so that a tool sees a read beyond */
            memcpy(copy, file, cut);
            struct npy npy;
            cr_assert_eq(npy_read_head(&npy, copy, cut, cut, NULL), -EINVAL);
        }
    }
}

/* A file of version 1.0 with this header and so many bytes behind it. */
static size_t make_file(char ret[static 600], const char *header, size_t bytes) {
    size_t len = strlen(header);
    memcpy(ret, "\x93NUMPY\x01\x00", 8);
    ret[8] = (char)(len & 255);
    ret[9] = (char)(len >> 8);
    memcpy(ret + 10, header, len);
    memset(ret + 10 + len, 0, bytes);
    return 10 + len + bytes;
}

#define FLOATS(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }"
#define TYPED(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': (3,), }"

static const struct {
    const char *header;
    size_t bytes;
    const char *words;
} bad_headers[] = {
    {FLOATS("(3,)"), 11, "takes 12 bytes of <f4, 11 follow"},
    {FLOATS("(3,)"), 13, "13 follow"},
    {FLOATS("(3,)"), 0, "0 follow"},
    {FLOATS("()"), 0, "takes 4 bytes"},
    {FLOATS("(0, 3)"), 1, "takes 0 bytes"},
    {FLOATS("(-3,)"), 12, "negative"},
    {FLOATS("(3, -1)"), 12, "negative"},
    {FLOATS("(99999999999999999999,)"), 12, "beyond 64 bits"},
    {FLOATS("(9223372036854775807, 2)"), 12, "too many elements"},
    {FLOATS("(4294967296, 4294967296)"), 12, "too many elements"},
    {FLOATS("(4611686018427387904,)"), 0, "too many elements"},
    {FLOATS("(1099511627776,)"), 12, "takes 4398046511104 bytes"},
    {FLOATS("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, "more than 8"},
    {FLOATS("(3)"), 12, "not a tuple"},
    {FLOATS("3"), 12, "not a tuple"},
    {FLOATS("[3]"), 12, "not a tuple"},
    {FLOATS("(3 4)"), 12, "lacks a comma"},
    {FLOATS("(,)"), 12, "whole numbers"},
    {FLOATS("(3.0,)"), 12, "comma"},
    {FLOATS("(0x3,)"), 12, "comma"},
    {FLOATS("(1+2,)"), 12, "comma"},
    {FLOATS("(3,"), 12, "whole numbers"},
    {FLOATS("(None,)"), 12, "whole numbers"},
    {FLOATS("(3,)") "x", 12, "follows"},
    {"", 12, "does not begin"},
    {"{", 12, "a text in quotes"},
    {"{}", 12, "are needed"},
    {"[]", 12, "does not begin"},
    {"{'descr': '<f4', 'shape': (3,)}", 12, "are needed"},
    {"{'descr': '<f4', 'fortran_order': False}", 12, "are needed"},
    {"{'fortran_order': False, 'shape': (3,)}", 12, "are needed"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 12,
     "twice"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}", 12, "a key"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}", 12, "comma"},
    {"{'descr' '<f4', 'fortran_order': False, 'shape': (3,)}", 12, "colon"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}", 12, "neither True"},
    {"{'descr': '<f4', 'fortran_order': false, 'shape': (3,)}", 12, "neither True"},
    {"{'descr': '<f4', 'fortran_order': __import__('os'), 'shape': (3,)}", 12,
     "neither True"},
    {"{'descr': '<f4, 'fortran_order': False, 'shape': (3,)}", 12, "comma"},
    {"{'descr': '<f4", 12, "does not end"},
    {TYPED("'<\\x66 4'"), 12, "does not end"},
    {TYPED("<f4"), 12, "in quotes"},
    {TYPED("None"), 12, "in quotes"},
    {TYPED("[('a', '<f4'), ('b', '<i4')]"), 24, "structures"},
    {TYPED("'|O'"), 24, "type '|O'"},
    {TYPED("'<c8'"), 24, "type '<c8'"},
    {TYPED("'<U4'"), 48, "type '<U4'"},
    {TYPED("'|S4'"), 12, "type '|S4'"},
    {TYPED("'<M8[ns]'"), 24, "type '<M8[ns]'"},
    {TYPED("'<datetime64[ns]'"), 24, "too long"},
    {TYPED("'<f16'"), 48, "type '<f16'"},
    {TYPED("'|V8'"), 24, "type '|V8'"},
    {TYPED("'f4'"), 12, "type 'f4'"},
    {TYPED("''"), 12, "type ''"},
    {TYPED("'<f4\x01'"), 12, "type '<f4?'"},
};

Test(npy, headers_that_lie_or_are_none) {
    for (size_t i = 0; i < sizeof bad_headers / sizeof *bad_headers; i++) {
        char file[600];
        size_t len = make_file(file, bad_headers[i].header, bad_headers[i].bytes);
        struct npy npy;
        struct err err = {0};
        cr_assert_eq(npy_read_head(&npy, file, len, len, &err), -EINVAL, "%s",
                     bad_headers[i].header);
        cr_assert(strstr(err.msg, bad_headers[i].words) != NULL, "%s: %s",
                  bad_headers[i].header, err.msg);
    }
}

Test(npy, beginnings_that_are_none) {
    char file[600];
    struct npy npy;
    struct err err = {0};
    size_t len = make_file(file, FLOATS("(3,)"), 12);
    cr_assert_eq(npy_read_head(&npy, file, len, len, &err), 0, "%s", err.msg);
    file[6] = 4;
    cr_assert_lt(npy_read_head(&npy, file, len, len, &err), 0);
    cr_assert(strstr(err.msg, "version 4.0"), "%s", err.msg);
    file[6] = 2; /* its header's length then has four bytes, of which two are text */
    cr_assert_lt(npy_read_head(&npy, file, len, len, &err), 0);
    cr_assert(strstr(err.msg, "ends before"), "%s", err.msg);
    file[6] = 1;
    file[9] = (char)0xff;
    cr_assert_lt(npy_read_head(&npy, file, len, len, &err), 0);
    file[0] = 'x';
    cr_assert_lt(npy_read_head(&npy, file, len, len, &err), 0);
    cr_assert(strstr(err.msg, "no .npy"), "%s", err.msg);
}

/* --- in a spec --- */

static const char *const spec_text =
    "{\"sizes\": [{\"n\": 3}, {\"n\": 3}], \"launch\": {\"grid\": [1], \"block\": [32]}, "
    "\"args\": [{\"name\": \"y\", \"type\": \"float16\", \"shape\": [\"n\", 4], "
    "\"output\": true}, {\"name\": \"x\", \"type\": \"bfloat16\", \"shape\": [\"n\", 4], "
    "\"init\": {\"file\": \"bfloat16.npy\"}}], "
    "\"expect\": {\"files\": {\"y\": \"float64.npy\"}}}";

static void read_files_spec(struct kernel_spec *ret, json_t *params) {
    struct err err = {0};
    cr_assert_eq(kernel_spec_read(ret, params, &err), 0, "%s", err.msg);
    json_decref(params);
}

static struct spec_file file_list[4];

/* Whose bytes are left to the end of the process: a spec points into them. */
static json_t *read_files(const struct kernel_spec *spec, struct spec_files *ret) {
    json_t *places = json_object();
    for (size_t i = 0; i < spec->array_count; i++) {
        autofree char *path = xasprintf("npy/%s", spec->arrays[i].path);
        file_list[i].bytes = test_data_read(path, &file_list[i].len);
        json_object_set_new(places, spec->arrays[i].path, json_pack("[i]", (int)i));
    }
    *ret = (struct spec_files){file_list, spec->array_count};
    return places;
}

static void free_files(const struct spec_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        free((void *)files->list[i].bytes);
    }
}

static const char *bytes_of(const json_t *all, const char *name) {
    return json_get_string(json_object_get(all, name), "bytes", "");
}

Test(spec_npy, files_become_contents_and_expectations) {
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    autojson *all = expected_files();
    read_files_spec(&spec, json_loads(spec_text, 0, NULL));
    cr_assert_eq(spec.array_count, 2);
    cr_assert_eq(spec.expect, EXPECT_FILES);
    struct spec_files files;
    autojson *places = read_files(&spec, &files);
    cr_assert_eq(spec_arrays_take(&spec, places, &files, &err), 0, "%s", err.msg);
    cr_expect_null(spec.arrays[0].owned, "where it was");
    cr_assert_eq(spec_case_resolve(&c, &spec, 1, &err), 0);
    struct tensor_init init;
    double *values;
    cr_assert_eq(spec_case_init(&c, 1, &init, &values, &err), 0, "%s", err.msg);
    unsigned char first[24], part[8];
    tensor_fill(TENSOR_BFLOAT16, first, 0, 12, &init, 1, 1);
    check_bytes("bfloat16", first, sizeof first, bytes_of(all, "bfloat16"));
    tensor_fill(TENSOR_BFLOAT16, part, 4, 4, &init, 1, 1);
    cr_assert(!memcmp(part, first + 8, sizeof part));
    struct expectation e;
    void *before[2] = {first, first};
    cr_assert_eq(expectation_compute(&e, &c, before, false, &err), 0, "%s", err.msg);
    cr_assert_eq(e.outputs[0].type, TENSOR_FLOAT64); /* wider than the output */
    check_bytes("float64", e.outputs[0].data, 96, bytes_of(all, "float64"));
    cr_assert(!e.outputs[1].data);
    expectation_finish(&e);
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
    free_files(&files);
}

/* x and y as the files say, and the words for why they do not fit. */
Test(spec_npy, files_that_do_not_fit) {
    static const struct {
        const char *x, *y, *words;
    } cases[] = {
        {"float32.npy", "float16.npy",
         "x.init.file 'float32.npy': the file's elements are float32, the buffer's "
         "bfloat16"},
        {"uint16.npy", "int32.npy", "expect.files.y 'int32.npy': the file's elements"},
        {"uint8.npy", "float16.npy", "x.init.file 'uint8.npy'"},
        {"float16.npy", "float16.npy", "x.init.file 'float16.npy'"},
        {"bfloat16.npy", "bfloat16.npy", "elements are <V2, the buffer's float16"},
        {"bfloat16.npy", "fortran.npy", "shape is [2, 3, 5], case 0 needs [3, 4]"},
        {"bfloat16.npy", "scalar.npy", "shape is [], case 0 needs [3, 4]"},
        {"bfloat16.npy", "empty.npy", "shape is [0, 3]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_spec spec;
        struct err err = {0};
        json_t *params = json_loads(spec_text, 0, NULL);
        json_t *x = json_array_get(json_object_get(params, "args"), 1);
        json_object_set_new(json_object_get(x, "init"), "file", json_string(cases[i].x));
        json_object_set_new(json_object_get(json_object_get(params, "expect"), "files"),
                            "y", json_string(cases[i].y));
        read_files_spec(&spec, params);
        struct spec_files files;
        autojson *places = read_files(&spec, &files);
        cr_assert_lt(spec_arrays_take(&spec, places, &files, &err), 0, "%s",
                     cases[i].words);
        cr_assert(strstr(err.msg, cases[i].words), "%s", err.msg);
        kernel_spec_finish(&spec);
        free_files(&files);
    }
}

Test(spec_npy, a_request_without_the_file_is_an_error) {
    static const char *const requests[] = {
        "{}", "{\"bfloat16.npy\": 0}", "{\"bfloat16.npy\": [2]}",
        "{\"bfloat16.npy\": [-1]}", "{\"bfloat16.npy\": [\"x\"], \"a\": [0]}"};
    const struct spec_files given = {(const struct spec_file[]){{"AAA", 3}, {"", 0}}, 2};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct kernel_spec spec;
        struct err err = {0};
        autojson *files = json_loads(requests[i], 0, NULL);
        read_files_spec(&spec, json_loads(spec_text, 0, NULL));
        cr_assert_lt(spec_arrays_take(&spec, files, &given, &err), 0);
        cr_assert(strstr(err.msg, "bfloat16.npy"), "%s", err.msg);
        kernel_spec_finish(&spec);
    }
}
