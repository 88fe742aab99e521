/* Comments that excuse findings, in texts made to cost time. */
#include "base/clock.h"
#include "base/mem.h"
#include "skills/check/check_report.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(check_report, suppressions_without_a_reason_are_told_with_their_line) {
    static const char text[] = "a\r\nb\rc\n<!-- upskilld-allow: some_code -->\n\n"
                               "<!-- upskilld-allow: other_code it is meant so -->"
                               "<!-- upskilld-allow: third_code -->";
    static const int lines[] = {4, 6};
    autojson *allowed = json_array(), *findings = json_array();
    check_read_allowances("a.md", text, strlen(text), allowed, findings);
    cr_expect(eq(sz, json_array_size(allowed), 1));
    cr_assert(eq(sz, json_array_size(findings), 2));
    for (size_t i = 0; i < 2; i++) {
        const json_t *finding = json_array_get(findings, i);
        cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), lines[i]));
    }
}

Test(check_report, many_suppressions_take_bounded_time) {
    static const char *const parts[] = {"upskilld-allow:", "<!--upskilld-allow:-->",
                                        "<!-- upskilld-allow: a_code "};
    size_t len = 4u << 20;
    autofree char *text = xmalloc(len + 1);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t unit = strlen(parts[i]);
        for (size_t k = 0; k < len; k++) {
            text[k] = parts[i][k % unit];
        }
        text[len] = '\0';
        autojson *allowed = json_array(), *findings = json_array();
        uint64_t began = clock_ms();
        check_read_allowances("a.md", text, len, allowed, findings);
        cr_expect(lt(u64, clock_ms() - began, 1000), "%s", parts[i]);
        cr_expect(json_array_size(findings) <= 1000);
    }
}
