/* Instantiations that are guessed: which ones, and what is told of those that do not
 * compile. */
#include "base/buf.h"
#include "base/mem.h"
#include "check_room.h"
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/source_set.h"

#include <criterion/criterion.h>
#include <string.h>

#define KERNELS                                                                          \
    "template <class T> __global__ void q(T *p) {}\n"                                    \
    "template <class T, int N> __global__ void k(T *p) {}\n"
#define ROOM "/*                                                                      */"
#define UNSEEN "MY_DISPATCH(t, \"f\", [&] { q<scalar_t><<<1, 1>>>(p); " ROOM " });"

/* The kernels that a source asks for: "q<float>;". */
static char *asked(const struct source_set *sources) {
    struct buf out = BUF_INIT(1u << 16);
    for (size_t i = 0; i < sources->count; i++) {
        for (const char *at = sources->files[i].text;
             (at = strstr(at, "static_assert(&"));) {
            at += strlen("static_assert(&");
            buf_add(&out, at, strcspn(at, "\""));
            out.data[out.len - 1] = ';';
        }
    }
    return buf_detach(&out);
}

/* What is asked for with each choice, and at last without guesses, separated by '|'; "-"
 * for a choice that cannot be had. */
static char *choices(struct source_set *sources) {
    struct buf out = BUF_INIT(1u << 16);
    struct host_code code;
    struct host_guesses guesses;
    host_code_blank_sources(sources, &code, &guesses);
    for (unsigned i = 0; i < host_guesses_choices(&guesses); i++) {
        bool written = host_guesses_write(&guesses, sources, i);
        autofree char *list = asked(sources);
        buf_addf(&out, "%s|", written ? list : "-");
    }
    host_guesses_write(&guesses, sources, HOST_GUESSES_NONE);
    autofree char *list = asked(sources);
    buf_adds(&out, list);
    host_guesses_finish(&guesses);
    host_code_finish(&code);
    return buf_detach(&out);
}

Test(guesses, are_made_where_nothing_tells) {
    static const struct {
        const char *text, *choices;
    } cases[] = {
        {KERNELS "void f(float *p) { q<float><<<1, 1>>>(p); }", "q<float>;"},
        {KERNELS "void f(P p) { " UNSEEN " }", "q<float>;|-|q<int>;|"},
        {"#include <cuda_fp16.h>\n" KERNELS "void f(P p) { " UNSEEN " }",
         "q<float>;|q<__half>;|q<int>;|"},
        {"#include <torch/extension.h>\n" KERNELS "void f(P p) { " UNSEEN " }",
         "q<float>;|q<at::Half>;|q<int>;|"},
        {KERNELS "void f(P p) { MY_INTEGRAL_DISPATCH(t, [&] { k<scalar_t, 4><<<1, "
                 "1>>>(p); " ROOM " }); }",
         "k<int, 4>;|k<long long, 4>;|k<long long, 4>;|"},
        /* through a local name, and a host template's argument */
        {KERNELS "void f(P p) { MY_DISPATCH(t, [&] { using T = scalar_t; k<T, 2><<<1, "
                 "1>>>(p); " ROOM " }); }",
         "k<float, 2>;|-|k<int, 2>;|"},
        {KERNELS "template <class U> void l(U *p) { q<U><<<1, 1>>>(p); }\n"
                 "void f(P p) { MY_DISPATCH(t, [&] { l<scalar_t>(p); " ROOM " }); }",
         "q<float>;|-|q<int>;|"},
        /* what else is asked for stays */
        {KERNELS "void f(P p) { k<int, 8><<<1, 1>>>(p); " ROOM " " UNSEEN " }",
         "k<int, 8>;q<float>;|-|k<int, 8>;q<int>;|k<int, 8>;"},
        /* the source tells: no guess */
        {KERNELS "template __global__ void q<short>(short *);\nvoid f(P p) { " UNSEEN
                 " }",
         ""},
        {KERNELS "void g(short *p) { q<short><<<1, 1>>>(p); " ROOM " }\nvoid f(P p) "
                 "{ " UNSEEN " }",
         "q<short>;"},
        {KERNELS "void f(P p) { AT_DISPATCH_FLOATING_TYPES(t, \"f\", [&] { "
                 "q<scalar_t><<<1, 1>>>(p); " ROOM " }); }",
         "q<float>;"},
        /* what stands for a guess stands in the source: not looked into */
        {KERNELS "void f(P p) { k<int \1, 8><<<1, 1>>>(p); " ROOM " " UNSEEN " }", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct source_set sources = {0};
        source_set_add(&sources, "k.cu", NULL, cases[i].text, strlen(cases[i].text),
                       NULL);
        autofree char *got = choices(&sources);
        cr_expect_str_eq(got, cases[i].choices, "of: %s\nis: %s", cases[i].text, got);
        cr_expect_eq(strlen(sources.files[0].text), strlen(cases[i].text));
        source_set_finish(&sources);
    }
}

/* --- with a compiler --- */

static json_t *check(struct check_room *room, const char *kernel) {
    autofree char *source =
        xasprintf("#include <torch/extension.h>\n%s\nvoid run(at::Tensor t) {\n"
                  "  MY_DISPATCH(t.scalar_type(), \"f\", [&] {\n"
                  "    q<scalar_t><<<1, 1>>>(t.data_ptr<scalar_t>());\n  });\n}\n",
                  kernel);
    return check_room_check(room, json_pack("{s:s}", "source", source));
}

static const json_t *only_finding(const json_t *result) {
    const json_t *list = json_object_get(result, "diagnostics");
    autofree char *text = json_dumps(list, JSON_COMPACT);
    cr_assert_eq(json_array_size(list), 1, "%s", text);
    return json_array_get(list, 0);
}

static void expect_finding(const json_t *result, const char *code, const char *severity,
                           const char *words) {
    const json_t *finding = only_finding(result);
    const char *message = json_get_string(finding, "message", "");
    cr_expect_str_eq(json_get_string(finding, "code", ""), code, "%s", message);
    cr_expect_str_eq(json_get_string(finding, "severity", ""), severity, "%s", message);
    cr_expect_not_null(strstr(message, words), "%s", message);
}

static const char *kernel_name(const json_t *result) {
    return json_get_string(json_array_get(json_object_get(result, "kernels"), 0), "name",
                           "");
}

#define Q(body) "template <class T>\n__global__ void q(T *p) {\n" body "\n}"
#define GUESS "guessed_instantiation"

Test(guesses, that_do_not_compile_are_not_the_source_s_fault, .timeout = 120) {
    if (!check_room_has_compiler()) {
        cr_skip_test("no CUDA compiler");
    }
    struct check_room room;
    check_room_open(&room, NULL);

    autojson *good = check(&room, Q("  p[0] = p[1] + p[2];"));
    cr_expect_eq(json_array_size(json_object_get(good, "diagnostics")), 0);
    cr_expect_str_eq(kernel_name(good), "q<float>");

    /* made for half precision; the second time the answer is remembered */
    for (int i = 0; i < 2; i++) {
        autojson *half =
            check(&room, Q("  static_assert(sizeof(T) == 2, \"half\");\n  *p = 1.f;"));
        cr_expect_eq(json_is_true(json_object_get(half, "cached")), i == 1);
        cr_expect(json_is_true(json_object_get(half, "ok")));
        expect_finding(half, GUESS, "info", "q<at::Half> compiled instead");
        expect_finding(half, GUESS, "info", "template __global__ void q<TYPE>(…);");
        const json_t *finding = only_finding(half);
        cr_expect_eq(json_get_integer(finding, "line", 0), 9, "the launch");
        cr_expect_eq(json_get_integer(finding, "column", 0), 5);
        const json_t *why = json_array_get(json_object_get(finding, "related"), 0);
        cr_expect_eq(json_get_integer(why, "line", 0), 4, "the assertion");
        cr_expect_str_eq(kernel_name(half), "q<c10::Half>");
    }
    autojson *whole = check(&room, Q("  p[0] = p[1] % p[2];"));
    expect_finding(whole, GUESS, "info", "q<int> compiled instead");
    cr_expect_str_eq(kernel_name(whole), "q<int>");

    /* perhaps the kernel's own mistake */
    autojson *none = check(&room, Q("  p->member = 1;"));
    expect_finding(none, GUESS, "warning", "any of float, at::Half, int");
    cr_expect_eq(json_array_size(json_object_get(none, "kernels")), 0);
    cr_expect(json_is_false(json_object_get(none, "ok")), "nothing was compiled");
    cr_expect_str_eq(json_get_string(none, "outcome", ""), "nothing_compiled");

    /* the same words for all types, and yet of the types */
    autojson *same =
        check(&room,
              "template <bool> struct need {};\n"
              "template <class T> struct most { typename need<(sizeof(T) > 64)>::type m; "
              "};\n" Q("  p[0] = sizeof(most<T>);"));
    expect_finding(same, GUESS, "warning", "any of float, at::Half, int");

    /* a mistake whatever is guessed */
    autojson *wrong = check(&room, Q("  p[0] = undeclared;\n  static_assert(sizeof(T) == "
                                     "2, \"half\");"));
    cr_expect(json_is_false(json_object_get(wrong, "ok")));
    expect_finding(wrong, json_get_string(only_finding(wrong), "code", ""), "error",
                   "\"undeclared\" is undefined");
    check_room_close(&room);
}
