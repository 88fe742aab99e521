#include "base/mem.h"
#include "gpu/worker/program_log.h"

#include <criterion/criterion.h>
#include <string.h>

/* Words of nvcc 13.0.88, gcc 12 and ld 2.40, shortened. */
static const char log_text[] =
    "r0/k.cu(2): error: identifier \"y\" is undefined\n"
    "  __attribute__((global)) void k(int*x){ x[0]=y; }\n"
    "                                              ^\n"
    "\n"
    "r0/k.cu(4): error: identifier \"cublasSgemm\" is undefined\n"
    "  int main(){ cublasSgemm(0); }\n"
    "              ^\n"
    "\n"
    "r0/k.cu(4): error: identifier \"CUBLASLT_EPILOGUE_BIAS\" is undefined\n"
    "  int main(){ cublasSgemm(0); }\n"
    "              ^\n"
    "\n"
    "1 error detected in the compilation of \"r0/k.cu\".\n"
    "r0/k.cu:1:10: fatal error: nosuch.h: No such file or directory\n"
    "    1 | #include <nosuch.h>\n"
    "compilation terminated.\n"
    "r0/k.cu:3:5: warning: unused variable\n"
    "/usr/bin/ld: /tmp/tmpxft_00006c48_00000000-8_k.o: in function `main':\n"
    "/tmp/job/src/r0/k.cu:4: undefined reference to `cudaFooBar'\n"
    "/usr/bin/ld: /tmp/job/src/r0/k.cu:4: undefined reference to `cudaFooBar'\n"
    "/usr/bin/ld: /tmp/job/src/r0/k.cu:4: undefined reference to `helper(int)'\n"
    "/usr/bin/ld: /tmp/job/src/r0/k.cu:4: undefined reference to `cublas::x()'\n"
    "/usr/bin/ld: cannot find -lnothing: No such file or directory\n"
    "collect2: error: ld returned 1 exit status\n"
    "ptxas /tmp/tmpxft_1.ptx, line 23; error   : Unknown modifier '.bar'\n"
    "nvcc fatal   : Unknown option '-nope'\n"
    "sh: 1: gcc: not found\n";

static struct source_set sources_of(void) {
    static const char text[] = "#include <nosuch.h>\n__global__ void k(int*x){ x[0]=y; "
                               "}\nint a;\nint main(){}\n";
    struct source_set s = {0};
    cr_assert_eq(source_set_add(&s, "r0/k.cu", "dir/k.cu", text, strlen(text), NULL), 0);
    return s;
}

static const json_t *with_words(const json_t *findings, const char *words) {
    json_each(findings, i, one) {
        if (strstr(json_get_string(one, "message", ""), words)) {
            return one;
        }
    }
    return NULL;
}

static void stands(const json_t *findings, const char *words, const char *source,
                   int line) {
    const json_t *f = with_words(findings, words);
    cr_assert(f, "%s", words);
    cr_expect_str_eq(json_get_string(f, "source", ""), source, "%s", words);
    cr_expect_eq(json_get_integer(f, "line", 0), line, "%s", words);
    cr_expect_str_eq(json_get_string(f, "file", ""), line ? "dir/k.cu" : "", "%s", words);
}

/* As nvcc says it of a header of its own; what it says of any other file may quote it. */
Test(program_log, what_cuda_headers_refuse_is_told) {
    static const char text[] =
        "scan.h(225): error: static assertion failed with \"no tile\"\n"
        "          static_assert(is_tile<T>::value, \"no tile\");\n"
        "          ^\n"
        "          detected during:\n"
        "            instantiation of \"void check<T>() [with T=int]\" at line 240\n"
        "            instantiation of \"T scan(T) [with T=int]\" at line 2 of r0/k.cu\n\n"
        "1 error detected in the compilation of \"r0/k.cu\".\n";
    static const struct {
        const char *folder, *words;
    } told[] = {{"/cuda/bin/..//include/groups/", "static assertion failed"},
                {"/cuda/bin/../targets/x86_64-linux/include/", "static assertion failed"},
                {"/cuda/include-not/", "was withheld"},
                {"/home/member/", "was withheld"}};
    struct source_set sources = sources_of();
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        char whole[2000];
        snprintf(whole, sizeof whole, "%s%s", told[i].folder, text);
        struct program_log log;
        program_log_read(&log, whole, strlen(whole), &sources, "/cuda/bin/nvcc");
        stands(log.findings, told[i].words, "nvcc", 2);
        program_log_finish(&log);
    }
    source_set_finish(&sources);
}

/* ld 2.40 names the objects of both, which nobody knows. */
Test(program_log, what_is_defined_twice_has_both_places) {
    static const char twice[] =
        "/usr/bin/ld: /tmp/job/tmp/tmpxft_1-14_a.o: in function `f()':\n"
        "/tmp/job/src/r0/k.cu:3: multiple definition of `f()'; "
        "/tmp/job/tmp/tmpxft_2-11_b.o:/tmp/job/src/r0/k.cu:2: first defined here\n"
        "tmpxft_3.cudafe1.cpp:(.text+0x82): multiple definition of `g'; "
        "/tmp/tmpxft_4.o:tmpxft_4.cudafe1.cpp:(.text+0x2e): first defined here\n";
    struct source_set sources = sources_of();
    struct program_log log;
    program_log_read(&log, twice, strlen(twice), &sources, "/cuda/bin/nvcc");
    cr_expect_eq(json_array_size(log.findings), 2);
    stands(log.findings, "of `f()'", "ld", 3);
    const json_t *f = with_words(log.findings, "`f()'");
    const json_t *first = json_array_get(json_object_get(f, "related"), 0);
    cr_expect_str_eq(json_get_string(first, "file", ""), "dir/k.cu");
    cr_expect_eq(json_get_integer(first, "line", 0), 2);
    json_each(log.findings, i, one) {
        cr_expect_null(strstr(json_get_string(one, "message", ""), "tmp"), "%zu", i);
    }
    program_log_finish(&log);
    source_set_finish(&sources);
}

Test(program_log, reads_all_that_speak) {
    struct source_set sources = sources_of();
    struct program_log log;
    program_log_read(&log, log_text, strlen(log_text), &sources, "/cuda/bin/nvcc");
    stands(log.findings, "\"y\" is undefined", "nvcc", 2);
    stands(log.findings, "nosuch.h", "gcc", 1);
    stands(log.findings, "unused variable", "gcc", 3);
    stands(log.findings, "helper(int)", "ld", 4);
    stands(log.findings, "cublas::x()", "ld", 4);
    stands(log.findings, "-lnothing", "ld", 0);
    stands(log.findings, "Unknown modifier", "ptxas", 0);
    stands(log.findings, "Unknown option", "nvcc", 0);
    stands(log.findings, "gcc: not found", "sh", 0);
    cr_assert_null(with_words(log.findings, "cudaFooBar"));
    cr_assert_null(with_words(log.findings, "ld returned"));
    cr_assert_eq(log.errors, 8);
    cr_assert_eq(json_array_size(log.missing), 3);
    const json_t *missing = json_array_get(log.missing, 0);
    cr_expect_str_eq(json_get_string(missing, "function", ""), "cublasSgemm");
    cr_expect_eq(json_get_integer(missing, "line", 0), 4);
    missing = json_array_get(log.missing, 2);
    cr_assert_str_eq(json_get_string(missing, "function", ""), "cudaFooBar");
    cr_assert_eq(json_get_integer(missing, "line", 0), 4);
    program_log_finish(&log);
    source_set_finish(&sources);
}

Test(program_log, files_by_their_names) {
    struct source_set sources = sources_of();
    static const char *const names[][2] = {
        {"r0/k.cu", "dir/k.cu"},
        {"./r0/../r0/k.cu", "dir/k.cu"},
        {"/dev/shm/w/job/src/r0/k.cu", "dir/k.cu"},
        {"/usr/src/app/src/r0/k.cu", "dir/k.cu"},
        {"/opt/cuda/include/cccl/cub/cub.cuh", "<cub/cub.cuh>"},
        {"/usr/include/c++/12/vector", "<c++/12/vector>"},
        {"/tmp/tmpxft_1.cudafe1.cpp", "tmpxft_1.cudafe1.cpp"},
        {"", "."},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree char *name = program_file_name(names[i][0], &sources);
        cr_expect_str_eq(name, names[i][1]);
    }
    source_set_finish(&sources);
}

/* gcc 12, whose assembler had no memory left. */
Test(program_log, its_last_words_are_those_on_the_error) {
    static const char text[] =
        "gcc: internal compiler error: Segmentation fault signal terminated program as\n"
        "Please submit a full bug report, with preprocessed source (by using "
        "-freport-bug).\n"
        "See <file:///usr/share/doc/gcc-12/README.Bugs> for instructions.\n";
    struct source_set sources = sources_of();
    struct program_log log;
    program_log_read(&log, text, strlen(text), &sources, "/cuda/bin/nvcc");
    cr_expect_str_eq(
        log.last,
        "gcc: internal compiler error: Segmentation fault signal terminated program as");
    program_log_finish(&log);
    source_set_finish(&sources);
}

/* Every cut, and bytes of every kind: nothing is read behind the end. */
Test(program_log, survives_anything) {
    struct source_set sources = sources_of();
    for (size_t len = 0; len < strlen(log_text); len++) {
        char *copy = xmalloc(len ? len : 1);
        struct program_log log;
        memcpy(copy, log_text, len);
        for (size_t i = len % 7; i < len; i += 31) {
            copy[i] = (char)(i * 37 + len);
        }
        program_log_read(&log, copy, len, &sources, "/cuda/bin/nvcc");
        program_log_finish(&log);
        free(copy);
    }
    source_set_finish(&sources);
}
