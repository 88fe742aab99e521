#include "gpu/facts/ptx_lines.h"
#include "test_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(ptx_lines);

/* 1-based number of the n-th line that holds `word`. */
static int line_of(const char *text, const char *word, int n) {
    int line = 1;
    for (const char *at = text; *at; line++) {
        const char *end = at + strcspn(at, "\n");
        const char *found = memmem(at, (size_t)(end - at), word, strlen(word));
        if (found && --n == 0) {
            return line;
        }
        at = *end ? end + 1 : end;
    }
    return 0;
}

struct expected_place {
    char file[64], function[16];
    int line, column;
};

static void expect_place(const struct ptx_line_place *place,
                         const struct expected_place *want) {
    cr_expect(place->file && strcmp(place->file, want->file) == 0, "%s", want->file);
    cr_expect(place->function && strcmp(place->function, want->function) == 0, "%s",
              want->function);
    cr_expect(eq(int, place->line, want->line));
    cr_expect(eq(int, place->column, want->column));
}

/* An instruction stands where it was written, and its callers lead out to the kernel. */
Test(ptx_lines, follows_inlining_outwards) {
    static const struct expected_place steps[] = {
        {"/job/r0/src/../inc/asm.cuh", "_Z1kPi", 2, 5},
        {"/job/r0/src/inlined.cu", "_Z1kPi", 2, 49},
        {"/job/r0/src/inlined.cu", "_Z1kPi", 5, 5}, /* the second use of two */
    };
    size_t len = 0;
    autofree char *ptx = test_data_read("logs/inlined.ptx", &len);
    struct ptx_lines *lines = ptx_lines_new(ptx, len);
    struct ptx_line_place place = ptx_lines_at(lines, line_of(ptx, "wrong.u32", 2));
    expect_place(&place, &steps[0]);
    cr_assert(ptx_lines_caller(lines, &place));
    expect_place(&place, &steps[1]);
    cr_assert(ptx_lines_caller(lines, &place));
    expect_place(&place, &steps[2]);
    cr_expect(not(ptx_lines_caller(lines, &place)));
    ptx_lines_free(lines);
}

/* Each function has lines of its own; between functions there is no place. */
Test(ptx_lines, keeps_functions_apart) {
    static const char ptx[] = ".visible .entry k(\n"
                              "\t.param .u64 k_param_0\n"
                              ")\n"
                              "{\n"
                              "\t.loc\t1 3 0\n"
                              "\tadd;\n"
                              "}\n" /* inline assembly may put a brace at the margin */
                              "\tmul;\n"
                              "}\n"
                              "\t// between\n"
                              ".func  (.param .b32 func_retval0) helper(\n"
                              ")\n"
                              "{\n"
                              "\tsub;\n"
                              "\t.loc 1 9 7\n"
                              "\tdiv;\n"
                              "}\n"
                              "\t.file\t1 \"a.cu\", 1700000000, 120\n";
    static const struct {
        const char *word;
        char function[16];
        int line;
    } cases[] = {{"add;", "k", 3},      {"mul;", "k", 3},      {"between", "", 0},
                 {"sub;", "helper", 0}, {"div;", "helper", 9}, {".file", "", 0}};
    struct ptx_lines *lines = ptx_lines_new(ptx, strlen(ptx));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ptx_line_place place = ptx_lines_at(lines, line_of(ptx, cases[i].word, 1));
        cr_expect(eq(int, place.line, cases[i].line), "%s", cases[i].word);
        cr_expect(strcmp(place.function ? place.function : "", cases[i].function) == 0,
                  "%s", cases[i].word);
        cr_expect(place.line == 0 || strcmp(place.file, "a.cu") == 0);
    }
    ptx_lines_free(lines);
}

/* A place outside the text, a text without lines, and directives cut short give nothing.
 */
Test(ptx_lines, bears_what_is_not_there) {
    static const char *const texts[] = {
        "",
        ".loc",
        ".loc 1",
        ".loc 1 2",
        ".file",
        ".file 1",
        ".file 1 \"open",
        ".entry",
        ".func (",
        ".loc 99999999999999 1 1",
        ".file 4097 \"x\"",
        ".entry k(\n.loc 7 1 1\n",
        ".entry k(\n.loc 1 1 1, inlined_at\n",
        ".entry k(\n.loc 1 1 1, inlined_at 1 1 1\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        size_t len = strlen(texts[i]);
        char *exact = xmalloc(len + 1);
        memcpy(exact, texts[i], len);
        struct ptx_lines *lines = ptx_lines_new(exact, len);
        int steps = 0;
        for (int line = -1; line < 4; line++) {
            struct ptx_line_place place = ptx_lines_at(lines, line);
            cr_expect(place.file == NULL);
            while (ptx_lines_caller(lines, &place)) {
                cr_assert(lt(int, ++steps, 10));
            }
        }
        ptx_lines_free(lines);
        free(exact);
    }
}

/* Text that the compiler copied: no directive in it says where it stands. */
Test(ptx_lines, copied) {
    struct ptx_lines *lines = ptx_lines_copied("k.ptx", 21);
    struct ptx_line_place place = ptx_lines_at(lines, 22);
    cr_expect(eq(str, (char *)place.file, "k.ptx"));
    cr_expect(eq(int, place.line, 1));
    cr_expect(place.function == NULL && !ptx_lines_caller(lines, &place));
    cr_expect(ptx_lines_at(lines, 21).file == NULL);
    cr_expect(ptx_lines_at(lines, -1).file == NULL);
    ptx_lines_free(lines);
}
