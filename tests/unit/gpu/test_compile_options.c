/* compile_options: what is let through, and how it is rebuilt. */
#include "base/err.h"
#include "base/strings.h"
#include "gpu/compile/compile_options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The arguments in one line, or "! " and the sentence of the refusal. */
static void join(const char *params_text, char *ret, size_t room) {
    struct compile_options o;
    struct err err = {0};
    autojson *params = json_loads(params_text, 0, NULL);
    cr_assert(params, "%s", params_text);
    if (compile_options_read(&o, NULL, NULL, params, &err) < 0) {
        cr_expect_eq(err.code, -22);
        snprintf(ret, room, "! %s", err.msg);
        return;
    }
    char **argv = compile_options_argv(&o);
    ret[0] = '\0';
    for (char **word = argv; *word; word++) {
        size_t len = strlen(ret);
        snprintf(ret + len, room - len, "%s%s", len ? " " : "", *word);
    }
    strings_free(argv);
    compile_options_finish(&o);
}

Test(compile_options, known_options_become_the_compilers_own) {
    static const char *const cases[][2] = {
        {"{}", "--gpu-architecture=sm_90a --std=c++17"},
        {"{\"arch\":\"sm_80\",\"std\":\"c++20\"}",
         "--gpu-architecture=sm_80 --std=c++20"},
        {"{\"arch\":\"compute_90\"}", "--gpu-architecture=sm_90 --std=c++17"},
        {"{\"fast_math\":true,\"line_info\":true,\"quick\":true}",
         "--gpu-architecture=sm_90a --std=c++17 --use_fast_math -lineinfo "
         "--Ofast-compile=max"},
        {"{\"defines\":{\"N\":\"4\",\"EMPTY\":\"\",\"WIDE\":12,\"YES\":true}}",
         "--gpu-architecture=sm_90a --std=c++17 -DN=4 -DEMPTY= -DWIDE=12 -DYES=1"},
        {"{\"options\":[\"-arch=sm_100a\"]}", "--gpu-architecture=sm_100a --std=c++17"},
        {"{\"options\":[\"-arch\",\"sm_89\"]}", "--gpu-architecture=sm_89 --std=c++17"},
        {"{\"options\":[\"--gpu-architecture sm_89\"]}",
         "--gpu-architecture=sm_89 --std=c++17"},
        {"{\"options\":[\"-gencode\",\"arch=compute_80,code=sm_80\"]}",
         "--gpu-architecture=sm_80 --std=c++17"},
        {"{\"options\":[\"-gencode=arch=compute_90a,code=[sm_90a,compute_90a]\"]}",
         "--gpu-architecture=sm_90a --std=c++17"},
        {"{\"options\":[\"-std=c++14\",\"--std\",\"c++20\"]}",
         "--gpu-architecture=sm_90a --std=c++20"},
        {"{\"options\":[\"-DA\",\"-DB=x y\",\"-D\",\"C=3\",\"-D D\"]}",
         "--gpu-architecture=sm_90a --std=c++17 -DA=1 -DB=x y -DC=3 -DD=1"},
        {"{\"options\":[\"-DN=3 -lineinfo\"]}",
         "--gpu-architecture=sm_90a --std=c++17 -DN=3 -lineinfo"},
        {"{\"options\":[\"-maxrregcount 32 -DN=3\"]}",
         "--gpu-architecture=sm_90a --std=c++17 -DN=3 --maxrregcount=32"},
        {"{\"options\":[\"-O3 -Xptxas -v -D'B=x y'\\n-DM=4\"]}",
         "--gpu-architecture=sm_90a --std=c++17 -DB=x y -DM=4"},
        {"{\"options\":[\"-DB=x y\"]}", "--gpu-architecture=sm_90a --std=c++17 -DB=x y"},
        {"{\"options\":[\"--use_fast_math\",\"-lineinfo\",\"-maxrregcount=64\"]}",
         "--gpu-architecture=sm_90a --std=c++17 --use_fast_math -lineinfo "
         "--maxrregcount=64"},
        {"{\"options\":[\"-use_fast_math\",\"--maxrregcount\",\"32\"]}",
         "--gpu-architecture=sm_90a --std=c++17 --use_fast_math --maxrregcount=32"},
        {"{\"options\":[\"-rdc=true\"]}",
         "--gpu-architecture=sm_90a --std=c++17 -rdc=true -default-device"},
        {"{\"options\":[\"-rdc=false\"]}", "--gpu-architecture=sm_90a --std=c++17"},
        {"{\"options\":[\"-O3\",\"-Xptxas\",\"-v\",\"-Xptxas=-O3\",\"-Xcompiler\","
         "\"-fPIC,-Wall\",\"--expt-relaxed-constexpr\",\"--extended-lambda\",\"-c\",\"-"
         "o\","
         "\"/etc/x.o\",\"-g\",\"-m64\",\"-Wall\",\"-t\",\"4\",\"-ccbin\",\"g++\"]}",
         "--gpu-architecture=sm_90a --std=c++17"},
        {"{\"options\":[\"-default-device\"]}",
         "--gpu-architecture=sm_90a --std=c++17 -default-device"},
        {"{\"arch\":\"sm_90\",\"options\":[\"-arch=sm_80\"]}",
         "--gpu-architecture=sm_90 --std=c++17"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char got[1024];
        join(cases[i][0], got, sizeof got);
        cr_expect_str_eq(got, cases[i][1], "%s\n  %s", cases[i][0], got);
    }
}

/* Among them all that name a file, run a program or print elsewhere. */
Test(compile_options, nothing_else_gets_through) {
    static const char *const cases[][2] = {
        {"{\"arch\":\"sm_70\"}", "sm_70"},
        {"{\"arch\":\"sm_90a -I/etc\"}", "unknown architecture"},
        {"{\"arch\":\"native\"}", "native"},
        {"{\"std\":\"gnu++17\"}", "gnu++17"},
        {"{\"defines\":{\"A B\":\"1\"}}", "A B"},
        {"{\"defines\":{\"1A\":\"1\"}}", "1A"},
        {"{\"defines\":{\"\":\"1\"}}", "macro"},
        {"{\"defines\":{\"A\":\"1\\n#include\"}}", "one line"},
        {"{\"defines\":{\"A\":[]}}", "string"},
        {"{\"options\":[\"-DA(x)=1\"]}", "A(x)"},
        {"{\"options\":[\"-maxrregcount=0\"]}", "1 to 255"},
        {"{\"options\":[\"-maxrregcount=9999999999\"]}", "1 to 255"},
        {"{\"options\":[\"-maxrregcount=-1\"]}", "1 to 255"},
        {"{\"options\":[\"-maxrregcount\"]}", "needs a value"},
        {"{\"options\":[\"-rdc=maybe\"]}", "true or false"},
        {"{\"options\":[7]}", "strings"},
        {"{\"options\":[\"-I/etc\"]}", "-I/etc"},
        {"{\"options\":[\"-include=/etc/passwd\"]}", "-include"},
        {"{\"options\":[\"--time=/tmp/x\"]}", "--time"},
        {"{\"options\":[\"--create-pch=/tmp/x\"]}", "--create-pch"},
        {"{\"options\":[\"-pch-dir=/tmp\"]}", "-pch-dir"},
        {"{\"options\":[\"--fdevice-time-trace=x\"]}", "--fdevice"},
        {"{\"options\":[\"-dlto\"]}", "-dlto"},
        {"{\"options\":[\"-G\"]}", "-G"},
        {"{\"options\":[\"-archsm_90\"]}", "-archsm_90"},
        {"{\"options\":[\"@file\"]}", "@file"},
        {"{\"options\":[\"\"]}", "allowed are"},
        {"{\"options\":[\"k.cu\"]}", "allowed are"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char got[1024];
        join(cases[i][0], got, sizeof got);
        cr_expect(got[0] == '!' && strstr(got, cases[i][1]), "%s\n  %s", cases[i][0],
                  got);
    }
}

Test(compile_options, survive_the_way_to_the_worker) {
    static const char *const cases[] = {
        "{}",
        "{\"arch\":\"sm_100f\",\"std\":\"c++20\",\"fast_math\":true,\"line_info\":true,"
        "\"quick\":true,\"defines\":{\"Z\":\"1\",\"A\":\"x y\"},"
        "\"options\":[\"-rdc=true\",\"-maxrregcount=40\"]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct compile_options first, second;
        autojson *params = json_loads(cases[i], 0, NULL);
        cr_assert_eq(compile_options_read(&first, NULL, NULL, params, NULL), 0);
        autojson *json = compile_options_to_json(&first);
        cr_assert_eq(compile_options_from_json(&second, json, NULL), 0);
        autojson *again = compile_options_to_json(&second);
        cr_expect(json_equal(json, again));
        cr_expect_eq(second.max_registers, i ? 40 : 0);
        cr_expect_eq(second.relocatable, (int)i);
        compile_options_finish(&first);
        compile_options_finish(&second);
    }
}
