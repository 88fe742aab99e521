/* What a drafted check spec takes from the host code, and what it leaves open. The
 * expected values were worked out by hand from each source. */
#include "base/buf.h"
#include "base/mem.h"
#include "gpu/draft/draft_kernels.h"
#include "gpu/draft/spec_draft.h"
#include "gpu/editor/spec_document.h"

#include <criterion/criterion.h>
#include <string.h>

static json_t *draft_of(const char *text, json_t **unknown) {
    struct host_program p;
    size_t len = strlen(text);
    const struct declaration *kernel;
    cr_assert(host_program_init(&p, &text, &len, 1, false));
    cr_assert_eq(draft_kernels(&p, &kernel, 1), 1);
    json_t *draft = spec_draft(&p, kernel, false, unknown);
    host_program_finish(&p);
    return draft;
}

/* The draft without "expect", which is always null. */
static void expect_draft(const char *text, const char *expected) {
    autojson *unknown = NULL;
    autojson *draft = draft_of(text, &unknown);
    autojson *want = json_loads(expected, 0, NULL);
    cr_assert(json_is_null(json_object_get(draft, "expect")));
    json_object_del(draft, "expect");
    autofree char *got = json_dumps(draft, 0);
    cr_assert_not_null(want, "%s", expected);
    cr_assert(json_equal(draft, want), "%s\nof %s", got, text);
}

static const char *why(const json_t *unknown, const char *member) {
    const json_t *one;
    size_t i;
    json_array_foreach(unknown, i, one) {
        if (!strcmp(json_get_string(one, "member", ""), member)) {
            return json_get_string(one, "why", "");
        }
    }
    return NULL;
}

#define KERNEL "__global__ void k(float *x, int n) { x[threadIdx.x] = n; }\n"
#define MAIN(before, launch)                                                             \
    KERNEL "int main(int argc, char **argv) {\n" before "\n" launch ";\n}\n"
/* With a block of 32 and x of n floats. */
#define GRID(before, grid)                                                               \
    MAIN(before " float *d; cudaMalloc(&d, n * sizeof(float));",                         \
         "k<<<" grid ", 32>>>(d, n)")
#define EXPECT(sizes, grid, shape, n)                                                    \
    "{" sizes "\"launch\": {\"grid\": [" grid "], \"block\": [32]}, \"args\": ["         \
    "{\"name\": \"x\", \"type\": \"float32\", \"shape\": [" shape                        \
    "], \"init\": {\"fill\": \"NaN\"}, \"output\": true}, {\"name\": \"n\", \"type\": "  \
    "\"int32\", \"value\": " n "}]}"

/* Each macro keeps its own value, and may give the extents of a block. */
Test(spec_draft, several_macros_have_a_value_each) {
    expect_draft("#define BLOCKS 24\n#define BLOCK dim3(32)\n" KERNEL
                 "#define COUNT 768\nint main() { float *d; cudaMalloc(&d, COUNT * 4);\n"
                 "dim3 b(BLOCK); k<<<BLOCKS, b>>>(d, COUNT); }\n",
                 EXPECT("\"sizes\": {\"COUNT\": 768}, ", "24", "\"COUNT\"", "\"COUNT\""));
}

/* A processor faults on the smallest number by -1: it is not known, as 5 / 0 is. */
Test(spec_draft, a_quotient_that_is_none_is_not_known) {
    static const char *const grids[] = {"(-9223372036854775807 - 1) / -1",
                                        "(-9223372036854775807LL - 1) % -1", "5 / 0",
                                        "5 % 0", "ceil(1e3 / 0)"};
    for (size_t i = 0; i < ARRAY_LEN(grids); i++) {
        autofree char *text = xasprintf(
            "__global__ void k(float *x, int n) { x[threadIdx.x] = n; }\n"
            "int main() { int n = 96; float *d; cudaMalloc(&d, n * sizeof(float));\n"
            "k<<<%s, 32>>>(d, n); }\n",
            grids[i]);
        autojson *unknown = NULL;
        autojson *draft = draft_of(text, &unknown);
        cr_assert_not_null(why(unknown, "launch.grid"), "%s", grids[i]);
    }
}

/* Row by row, as the host multiplies; a factor that is no size leaves one extent. */
Test(spec_draft, a_product_of_sizes_is_a_shape) {
    static const char *const cases[][2] = {
        {"rows * n * sizeof(float)", "[\"rows\", \"n\"]"},
        {"sizeof(float) * rows * n", "[\"rows\", \"n\"]"},
        {"rows * n * 4 * sizeof(float)", "[\"rows * n * 4\"]"},
        {"rows * (n + 1) * sizeof(float)", "[\"rows * (n + 1)\"]"},
        {"rows * n / 2 * sizeof(float)", "[\"rows * n / 2\"]"},
        {"1024 * sizeof(float)", "[1024]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *text = xasprintf(
            "__global__ void k(float *x, int rows, int n) { x[blockIdx.x * n] = rows; }\n"
            "int main() { int rows = 8, n = 96; float *d; cudaMalloc(&d, %s);\n"
            "k<<<n, 32>>>(d, rows, n); }\n",
            cases[i][0]);
        autojson *unknown = NULL;
        autojson *draft = draft_of(text, &unknown);
        autojson *want = json_loads(cases[i][1], 0, NULL);
        const json_t *arg = json_array_get(json_object_get(draft, "args"), 0);
        autofree char *got = json_dumps(arg, 0);
        cr_assert(json_equal(json_object_get(arg, "shape"), want), "%s of %s", got,
                  cases[i][0]);
    }
}

Test(spec_draft, grids_are_read_as_expressions) {
    static const char *const cases[][2] = {
        {GRID("int n = 1000;", "n / 32"),
         EXPECT("\"sizes\": {\"n\": 1000},", "\"n / 32\"", "\"n\"", "\"n\"")},
        {GRID("const int n = 1000; int g = (n + 31) / 32;", "g"),
         EXPECT("\"sizes\": {\"n\": 1000},", "\"(n + 31) / 32\"", "\"n\"", "\"n\"")},
        {GRID("int n = 1000;", "dim3((n - 1) / 32 + 1)"),
         EXPECT("\"sizes\": {\"n\": 1000},", "\"(n - 1) / 32 + 1\"", "\"n\"", "\"n\"")},
        {GRID("int n = 1000;", "(int)ceil((float)n / 32)"),
         EXPECT("\"sizes\": {\"n\": 1000},", "\"ceil_div(n, 32)\"", "\"n\"", "\"n\"")},
        {"#define UP(a, b) (((a) + (b)-1) / (b))\n" GRID("int n = 1000;", "UP(n, 32)"),
         EXPECT("\"sizes\": {\"n\": 1000},", "\"(n + 32 - 1) / 32\"", "\"n\"", "\"n\"")},
        {"int up(int a, int b) { return (a + b - 1) / b; }\n" GRID("int n = 1000;",
                                                                   "up(n, 32)"),
         EXPECT("\"sizes\": {\"n\": 1000},", "\"(n + 32 - 1) / 32\"", "\"n\"", "\"n\"")},
        {GRID("int n = 10 << 3; dim3 b(n >> 4, 3);", "b"),
         EXPECT("\"sizes\": {\"n\": 80},", "\"n / 16\", 3", "\"n\"", "\"n\"")},
        {GRID("int list[] = {7, 96}; int n = list[1];", "3"),
         EXPECT("", "3", "96", "96")},
        /* what follows from fixed numbers is one */
        {GRID("dim3 b(32); int n = b.x * 4;", "n / b.x"), EXPECT("", "4", "128", "128")},
        /* what an if may change, and a loop's first turn */
        {GRID("int n = 90; if (argc > 1) n = 4; if (argc > 2) { n = 5; }", "n"),
         EXPECT("\"sizes\": {\"n\": 90},", "\"n\"", "\"n\"", "\"n\"")},
        /* a constant that the device knows stays a number */
        {"#define n 96\n__device__ int twice() { return 2 * n; }\n" GRID("", "n / 32"),
         EXPECT("", "3", "96", "96")},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        expect_draft(cases[i][0], cases[i][1]);
    }
}

Test(spec_draft, what_cannot_be_known_is_null) {
    static const struct {
        const char *text, *member;
    } cases[] = {
        {GRID("int n = 90; n += 2;", "n"), "launch.grid"},
        {GRID("int n = 90, g; cudaOccupancy(&g, k);", "g"), "launch.grid"},
        {GRID("int n = 90, g; if (argc > 1) { g = 4; } else { g = 5; }", "g"),
         "launch.grid"},
        {GRID("int n = 90; for (int i = 0; i < 9; i++) { n *= 2; }", "n"), "launch.grid"},
        {GRID("int n = 90; props p;", "p.count"), "launch.grid"},
        {MAIN("int n = 9; float *d = make(n);", "k<<<1, 32>>>(d, n)"), "args[0].shape"},
        {MAIN("int n = 9; float *d; cudaMalloc(&d, n * sizeof(Thing));",
              "k<<<1, 32>>>(d, n)"),
         "args[0].shape"},
        {MAIN("int n = 9; float *d; cudaMalloc(&d, n * sizeof(float));",
              "k<<<1, 32>>>(d + n, n)"),
         "args[0].shape"},
        {KERNEL, "launch.grid"},
        {KERNEL, "launch.block"},
        {KERNEL, "args[0].shape"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *unknown = NULL, *findings = json_array();
        autojson *draft = draft_of(cases[i].text, &unknown);
        autofree char *text = spec_draft_text(draft);
        cr_assert_not_null(why(unknown, cases[i].member), "%s of %s: %s", cases[i].member,
                           cases[i].text, text);
        cr_assert_not_null(strstr(text, ": null"));
        spec_document_judge(text, strlen(text), NULL, "k.check.json", findings);
        cr_assert_str_eq(json_get_string(json_array_get(findings, 0), "severity", ""),
                         "error", "%s", text);
    }
}

Test(spec_draft, sizes_from_outside_are_examples) {
    autojson *unknown = NULL;
    autojson *draft = draft_of(GRID("int n = atoi(argv[1]);", "n"), &unknown);
    cr_assert_not_null(why(unknown, "sizes.n"));
    cr_assert_not_null(strstr(why(unknown, "sizes.n"), "an example"));
    cr_assert_str_eq(json_string_value(json_array_get(
                         json_object_get(json_object_get(draft, "launch"), "grid"), 0)),
                     "n");
}

/* The kernel is told of neither: another number would be another program. */
Test(spec_draft, what_the_kernel_does_not_know_is_fixed) {
    expect_draft("__global__ void k(float *x) { x[threadIdx.x + 64] = 1; }\n"
                 "int main() { int n = 96, blocks = 1; float *d;\n"
                 "cudaMalloc(&d, n * 4); k<<<blocks, 32>>>(d); }\n",
                 "{\"launch\": {\"grid\": [1], \"block\": [32]}, \"args\": [{\"name\": "
                 "\"x\", \"type\": \"float32\", \"shape\": [96], \"init\": {\"fill\": "
                 "\"NaN\"}, \"output\": true}]}");
}

/* Memory for a million elements may be just enough for 1000 x 1000. */
Test(spec_draft, what_a_fixed_extent_may_depend_on_is_fixed) {
    expect_draft(
        "#define N 1000000\n"
        "__global__ void k(float *x, int nx, int ny) { x[nx * ny - 1] = 1; }\n"
        "int main() { size_t bytes = N * sizeof(float); float *d; cudaMalloc(&d, "
        "bytes);\n"
        "int nx = 1000, ny = 1000; k<<<(nx * ny + 31) / 32, 32>>>(d, nx, ny); }\n",
        "{\"launch\": {\"grid\": [31250], \"block\": [32]}, \"args\": [{\"name\": \"x\", "
        "\"type\": \"float32\", \"shape\": [1000000], \"init\": {\"fill\": \"NaN\"}, "
        "\"output\": true}, {\"name\": \"nx\", \"type\": \"int32\", \"value\": 1000}, "
        "{\"name\": \"ny\", \"type\": \"int32\", \"value\": 1000}]}");
}

/* 2^20 rows of 32 floats in as many blocks; 1.25 million elements in 4096 blocks. */
Test(spec_draft, large_sizes_shrink_with_the_grid) {
    static const struct {
        const char *text;
        int n;
    } cases[] = {
        {GRID("int n = 1 << 20;", "n"), 1024},
        {GRID("int n = 1 << 20;", "(n + 31) / 32"), 32768},
        {GRID("int n = 1000;", "n"), 1000},
        {GRID("int n = 100000000;", "(n + 127) / 128"), 48640},
        {GRID("int n = 1000001;", "(n + 31) / 32"), 31297},
        {GRID("int n = 3 * 65537;", "n / 3"), 3 * 513}, /* always without remainder */
        {"#define n (1 << 20)\n__device__ int all() { return n; }\n" GRID("", "n"), 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *unknown = NULL;
        autojson *draft = draft_of(cases[i].text, &unknown);
        int n = (int)json_get_integer(json_object_get(draft, "sizes"), "n", 0);
        cr_assert_eq(n, cases[i].n, "%d of %s", n, cases[i].text);
    }
}

#define COPY "cudaMemcpy(a, h, 4, cudaMemcpyHostToDevice);"
#define BACK(bytes) "cudaMemcpy(h, a, " #bytes ", cudaMemcpyDeviceToHost);"
#define ROLE(body, before)                                                               \
    "__global__ void k(float *a, const float *b, int *c) {" body "}\n"                   \
    "int main() { float *a, *b; int *c; cudaMalloc(&a, 64); cudaMalloc(&b, 64);"         \
    "cudaMalloc(&c, 64);" before "k<<<1, 16>>>(a, b, c); }\n"

/* a's, and c's, "init" and "output". */
static void expect_roles(const char *text, const char *a, const char *c) {
    autojson *unknown = NULL;
    autojson *draft = draft_of(text, &unknown);
    const char *const want[] = {a, NULL, c};
    for (size_t i = 0; i < 3; i++) {
        json_t *arg = json_array_get(json_object_get(draft, "args"), i);
        json_object_del(arg, "name");
        json_object_del(arg, "type");
        json_object_del(arg, "shape");
        autofree char *got = json_dumps(arg, JSON_COMPACT);
        cr_assert(!want[i] || !strcmp(got, want[i]), "%s, not %s, of %s", got, want[i],
                  text);
    }
}

Test(spec_draft, roles_come_from_the_body_and_the_copies) {
    static const char in[] = "{\"init\":{\"normal\":[0,1]}}",
                      out[] = "{\"init\":{\"fill\":\"NaN\"},\"output\":true}",
                      whole[] = "{\"output\":true}",
                      hundred[] = "{\"init\":{\"fill\":100},\"output\":true}",
                      both[] = "{\"init\":{\"normal\":[0,1]},\"output\":true}",
                      zero[] = "{\"init\":{\"fill\":0}}",
                      zero_both[] = "{\"init\":{\"fill\":0},\"output\":true}";
    expect_roles(ROLE("a[0] = b[c[0]];", ""), out, zero);
    expect_roles(ROLE("a[0] = b[c[0]];", COPY), both, zero);
    expect_roles(ROLE("a[0] = b[0]; c[0] = 1;", BACK(64)), whole, hundred);
    /* What c holds is not known: it may say which elements are written. */
    expect_roles(ROLE("a[0] = b[c[0]];", BACK(64)), out, zero);
    expect_roles(ROLE("a[0] = b[c[0]];", BACK(60)), out, zero);
    expect_roles(ROLE("a[0] += b[c[0]];", ""), both, zero);
    expect_roles(ROLE("atomicAdd(&c[0], (int)a[1]);", ""), in, zero_both);
    expect_roles(ROLE("atomicAdd(c, 1); ((float4 *)a)[0] = x;", ""), out, zero_both);
    expect_roles(ROLE("float *p = a + 4; p[1] = b[0]; c[0] = 1;", ""), out, hundred);
    expect_roles(ROLE("float *p = a + 4; p[1]++; c[0] = 1;", ""), both, hundred);
    expect_roles(ROLE("f(a); c[0] = 1;", ""), both, hundred);
    expect_roles(ROLE("a[0] = c[0]; c[0] = 1;", "cudaMemset(c, 0, 64);"), out, zero_both);
}

Test(spec_draft, types_come_from_the_source) {
    expect_draft(
        "typedef __half real;\n"
        "template <int N> __global__ void k(real *a, const int64_t *b, float4 *c, Thing "
        "*d,\n"
        "    unsigned long long e, float f, bool g) { a[0] = 1; c[0] = 2; d[0] = 3; }\n"
        "template <typename U> void run(float s) {\n"
        "    real *a; U *b; float4 *c; Thing *d; constexpr int four = 4;\n"
        "    cudaMalloc((void **)&a, 8 * sizeof(real)); cudaMalloc(&b, 4 * sizeof(U));\n"
        "    cudaMalloc(&c, 2 * sizeof(*c)); cudaMalloc(&d, 24);\n"
        "    k<2 * four><<<dim3(1), dim3(4, 2), 8 * sizeof(double)>>>(a, (U *)b, c, d, "
        "7, -s, "
        "true);\n"
        "}\n"
        "int main() { run<int64_t>(0.5f); }\n",
        "{\"kernel\": \"k<8>\", \"launch\": {\"grid\": [1], \"block\": [4, 2], "
        "\"shared_bytes\": 64}, "
        "\"args\": ["
        "{\"name\": \"a\", \"type\": \"float16\", \"shape\": [8], \"init\": {\"fill\": "
        "\"NaN\"}, \"output\": true},"
        "{\"name\": \"b\", \"type\": \"int64\", \"shape\": [4], \"init\": {\"fill\": 0}},"
        "{\"name\": \"c\", \"type\": \"float32\", \"shape\": [8], \"init\": {\"fill\": "
        "\"NaN\"}, \"output\": true},"
        "{\"name\": \"d\", \"type\": \"uint8\", \"shape\": [24], \"init\": {\"fill\": "
        "100}, \"output\": true},"
        "{\"name\": \"e\", \"type\": \"uint64\", \"value\": 7},"
        "{\"name\": \"f\", \"type\": \"float32\", \"value\": -0.5},"
        "{\"name\": \"g\", \"type\": \"bool\", \"value\": 1}]}");
}

/* A number from outside that the kernel is not told may be anything beside what it is
 * told. */
Test(spec_draft, an_extent_from_outside_is_not_known) {
    static const char text[] =
        "__global__ void k(float *x, float *y, float3 w, int n) { y[n] = x[n] + w.x; }\n"
        "int main(int argc, char **argv) {\n"
        "    int n = atoi(argv[1]), room = atoi(argv[2]); float *x, *y; float3 w;\n"
        "    cudaMalloc(&x, room * sizeof(float)); cudaMalloc(&y, n * sizeof(float));\n"
        "    k<<<n, 32>>>(x, y, w, n); }\n";
    autojson *unknown = NULL;
    autojson *draft = draft_of(text, &unknown);
    const json_t *args = json_object_get(draft, "args");
    autojson *vector = json_pack("{s:s, s:[{s:s, s:f, s:i}]}", "name", "w", "struct",
                                 "type", "float32", "value", 0.5, "count", 3);
    cr_assert(json_is_null(json_object_get(json_array_get(args, 0), "shape")));
    cr_assert_not_null(strstr(why(unknown, "args[0].shape"), "from outside"));
    cr_assert(json_is_array(json_object_get(json_array_get(args, 1), "shape")));
    cr_assert(json_equal(json_array_get(args, 2), vector));
}

/* A type that nobody names is no size. */
Test(spec_draft, a_type_parameter_is_no_number) {
    autojson *unknown = NULL;
    autojson *draft = draft_of(
        "template <typename T> __global__ void k(T *x, T a, int n) { x[n] = a; }\n"
        "template <typename T> void run(int n) {\n"
        "    T *x; cudaMalloc(&x, n * sizeof(T)); k<T><<<n, 32>>>(x, T(2), n); }\n",
        &unknown);
    cr_assert_null(why(unknown, "sizes.T"));
    cr_assert_not_null(strstr(why(unknown, "kernel"), "such as k<float>"));
    cr_assert(json_object_size(json_object_get(draft, "sizes")) == 1);
}

/* Of several launches that differ the first whose extents are known, and that is told. */
Test(spec_draft, launches_that_differ_are_told) {
    autojson *none = NULL, *two = NULL;
    json_decref(draft_of(KERNEL "int main() { int n = 4; float *d; cudaMalloc(&d, 16);\n"
                                "k<<<1, 32>>>(d, n); k<<<1, 32>>>(d, n); }\n",
                         &none));
    cr_assert_null(why(none, "launch"));
    autojson *first = draft_of(
        KERNEL "int main() { int n = 4; float *d; cudaMalloc(&d, 16);\n"
               "k<<<g(), 32>>>(d, n); k<<<2, 32>>>(d, n); k<<<3, 32>>>(d, n); }\n"
               "#if 0\n"
               "void other() { k<<<9, 9>>>(0, 0); }\n"
               "#endif\n",
        &two);
    const json_t *grid = json_object_get(json_object_get(first, "launch"), "grid");
    cr_assert_eq(json_integer_value(json_array_get(grid, 0)), 2);
    cr_assert_not_null(why(two, "launch"));
}

Test(spec_draft, template_arguments_are_read) {
    autojson *unknown = NULL;
    autojson *draft =
        draft_of("template <int N, typename T> __global__ void k(T *x) {}\n"
                 "int main() { constexpr int N = 4; k<2 * N, float><<<1, N>>>(0); }\n",
                 &unknown);
    cr_assert_str_eq(json_get_string(draft, "kernel", ""), "k<8, float>");
}

/* Each variable twice the one before it, written as a sum: 2^22 ways to it. */
Test(spec_draft, ends_where_sums_branch, .timeout = 20) {
    autobuf text = BUF_INIT(1u << 16);
    buf_adds(&text, KERNEL "int main() { int n0 = 1;\n");
    for (int i = 1; i <= 22; i++) {
        buf_addf(&text, "int n%d = n%d + n%d;\n", i, i - 1, i - 1);
    }
    buf_adds(&text, "k<<<n22, 32>>>(0, n22); }\n");
    autojson *unknown = NULL;
    autojson *draft = draft_of(text.data, &unknown);
    cr_assert_not_null(why(unknown, "launch.grid"));
}

/* Nobody's source may hold it up or lead it astray. */
Test(spec_draft, survives_what_refers_to_itself) {
    static const char *const texts[] = {
        "#define n n\n" GRID("", "n"),
        GRID("int n = n;", "n"),
        "int f(int a) { return f(a); }\n" GRID("int n = f(1);", "f(n)"),
        "#define F(a) F(a) + F(a)\n" GRID("int n = 1;", "F(n)"),
        "typedef a b; typedef b a; " MAIN("int n = 1; a *d; cudaMalloc(&d, sizeof(a));",
                                          "k<<<1, 1>>>(d, n)"),
        KERNEL "void g(float *d, int n);\nvoid f(float *d, int n) { g(d, n); k<<<n, "
               "n>>>(d, n); }\n"
               "void g(float *d, int n) { f(d, n); }\n",
        GRID("int n = 9223372036854775807 * 3;", "n / 0"),
        KERNEL "int main() { k<<<",
        KERNEL "int main() { k<<<1,1>>>(",
        GRID("int n = ((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))));",
             "n"),
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        autojson *unknown = NULL;
        autojson *draft = draft_of(texts[i], &unknown);
        cr_assert_not_null(draft, "%s", texts[i]);
    }
}

/* x[row * w + column]: rows have w elements, whatever the host multiplies first; what the
 * kernel does not show is no guess. */
Test(spec_draft, rows_are_as_long_as_the_kernel_multiplies_by) {
    static const char *const cases[][3] = {
        {"x[threadIdx.y * w + threadIdx.x] = h;", "width * h", "[\"h\", \"width\"]"},
        {"x[threadIdx.x * h + threadIdx.y] = w;", "width * h", "[\"width\", \"h\"]"},
        {"x[threadIdx.y * w + threadIdx.x * h] = 0;", "width * h", "[\"width * h\"]"},
        {"x[threadIdx.x] = w + h;", "width * h", "[\"width * h\"]"},
        {"x[threadIdx.x] = w * 2;", "width * width", "[\"width\", \"width\"]"},
        {"float *y = x + threadIdx.y * w; y[0] = h;", "width * h", "[\"h\", \"width\"]"},
        {"x[(blockIdx.x + threadIdx.y) * w] = h;", "b * h * width", "[\"b * h\", \"width\"]"},
        {"x[(blockIdx.x * h + threadIdx.y) * w] = 0;", "b * h * width",
         "[\"b * h * width\"]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autobuf text = BUF_INIT(1024);
        buf_addf(&text,
                 "__global__ void k(float *x, int w, int h) { %s }\n"
                 "int main() { int width = 8, h = 4, b = 3; float *d;\n"
                 "cudaMalloc(&d, %s * sizeof(float));\n"
                 "k<<<b, dim3(8, 4)>>>(d, width, h); }\n",
                 cases[i][0], cases[i][1]);
        autojson *unknown = NULL;
        autojson *draft = draft_of(text.data, &unknown);
        autojson *want = json_loads(cases[i][2], 0, NULL);
        const json_t *arg = json_array_get(json_object_get(draft, "args"), 0);
        autofree char *got = json_dumps(arg, 0);
        cr_assert(json_equal(json_object_get(arg, "shape"), want), "%zu: %s", i, got);
    }
}
