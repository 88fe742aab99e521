/* What a source is compiled again without: headers that are not here, functions that only
 * the host's compiler takes, and instantiations that several kernels fit. */
#include "base/buf.h"
#include "base/mem.h"
#include "check_room.h"
#include "gpu/check/omissions.h"

#include <criterion/criterion.h>
#include <string.h>

/* "warning 1, warning instantiations_left_out 5; k q": the findings with their code or,
 * of the compiler's, without, and the compiled kernels. */
static char *outline(const json_t *result) {
    struct buf out = BUF_INIT(1u << 12);
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(result, "diagnostics"), i, item) {
        buf_addf(
            &out, "%s%s%s%s:%d", i ? ", " : "", json_get_string(item, "severity", ""),
            *json_get_string(item, "code", "") ? " " : "",
            json_get_string(item, "code", ""), (int)json_get_integer(item, "line", 0));
    }
    json_array_foreach(json_object_get(result, "kernels"), i, item) {
        buf_addf(&out, "%s%s", i ? " " : "; ", json_get_string(item, "name", ""));
    }
    return buf_detach(&out);
}

#define K "template <class T, int N> __global__ void k(T *p) { p[0] = N; }\n"
#define K2                                                                               \
    "template <class T, int N> __global__ void k(T *p, T *q) { p[0] = q[0] + N; }\n"
#define Q "template <class T> __global__ void q(T *p) { p[0] = p[1]; }\n"

Test(omissions, are_no_errors_where_device_code_does_without, .timeout = 120) {
    if (!check_room_has_compiler()) {
        cr_skip_test("no CUDA compiler");
    }
    static const struct {
        const char *source, *outline, *header; /* "h.h"; may be NULL */
    } cases[] = {
        /* headers of libraries that are not here */
        {"#include <lib/graph.h>\n#include <lib/plan.h>\n__global__ void a() {}\n"
         "void f() { lib::graph(); }\n",
         "warning:1, warning:2; a"},
        {"#include <lib/graph.h>\n__global__ void a(int *p) { *p = lib_one(2); }\n",
         "error:1"},
        {"#include <lib/graph.h>\nvoid f() { a<<<1, 1>>>(); }\n", "error:1"},
        /* one of the project's own is wanted all the same */
        {"#include \"graph.h\"\n__global__ void a() {}\n", "error:1"},
        /* what g++ takes in a function of both sides; the device's, one that the device
         * needs, and one whose execution space is misspelt, are the compiler's to judge
         */
        {"struct S { static constexpr int f(int n) { return __builtin_clz(n); } };\n"
         "constexpr int g(int n) { return ({ n + 1; }); }\n__global__ void a() {}\n",
         "warning:1, warning:2; a"},
        {"constexpr int g(int n) { return __builtin_clz(n); }\n"
         "__global__ void a(int *p) { *p = g(1); }\n",
         "error:1"},
        {"__device__ int g(int n) { return __builtin_clz(n); }\n"
         "__global__ void a() {}\n",
         "error:1"},
        {"__devcie__ constexpr int g(int n) { return n; }\n__global__ void a() {}\n",
         "error:1, error:1"},
        /* types and aliases that nothing of the device uses, and such as it does */
        {"namespace n {}\nnamespace m = n::gone;\nstruct H { n::gone g; };\n"
         "__global__ void a() {}\n",
         "warning:2, warning:3; a"},
        {"namespace n {}\nstruct H { n::gone g; };\n"
         "__global__ void a(H *p) { p->g = 0; }\n",
         "error:2"},
        {"struct H { static_assert(sizeof(int) == 8, \"\"); };\n__global__ void a() {}\n",
         "error:1"},
        /* a header that has no execution space, but for what #define says; what follows
         * from its absence, and a header that has one */
        {"#include \"h.h\"\nstruct G { H h; };\n__global__ void a(int *p) { *p = N; }\n",
         "warning:2, warning:2; a",
         "#define N 2\ntemplate <class T> struct H { n::gone g; };\n"},
        {"#include \"h.h\"\n__global__ void a(int *p) { *p = two(1); }\n", "warning:2; a",
         "constexpr int two(int n) { return n + 2; }\n"
         "constexpr int bits(int n) { return __builtin_clz(n); }\n"},
        {"#include \"h.h\"\n__global__ void a(int *p) { *p = f(); }\n", "error:1",
         "template <class T> struct H { n::gone g; __device__ int f(); };\n"
         "__device__ int f() { return 1; }\n"},
        /* kernels that several definitions fit */
        {K K2 Q "void f(float *p) { k<float, 1><<<1, 1>>>(p, p); }\n"
                "void g(float *p) { q<float><<<1, 1>>>(p); }\n",
         "info not_compiled:1, warning instantiations_left_out:4; q<float>"},
        {K Q "void f(float *p) { k<float, 1><<<1, 1>>>(p); }\n"
             "void g(float *p) { q<float><<<1, 1>>>(p); }\n",
         "; k<float, 1> q<float>"},
        /* what host code asks for by a name that only it has; behind the last line too */
        {Q "__global__ void a() {}\n"
           "void f(void *p) { struct L {}; q<L><<<1, 1>>>((L *)p); }\n",
         "info not_compiled:1, warning instantiations_left_out:3; a"},
        {Q "template <class M> void g(){q<M><<<1,1>>>(0);}\n__global__ void a() {}\n"
           "template void g<a_type_of_the_host_alone>();\n",
         "info not_compiled:1, warning instantiations_left_out:4; a"},
        /* a guess that several fit is not the source's fault */
        {Q
         "template <class T> __global__ void q(T *p, T *r) {}\n__global__ void a() {}\n"
         "void g(P p) { MY_DISPATCH(t, \"g\", [&] { q<scalar_t><<<1, 1>>>(p, p); }); }\n",
         "warning guessed_instantiation:4; a"},
        /* both, and types that are guessed */
        {"#include <lib/graph.h>\n" K K2 Q
         "void f(float *p) { k<float, 1><<<1, 1>>>(p, p); }\n"
         "void g(P p) { MY_DISPATCH(t, \"g\", [&] { q<scalar_t><<<1, 1>>>(p); }); }\n",
         "warning:1, info not_compiled:2, warning instantiations_left_out:5; q<float>"},
    };
    struct check_room room;
    check_room_open(&room, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *result = check_room_check(
            &room, json_pack("{s:s, s:{s:s}}", "source", cases[i].source, "headers",
                             "h.h", cases[i].header ? cases[i].header : ""));
        autofree char *got = outline(result);
        cr_expect_str_eq(got, cases[i].outline, "of:\n%sis: %s", cases[i].source, got);
    }
    check_room_close(&room);
}

/* However many the compiler names, it is asked a bounded number of times. */
Test(omissions, come_to_an_end) {
    struct check_input input = {0};
    struct buf text = BUF_INIT(1u << 16);
    for (int i = 0; i < 4 * OMISSIONS_ROUNDS_MAX; i++) {
        buf_addf(&text, "#include <lib/h%d.h>\n", i);
    }
    source_set_add(&input.closure.sources, "k.cu", "k.cu", text.data, text.len, NULL);
    struct omissions o = {0};
    int times = 0;
    for (bool again = true; again && times < 4 * OMISSIONS_ROUNDS_MAX; times += again) {
        autofree char *message =
            xasprintf("cannot open source file \"lib/h%d.h\"", times);
        autojson *answer = json_pack(
            "{s:s, s:[{s:s, s:s, s:s, s:i}]}", "outcome", "rejected", "diagnostics",
            "severity", "error", "message", message, "file", "k.cu", "line", times + 1);
        again = omissions_next(&o, &input, answer);
    }
    cr_expect_eq(times, OMISSIONS_ROUNDS_MAX);
    cr_expect_eq(strlen(input.closure.sources.files[0].text), text.len);
    omissions_finish(&o);
    check_input_finish(&input);
    buf_finish(&text);
}
