/* Logs that are long, cut, foreign or out to mislead. */
#include "base/buf.h"
#include "base/text.h"
#include "gpu/facts/compiler_log.h"
#include "log_room.h"
#include "test_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(compiler_log);

/* Where the compiler stops at its limit, what is left out is told. */
Test(compiler_log, tells_what_is_left_out) {
    struct reading r;
    read_log(&r, "many", "many");
    const json_t *last = json_array_get(r.log.findings, COMPILER_LOG_MAX_FINDINGS - 1);
    cr_expect(eq(u64, json_array_size(r.log.findings), COMPILER_LOG_MAX_FINDINGS));
    cr_expect(eq(u64, r.log.errors, 100));
    cr_expect(eq(u64, r.log.omitted, 1));
    cr_expect(eq(str, string_of(last, "severity"), "info"));
    cr_expect(starts(json_get_string(last, "message", ""), "the compiler stopped"));
    reading_finish(&r);
}

/* A log of thousands of errors gives the first hundred and a count of the others. */
Test(compiler_log, cuts_thousands_of_errors) {
    autobuf log = BUF_INIT(4u << 20), source = BUF_INIT(1u << 20);
    for (int i = 1; i <= 5000; i++) {
        buf_addf(&source, "missing_%d;\n", i);
        buf_addf(&log, "r0/k.cu(%d): warning #68-D: careful\n  missing_%d;\n  ^\n\n", i,
                 i);
        buf_addf(&log,
                 "r0/k.cu(%d): error: identifier \"missing_%d\" is undefined\n"
                 "  missing_%d;\n  ^\n\n",
                 i, i, i);
    }
    buf_adds(&log, "6000 errors detected in the compilation of \"r0/k.cu\".\n");
    struct reading r;
    read_text(&r, log.data, log.len, source.data);
    const json_t *finding;
    size_t i;
    cr_assert(eq(u64, json_array_size(r.log.findings), COMPILER_LOG_MAX_FINDINGS));
    json_array_foreach(r.log.findings, i, finding) {
        cr_expect(eq(str, string_of(finding, "severity"), "error"));
        cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), (int)i + 1));
    }
    cr_expect(eq(u64, r.log.errors, 6000));
    cr_expect(eq(u64, r.log.omitted, 6000 + 5000 - COMPILER_LOG_MAX_FINDINGS));
    reading_finish(&r);
}

/* No word of a file that is neither the job's nor CUDA's gets through, in whatever part
 * of a message it stands. */
Test(compiler_log, withholds_foreign_files) {
    static const char *const logs[] = {
        "/etc/passwd(1): error: identifier \"SECRET\" is undefined\n  SECRET:x:0\n  ^\n",
        "../../SECRET/file.h(1): error: SECRET\n  SECRET\n  ^\n",
        "r0/../../etc/SECRET(1): warning #1-D: SECRET\n  SECRET\n  ^\n",
        "/cuda/include/../../etc/SECRET(3): error: SECRET\n",
        "/cuda/includes/SECRET(3): error: SECRET\n",
        "r0/k.cu(1): error: bad\n  int a;\n  ^\n/etc/x(1): note #1-D: SECRET\n  SECRET\n "
        " ^\n",
        "r0/k.cu(1): error: bad\n  SECRET line\n  ^\n",
        "/etc/x(1): error: a\n  b\n  ^\nr0/k.cu(1): note #1-D: SECRET here\n  int a;\n  "
        "^\n",
        "r0/k.cu(1): error: bad\n  int a;\n  ^\n          detected during instantiation "
        "of "
        "\"SECRET\" at line 3 of /etc/x\n",
        "/etc/x(1): error: SECRET\n  SECRET\n  ^\n          detected during "
        "instantiation of "
        "\"SECRET\" at line 1 of r0/k.cu\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
        struct reading r;
        read_text(&r, logs[i], strlen(logs[i]), "int a;\n");
        autofree char *all = all_text(&r);
        cr_expect(strstr(all, "SECRET") == NULL, "%zu: %s", i, all);
        cr_expect(eq(u64, json_array_size(r.log.findings), 1), "%zu", i);
        reading_finish(&r);
    }
}

/* A withheld message keeps its severity and number, and the job's line that led to it. */
Test(compiler_log, keeps_what_a_withheld_message_may_tell) {
    static const char log[] =
        "/etc/x(1): warning #99-D: SECRET\n  SECRET\n  ^\n          detected during "
        "instantiation of \"SECRET\" at line 2 of r0/k.cu\n";
    struct reading r;
    read_text(&r, log, strlen(log), "int a;\nint b;\n");
    const json_t *finding = json_array_get(r.log.findings, 0);
    cr_expect(eq(str, string_of(finding, "severity"), "warning"));
    cr_expect(eq(str, string_of(finding, "code"), "99"));
    cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), 2));
    cr_expect(eq(str, string_of(finding, "message"),
                 "a message about a file outside the job was withheld"));
    reading_finish(&r);
}

/* A #line directive can make the compiler name lines that are not there. */
Test(compiler_log, believes_no_line_past_the_end) {
    static const char log[] = "r0/k.cu(900): error: bad\n  int a;\n  ^\n";
    struct reading r;
    read_text(&r, log, strlen(log), "int a;\n");
    const json_t *finding = json_array_get(r.log.findings, 0);
    cr_expect(eq(str, string_of(finding, "message"), "bad"));
    cr_expect(json_object_get(finding, "line") == NULL);
    reading_finish(&r);
}

/* A column is told only where the quoted line is the source's own. */
Test(compiler_log, computes_no_column_from_another_line) {
    static const struct {
        const char *log;
        int column;
    } cases[] = {
        {"r0/k.cu(1): error: bad\n  int abc = d;\n            ^\n", 11},
        {"r0/k.cu(1): error: bad\n  int abc = \n            ^\n", 11}, /* cut short */
        {"r0/k.cu(1): error: bad\n  int xyz = d;\n            ^\n", 0},
        {"r0/k.cu(1): error: bad\n  int abc = d; more\n            ^\n", 0},
        {"r0/k.cu(1): error: bad\n  int abc = d;\n                                  ^\n",
         0},
        {"r0/k.cu(1): error: bad\n", 0},
        {"r0/k.cu(2): error: bad\n  \tint \xc3\xa9 = d;\n  \t         ^\n", 11},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reading r;
        read_text(&r, cases[i].log, strlen(cases[i].log),
                  "int abc = d;\n\tint \xc3\xa9 = d;\n");
        const json_t *finding = json_array_get(r.log.findings, 0);
        cr_expect(eq(int, (int)json_get_integer(finding, "column", 0), cases[i].column),
                  "%zu", i);
        reading_finish(&r);
    }
}

/* "Ptx assembly aborted" is worth saying only when nothing else is. */
Test(compiler_log, reports_a_giving_up_without_reason) {
    static const char alone[] = "ptxas fatal   : Ptx assembly aborted due to errors\n";
    static const char after[] = "ptxas error   : Entry function 'k' uses too much of it\n"
                                "ptxas fatal   : Ptx assembly aborted due to errors\n";
    struct reading r;
    read_text(&r, alone, strlen(alone), "");
    cr_expect(eq(u64, r.log.errors, 1));
    cr_expect(eq(u64, json_array_size(r.log.findings), 1));
    reading_finish(&r);
    read_text(&r, after, strlen(after), "__global__ void k() {}\n");
    cr_expect(eq(u64, r.log.errors, 1));
    cr_expect(eq(u64, json_array_size(r.log.findings), 1));
    reading_finish(&r);
}

/* Long messages end on a code point, and nothing in them can deceive a terminal. */
Test(compiler_log, bounds_and_cleans_messages) {
    autobuf log = BUF_INIT(1u << 20);
    buf_adds(&log, "r0/k.cu(1): error: \x1b[31mx ");
    for (int i = 0; i < 4000; i++) {
        buf_adds(&log, "\xc3\xa9");
    }
    buf_adds(&log, "\n  int a;\n  ^\n");
    struct reading r;
    read_text(&r, log.data, log.len, "int a;\n");
    const char *message =
        json_get_string(json_array_get(r.log.findings, 0), "message", "");
    cr_expect(le(u64, strlen(message), 2048));
    cr_expect(ge(u64, strlen(message), 2000));
    cr_expect(text_is_utf8(message, strlen(message)));
    cr_expect(strchr(message, '\x1b') == NULL);
    reading_finish(&r);
}

/* A mangled name of a few bytes that stands for gigabytes of text stays as it is. */
Test(compiler_log, survives_names_that_explode) {
    autobuf log = BUF_INIT(1u << 20);
    buf_adds(&log, "r0/k.cu(1): error: in _Z1fI1AIiiE");
    for (int i = 0; i < 30; i++) {
        buf_addf(&log, "1AIS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
                 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
    }
    buf_adds(&log, "Evv\n");
    struct reading r;
    read_text(&r, log.data, log.len, "int a;\n");
    cr_expect(eq(u64, json_array_size(r.log.findings), 1));
    reading_finish(&r);
}

/* However a log is cut off, reading it ends and gives whole findings. */
Test(compiler_log, reads_any_part_of_any_log) {
    static const char *const names[][2] = {
        {"overloads", "overloads"}, {"instantiated", "instantiated"},
        {"groups", "groups"},       {"assembly", "assembly"},
        {"spill", "spill"},         {"several", "several"},
    };
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        autofree char *path = xasprintf("logs/%s.log", names[n][0]);
        autofree char *source_path = xasprintf("r0/src/%s.cu", names[n][1]);
        size_t len = 0;
        autofree char *text = test_data_read(path, &len);
        struct source_set sources = {0};
        add_source(&sources, source_path);
        for (size_t i = 0; i <= len; i += 7) {
            /* Exactly as long as it is, so that reading past it is found out. */
            char *part = xmalloc(len - i + 1);
            memcpy(part, text + i, len - i);
            struct compiler_log log;
            compiler_log_read(&log, part,
                              i % 2         ? len - i
                              : i < len - i ? i
                                            : len - i,
                              &sources, cuda_dirs, NULL);
            json_t *finding;
            size_t k;
            json_array_foreach(log.findings, k, finding) {
                cr_assert(json_object_get(finding, "message") != NULL);
            }
            compiler_log_finish(&log);
            free(part);
        }
        source_set_finish(&sources);
    }
}
