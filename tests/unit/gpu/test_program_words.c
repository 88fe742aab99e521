#include "base/err.h"
#include "base/mem.h"
#include "gpu/compile/compile_options.h"
#include "gpu/program/program_words.h"

#include <criterion/criterion.h>
#include <string.h>

/* The words of options written as JSON, one text; "!" and the message where they are
 * refused. */
static char *words_of(const char *options) {
    struct err err = {0};
    struct compile_options read;
    autojson *given = json_loads(options, 0, NULL), *words = NULL, *left = NULL;
    cr_assert(given, "%s", options);
    if (program_words_read(given, &words, &left, &err) < 0) {
        return xasprintf("!%s", err.msg);
    }
    autojson *params = json_pack("{s:O}", "options", left);
    if (compile_options_read(&read, NULL, NULL, params, &err) < 0) {
        return xasprintf("!%s", err.msg);
    }
    program_words_add(words, &read);
    compile_options_finish(&read);
    char *text = xstrdup("");
    json_each(words, i, word) {
        char *more = xasprintf("%s%s%s", text, i ? " " : "", json_string_value(word));
        free(text);
        text = more;
    }
    return text;
}

Test(program_words, what_nvcc_gets) {
    static const char *const rows[][2] = {
        {"[]", "-O2"},
        {"[\"-O3\"]", "-O3"},
        {"[\"-O0 -std=c++20 -DN=4\"]", "-O0 -std=c++20 -DN=4"},
        {"[\"-std\", \"c++14\", \"-rdc=true\", \"-use_fast_math\", \"-maxrregcount=64\"]",
         "-O2 -std=c++14 -use_fast_math -rdc=true -maxrregcount=64"},
        {"[\"-arch=sm_80\", \"-gencode\", \"arch=compute_90,code=sm_90\"]", "-O2"},
        {"[\"-Xcompiler\", \"-fopenmp,-Wall\", \"-lgomp\"]",
         "-Xcompiler -fopenmp -Xcompiler -Wall -lgomp -O2"},
        {"[\"-Xcompiler=-march=native\", \"-lcublas\", \"-lcudart\", \"-l\", \"m\"]",
         "-Xcompiler -march=native -lm -O2"},
        {"[\"--extended-lambda\", \"--expt-relaxed-constexpr\", \"--default-stream\", "
         "\"per-thread\"]",
         "--extended-lambda --expt-relaxed-constexpr --default-stream=per-thread -O2"},
        {"[\"-L/opt/x\", \"-L\", \"/y\", \"-cudart\", \"static\", \"-G\", \"-lineinfo\"]",
         "-O2"},
        {"[\"-DA=b c\"]", "-O2 -DA=b c"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree char *words = words_of(rows[i][0]);
        cr_expect_str_eq(words, rows[i][1], "%s gives %s", rows[i][0], words);
    }
}

Test(program_words, what_is_refused) {
    static const char *const rows[] = {
        "[\"--run\"]",
        "[\"-Xcompiler\", \"-fplugin=a.so\"]",
        "[\"-Xcompiler\", \"-Wl,-rpath,/x\"]",
        "[\"-Xcompiler\", \"-B/x\"]",
        "[\"-Xcompiler\", \"-specs=/x\"]",
        "[\"-Xcompiler\", \"-wrapper a\"]",
        "[\"-Xcompiler\", \"-fdump-tree-all\"]",
        "[\"-Xcompiler\", \"-fprofile-use=/x\"]",
        "[\"-lssl\"]",
        "[\"-O2 'x\"]",
        "[\"@file\"]",
        "[\"-o\"]",
        "[\"--options-file\", \"x\"]",
        "[\"-keep-dir=/x\"]",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree char *words = words_of(rows[i]);
        cr_expect_eq(words[0], '!', "%s gives %s", rows[i], words);
    }
}
