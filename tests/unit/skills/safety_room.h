#pragma once
/* safety_room: findings of the safety rules on a text. */
#include "base/json.h"
#include "skills/check/safety_text.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct bad {
    const char *code, *text;
};

static inline json_t *scan(const char *text) {
    json_t *findings = json_array();
    size_t left = SAFETY_SEARCHED;
    safety_text_check("SKILL.md", text, strlen(text), true, &left, findings);
    return findings;
}

static inline bool has(const json_t *findings, const char *code, const char *severity) {
    size_t i;
    const json_t *finding;
    json_array_foreach(findings, i, finding) {
        if (strcmp(json_get_string(finding, "code", ""), code) == 0 &&
            strcmp(json_get_string(finding, "severity", ""), severity) == 0) {
            return true;
        }
    }
    return false;
}
