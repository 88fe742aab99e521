#include "gpu/facts/compiler_log.h"
#include "log_room.h"
#include "test_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static struct {
    struct expected e;
    size_t count, at;
    const char *message;
    char file[32];
    int line;
    const char *word;
} related_notes[] = {
    {{"overloads", "overloads", "no instance of overloaded", "error", "", "nvrtc",
      "src/overloads.cu", 6, "over"},
     2,
     1,
     "function \"over(int)\" does not match",
     "src/overloads.cu",
     2,
     "over"},
    {{"unterminated", "unterminated", "expected a \"}\"", "error", "", "nvrtc",
      "src/unterminated.cu", 3, ""},
     1,
     0,
     "to match this \"{\"",
     "src/unterminated.cu",
     2,
     "{"},
    {{"instantiated", "instantiated",
      "expression must have class type but it has type "
      "\"float\"",
      "error", "", "nvrtc", "inc/tmpl.cuh", 6, "x"},
     3,
     0,
     "instantiation of \"T inner(T) [with T=float]\"",
     "inc/tmpl.cuh",
     7,
     ""},
    {{"instantiated", "instantiated",
      "expression must have class type but it has type "
      "\"float\"",
      "error", "", "nvrtc", "inc/tmpl.cuh", 6, "x"},
     3,
     2,
     "instantiation of \"T outer(T) [with T=float]\"",
     "src/instantiated.cu",
     9,
     ""},
    {{"builtin", "builtin", "no instance of overloaded function \"atomicAdd\"", "error",
      "", "nvrtc", "src/builtin.cu", 3, "atomicAdd"},
     7,
     3,
     "number of parameters of function \"atomicAdd(float *, float)\" does not",
     "src/builtin.cu",
     3,
     "atomicAdd"},
};

TestSuite(compiler_log);

/* The text of a line of a source, from the column to the line's end; "" without a column.
 */
static char *text_at(const struct reading *r, const json_t *place) {
    autofree char *path = xasprintf("r0/%s", json_get_string(place, "file", "?"));
    const struct source_file *file = source_set_find(&r->sources, path);
    json_int_t column = json_get_integer(place, "column", 0);
    if (!file || column == 0) {
        return xstrdup("");
    }
    const char *at = file->text;
    for (json_int_t line = json_get_integer(place, "line", 0); line > 1; line--) {
        at = strchr(at, '\n') + 1;
    }
    size_t len = strcspn(at, "\r\n");
    cr_assert(ge(u64, len + 1, (uint64_t)column));
    return xstrndup(at + column - 1, len - (size_t)column + 1);
}

static bool agrees(const struct reading *r, const json_t *finding,
                   const struct expected *e) {
    autofree char *at = text_at(r, finding);
    json_int_t width = json_get_integer(finding, "end_column", 0) -
                       json_get_integer(finding, "column", 0);
    return starts(json_get_string(finding, "message", ""), e->message) &&
           strcmp(json_get_string(finding, "severity", ""), e->severity) == 0 &&
           strcmp(json_get_string(finding, "code", "?"), e->code) == 0 &&
           strcmp(json_get_string(finding, "source", ""), e->from) == 0 &&
           strcmp(json_get_string(finding, "file", ""), e->file) == 0 &&
           json_get_integer(finding, "line", 0) == e->line && starts(at, e->word) &&
           (*e->word ? width == (json_int_t)strlen(e->word)
                     : !json_object_get(finding, "end_column"));
}

static json_t *find(const struct reading *r, const struct expected *e) {
    json_t *finding;
    size_t i;
    json_array_foreach(r->log.findings, i, finding) {
        if (agrees(r, finding, e)) {
            return finding;
        }
    }
    return NULL;
}

static const struct expected placed_words[] = {
    {"overloads", "overloads",
     "no instance of overloaded function \"over\" matches the argument "
     "list\nargument "
     "types are: (S)",
     "error", "", "nvrtc", "src/overloads.cu", 6, "over"},
    {"overloads", "overloads", "integer conversion resulted in a change of sign",
     "warning", "68", "nvrtc", "src/overloads.cu", 7, "-"},
    {"overloads", "overloads", "variable \"unused\" was declared but never referenced",
     "warning", "177", "nvrtc", "src/overloads.cu", 8, "unused"},
    {"overloads", "overloads", "identifier \"missing\" is undefined", "error", "",
     "nvrtc", "src/overloads.cu", 11, "missing"},
    {"instantiated", "instantiated",
     "expression must have class type but it has type "
     "\"float\"",
     "error", "", "nvrtc", "inc/tmpl.cuh", 6, "x"},
    {"missing", "missing", "cannot open source file \"nope/thing.h\"", "error", "",
     "nvrtc", "src/missing.cu", 1, "nope/thing.h"},
    {"directive", "directive", "#error directive: \"this must not be built\"", "error",
     "", "nvrtc", "src/directive.cu", 1, "error"},
    {"unterminated", "unterminated", "expected a \"}\"", "error", "", "nvrtc",
     "src/unterminated.cu", 3, ""},
    {"comment", "comment", "missing closing quote", "error", "", "nvrtc",
     "src/comment.cu", 2, "\"abc;"},
    {"crlf", "crlf", "identifier \"nope\" is undefined", "error", "", "nvrtc",
     "src/crlf.cu", 2, "nope"},
    {"macro", "macro", "identifier \"nope\" is undefined", "error", "", "nvrtc",
     "src/macro.cu", 4, "TWICE"},
    {"macro", "macro", "identifier \"spliced_missing\" is undefined", "error", "",
     "nvrtc", "src/macro.cu", 7, "spliced_missing"},
    {"macro", "macro", "A function without execution space annotations", "error", "",
     "nvrtc", "src/macro.cu", 16, "main"},
    {"several", "several", "static assertion failed with \"a\nb\"", "error", "", "nvrtc",
     "src/several.cu", 1, "static_assert"},
    {"several", "several", "unrecognized #pragma", "warning", "161", "nvrtc",
     "src/several.cu", 3, "nope"},
    {"warnings", "warnings", "pointless comparison of unsigned integer with zero",
     "warning", "186", "nvrtc", "src/warnings.cu", 4, ">="},
    {"parameters", "parameters",
     "Formal parameter space overflowed (40008 bytes required, max 32764 bytes "
     "allowed) "
     "in function k",
     "error", "", "nvrtc", "src/parameters.cu", 2, ""},
    {"shared", "shared",
     "Entry function 'ns::big<75000>' uses too much shared data (300000 bytes, "
     "232448 "
     "max)",
     "error", "", "ptxas", "src/shared.cu", 2, "big"},
    {"wgmma_sm_90", "wgmma", "Instruction 'wgmma.fence' not supported on .target 'sm_90'",
     "error", "", "ptxas", "src/wgmma.cu", 4, "asm"},
    {"wgmma_sm_90", "wgmma", "Instruction 'wgmma.commit_group' not supported", "error",
     "", "ptxas", "src/wgmma.cu", 5, "asm"},
    {"wgmma", "wgmma",
     "warpgroup.wait is injected by compiler to allow use of registers defined by "
     "GMMA "
     "in function 'k'",
     "info", "C7517", "ptxas", "src/wgmma.cu", 2, "k"},
    {"assembly", "assembly", "Unknown modifier '.u33'", "error", "", "ptxas",
     "src/assembly.cu", 3, "asm"},
    {"assembly", "assembly", "Parsing error near '.loc': syntax error", "error", "",
     "ptxas", "src/assembly.cu", 9, "asm"},
    {"inlined", "inlined", "Not a name of any known instruction: 'wrong'", "error", "",
     "ptxas", "inc/asm.cuh", 2, "asm"},
    {"inlined", "inlined", "Unknown modifier '.op'", "error", "", "ptxas",
     "src/inlined.cu", 7, "called"},
    {"tabs", "tabs", "Parsing error near '.global': syntax error", "error", "", "ptxas",
     "src/tabs.cu", 2, "x"},
};

/* What the compiler says stands on the very word it is about, in the file it is about.
 * Lines and words were taken from the sources, not from the logs. */
Test(compiler_log, places_each_message_on_its_word) {
    for (size_t i = 0; i < ARRAY_LEN(placed_words); i++) {
        struct reading r;
        read_log(&r, placed_words[i].log, placed_words[i].source);
        autofree char *all = json_dumps(r.log.findings, JSON_INDENT(1));
        cr_expect(find(&r, &placed_words[i]) != NULL, "%s: \"%s\" is not in %s",
                  placed_words[i].log, placed_words[i].message, all);
        reading_finish(&r);
    }
}

/* Nothing is said twice, and nothing that is no message is taken for one. */
Test(compiler_log, says_each_thing_once) {
    static const struct {
        const char *log, *source;
        size_t findings, errors;
    } cases[] = {
        {"overloads", "overloads", 9, 6},
        {"instantiated", "instantiated", 5, 4},
        {"missing", "missing", 1, 1},
        {"directive", "directive", 1, 1},
        {"unterminated", "unterminated", 1, 2}, /* the same brace, missed twice */
        {"comment", "comment", 4, 4},
        {"crlf", "crlf", 2, 1},
        {"several", "several", 5, 3},
        {"warnings", "warnings", 5, 0},
        {"macro", "macro", 9, 5},
        {"parameters", "parameters", 1, 1},
        {"shared", "shared", 1, 1},
        {"shared_verbose", "shared", 0, 0},
        {"wgmma", "wgmma", 1, 0},
        {"wgmma_sm_90", "wgmma", 2, 2},
        {"assembly", "assembly", 4, 4},
        {"inlined", "inlined", 5, 8},
        {"groups", "groups", 1, 1},
        {"reduce", "reduce", 1, 2},
        {"option", "options", 1, 1},
        {"definition", "options", 1, 1},
        {"spill", "spill", 0, 0},
        {"renumbered", "renumbered", 1, 1},
        {"header", "header", 3, 100},
        {"builtin", "builtin", 1, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reading r;
        read_log(&r, cases[i].log, cases[i].source);
        cr_expect(eq(u64, json_array_size(r.log.findings), cases[i].findings), "%s",
                  cases[i].log);
        cr_expect(eq(u64, r.log.errors, cases[i].errors), "%s", cases[i].log);
        cr_expect(zero(u64, r.log.omitted), "%s", cases[i].log);
        reading_finish(&r);
    }
}

static const json_t *related_at(const json_t *finding, size_t i) {
    return json_array_get(json_object_get(finding, "related"), i);
}

/* Notes, and the instantiations that led to a template's error, are related places. */
Test(compiler_log, relates_notes_and_instantiations) {
    for (size_t i = 0; i < ARRAY_LEN(related_notes); i++) {
        struct reading r;
        read_log(&r, related_notes[i].e.log, related_notes[i].e.source);
        const json_t *finding = find(&r, &related_notes[i].e);
        cr_assert(finding != NULL, "%zu", i);
        const json_t *related = related_at(finding, related_notes[i].at);
        autofree char *at = text_at(&r, related);
        cr_expect(eq(u64, json_array_size(json_object_get(finding, "related")),
                     related_notes[i].count));
        cr_expect(
            starts(json_get_string(related, "message", ""), related_notes[i].message),
            "%zu", i);
        cr_expect(eq(str, string_of(related, "file"), related_notes[i].file));
        cr_expect(
            eq(int, (int)json_get_integer(related, "line", 0), related_notes[i].line));
        cr_expect(starts(at, related_notes[i].word), "%zu: %s", i, at);
        reading_finish(&r);
    }
}

/* A message inside a header of CUDA's stands at the job's line that led there, the
 * header's place beside it: by the instantiations, or by the #include where there are
 * none. */
Test(compiler_log, brings_messages_in_cuda_headers_home) {
    static struct {
        struct expected e;
        char header[96];
        int line;
    } cases[] = {
        {{"groups", "groups",
          "static assertion failed with \"Size must be one of "
          "64/128/256/512\"",
          "error", "", "nvrtc", "src/groups.cu", 5, ""},
         "/cuda/include/cooperative_groups.h",
         1182},
        {{"reduce", "reduce", "no instance of function template", "error", "", "nvrtc",
          "src/reduce.cu", 7, ""},
         "/cuda/include/cccl/cub/warp/specializations/warp_reduce_shfl.cuh",
         457},
        {{"header", "header", "expected a declaration", "error", "", "nvrtc",
          "src/header.cu", 2, ""},
         "/cuda/include/cuda_fp16.h",
         188},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reading r;
        read_log(&r, cases[i].e.log, cases[i].e.source);
        const json_t *finding = find(&r, &cases[i].e);
        cr_assert(finding != NULL, "%s", cases[i].e.log);
        const json_t *related = related_at(finding, 0);
        cr_expect(eq(str, string_of(related, "file"), cases[i].header));
        cr_expect(eq(int, (int)json_get_integer(related, "line", 0), cases[i].line));
        cr_expect(le(u64, json_array_size(json_object_get(finding, "related")), 16));
        reading_finish(&r);
    }
}

/* The figures of `ptxas -v`, by symbol. Those of functions that kernels call are their
 * own. */
Test(compiler_log, reads_the_assemblers_figures) {
    static const struct {
        const char *log, *source, *symbol, *key;
        int value;
    } cases[] = {
        {"spill", "spill", "_Z5spillPf", "registers", 32},
        {"spill", "spill", "_Z5spillPf", "spill_store_bytes", 2080},
        {"spill", "spill", "_Z5spillPf", "spill_load_bytes", 2724},
        {"spill", "spill", "_Z5spillPf", "stack_bytes", 1184},
        {"spill", "spill", "_Z5spillPf", "barriers", 0},
        {"shared_verbose", "shared", "_ZN2ns3bigILi75000EEEvPf", "static_shared_bytes",
         300000},
        {"shared_verbose", "shared", "_ZN2ns3bigILi75000EEEvPf", "barriers", 1},
        {"shared_verbose", "shared", "_Z4finePf", "static_shared_bytes", 0},
        {"shared_verbose", "shared", "_Z4finePf", "registers", 8},
        {"wgmma", "wgmma", "_Z1kPi", "registers", 8},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reading r;
        read_log(&r, cases[i].log, cases[i].source);
        const json_t *usage = json_object_get(r.log.usage, cases[i].symbol);
        cr_expect(eq(int, (int)json_get_integer(usage, cases[i].key, -1), cases[i].value),
                  "%s %s", cases[i].symbol, cases[i].key);
        reading_finish(&r);
    }
}

/* Stand-alone ptxas and nvcc indent where NVRTC writes "ptxas ." */
Test(compiler_log, reads_figures_of_a_kernel_that_calls_functions) {
    static const char log[] =
        "ptxas info    : Compiling entry function '_Z2k2Pi' for 'sm_90a'\n"
        "ptxas info    : Function properties for _Z2k2Pi\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
        "loads\n"
        "ptxas info    : Used 24 registers, used 0 barriers\n"
        "ptxas info    : Compile time = 4.493 ms\n"
        "ptxas info    : Function properties for _Z3fibi\n"
        "ptxas         .     24 bytes stack frame, 20 bytes spill stores, 20 bytes spill "
        "loads\n";
    struct reading r;
    read_text(&r, log, strlen(log), "");
    const json_t *kernel = json_object_get(r.log.usage, "_Z2k2Pi");
    const json_t *function = json_object_get(r.log.usage, "_Z3fibi");
    cr_expect(eq(int, (int)json_get_integer(kernel, "spill_store_bytes", -1), 0));
    cr_expect(eq(int, (int)json_get_integer(kernel, "registers", -1), 24));
    cr_expect(eq(int, (int)json_get_integer(function, "spill_store_bytes", -1), 20));
    reading_finish(&r);
}

/* Headers in memory (the compiler's own, our shims) are nobody's secret: their messages
 * stand at the job's line that led there. */
Test(compiler_log, brings_messages_in_built_in_headers_home) {
    static const struct {
        const char *log;
        int line;
    } cases[] = {
        {"cstdint(7): error: bad\n  x\n  ^\n", 2},
        {"__nv_nvrtc_builtin_header.h(7): error: bad\n  x\n  ^\n          detected "
         "during "
         "instantiation of \"T\" at line 3 of r0/k.cu\n",
         3},
        {"nobody.h(7): error: bad\n  x\n  ^\n", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reading r;
        read_text(&r, cases[i].log, strlen(cases[i].log),
                  "// #include <cstdint>\n#include <cstdint>\nint a;\n");
        const json_t *finding = json_array_get(r.log.findings, 0);
        cr_expect(eq(str, string_of(finding, "message"), "bad"));
        cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), cases[i].line),
                  "%zu", i);
        reading_finish(&r);
    }
}

/* The compiler ends lines at "\n" alone, editors at a lone "\r" too. */
Test(compiler_log, counts_lines_as_editors_do) {
    static const char log[] = "r0/k.cu(2): error: bad\n  c;\rdd;\n     ^\n";
    struct reading r;
    read_text(&r, log, strlen(log), "a;\rb;\nc;\rdd;\n");
    const json_t *finding = json_array_get(r.log.findings, 0);
    cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), 4));
    cr_expect(eq(int, (int)json_get_integer(finding, "column", 0), 1));
    cr_expect(eq(int, (int)json_get_integer(finding, "end_column", 0), 3));
    reading_finish(&r);
}

/* What the compiler says of our own precompiled headers is none of the user's. */
Test(compiler_log, drops_noise) {
    static const char log[] =
        "\"r0/k.cu\": creating precompiled header file \"/tmp/x.pch\"\n\n"
        "\"r0/k.cu\": using precompiled header file \"/tmp/x.pch\"\n"
        "Warning #20282-D: incompatible precompiled header (PCH) heap allocation address "
        "from PCH file \"/tmp/x.pch\".  This usually occurs if\n\n"
        "Warning #629-D: the command line options do not match\n\n"
        "r0/k.cu(1): warning #630-D: the initial sequence of preprocessing directives is "
        "not compatible\n  int a;\n  ^\n\n"
        "Remark: The warnings can be suppressed with \"-diag-suppress "
        "<warning-number>\"\n\n"
        "Compilation terminated.\n"
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compile time = 1.0 ms\n";
    struct reading r;
    read_text(&r, log, strlen(log), "int a;\n");
    autofree char *all = all_text(&r);
    cr_expect(eq(str, all, "[]"));
    cr_expect(zero(u64, r.log.errors));
    reading_finish(&r);
}

/* Names inside the job are no client's business; files have the names clients gave them.
 */
Test(compiler_log, calls_files_what_clients_call_them) {
    static const char log[] = "r0/k.cu(1): error: member (declared at line 1 of "
                              "r0/../r0/k.cu) of r0/other.cu\n  int a;\n  ^\n";
    struct reading r;
    read_text(&r, log, strlen(log), "int a;\n");
    const json_t *finding = json_array_get(r.log.findings, 0);
    cr_expect(eq(str, string_of(finding, "message"),
                 "member (declared at line 1 of k.cu) of r0/other.cu"));
    cr_expect(eq(str, string_of(finding, "file"), "k.cu"));
    reading_finish(&r);
}
