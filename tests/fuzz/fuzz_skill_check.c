/* A hostile SKILL.md: every rule family ends, findings have a code and a message, and the
 * places they name lie within the text. */
#include "base/lines.h"
#include "skills/check/check_report.h"
#include "skills/check/cuda_block.h"
#include "skills/check/skill_check.h"
#include "skills/format/markdown.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void check_findings(const json_t *findings, size_t line_count) {
    size_t i;
    const json_t *finding;
    json_array_foreach(findings, i, finding) {
        check(json_get_string(finding, "code", NULL) != NULL);
        check(json_get_string(finding, "message", "")[0] != '\0');
        check(json_get_integer(finding, "line", 0) <= (json_int_t)line_count + 1);
        check(json_get_integer(finding, "column", 1) >= 1);
    }
}

static void read_blocks(const struct skill_text *t) {
    struct markdown m;
    markdown_read(&m, t->text + t->body, t->len - t->body, t->body_line);
    for (size_t i = 0; i < m.code_count; i++) {
        if (cuda_block_is(&m.codes[i])) {
            (void)cuda_block_fragment(m.codes[i].text);
        }
    }
    markdown_finish(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct skill skill = {0};
    struct lines lines;
    json_t *findings = json_array(), *allowed = json_array();
    skill_text_read(&skill.text, (const char *)data, size);
    lines_init(&lines, skill.text.text, skill.text.len);
    spec_rules_check(&skill, SKILL_CHECK_STRICT, findings);
    safety_rules_check(&skill, findings);
    hardware_facts_check("SKILL.md", skill.text.text, skill.text.len, 1, findings);
    check_read_allowances("SKILL.md", skill.text.text, skill.text.len, allowed, findings);
    check_findings(findings, lines.count);
    read_blocks(&skill.text);
    json_t *result = check_result(findings, allowed, NULL, SKILL_CHECK_LENIENT, 1, 1);
    check(json_array_size(json_object_get(result, "findings")) <= CHECK_MAX_FINDINGS);
    json_decref(result);
    json_decref(allowed);
    lines_finish(&lines);
    skill_finish(&skill);
    return 0;
}
