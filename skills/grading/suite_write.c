/* suite_write: what a student is asked, and the files that go with it. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "skills/grading/suite.h"

#include <stdint.h>
#include <string.h>

#define MAX_PROMPT ((SUITE_MAX_FILES + 1) * (SUITE_MAX_TEXT + 4096u))

/* A fence longer than any run of backticks in the text. */
static size_t fence_for(const char *text) {
    size_t longest = 2, run = 0;
    for (const char *c = text; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

static void add_file(struct buf *out, const char *name, const char *text) {
    size_t fence = fence_for(text), len = strlen(text);
    buf_addf(out, "\n\n`%s`:\n\n", name);
    for (size_t i = 0; i < fence; i++) {
        buf_addc(out, '`');
    }
    buf_addf(out, "\n%s%s", text, len && text[len - 1] != '\n' ? "\n" : "");
    for (size_t i = 0; i < fence; i++) {
        buf_addc(out, '`');
    }
}

char *test_case_prompt(const struct test_case *test) {
    struct buf out = BUF_INIT(MAX_PROMPT);
    buf_adds(&out, test->input);
    json_each_member(test->files, name, text) {
        add_file(&out, name, json_string_value(text));
    }
    return buf_detach(&out);
}

int test_case_write(const struct test_case *test, const struct root *root,
                    struct err *err) {
    json_each_member(test->files, name, text) {
        int rc = root_write(root, name, json_string_value(text), json_string_length(text),
                            0600, err);
        if (rc < 0) {
            return err_wrap(err, "%.200s", name);
        }
    }
    return 0;
}
