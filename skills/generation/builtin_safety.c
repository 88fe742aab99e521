/* Whether a piece of a built-in skill may stay, by the rules on safety. */
#include "base/find.h"
#include "skills/generation/builtin_skill.h"

#include "base/strings.h"
#include "skills/check/skill_check.h"

bool builtin_must_go(const json_t *finding) {
    static const char *const tolerated[] = {"elevated_rights", "unpinned_package", NULL};
    const char *severity = json_get_string(finding, "severity", "");
    bool known = strings_have(tolerated, json_get_string(finding, "code", ""));
    return strcmp(severity, "error") == 0 || (strcmp(severity, "info") != 0 && !known);
}

json_t *builtin_findings(const char *text) {
    struct skill skill = {0};
    json_t *findings = json_array();
    skill_text_read(&skill.text, text, strlen(text));
    safety_rules_check(&skill, findings);
    skill_finish(&skill);
    return findings;
}

bool builtin_is_safe(const char *text) {
    autofree char *whole = xasprintf("---\nname: a\ndescription: A.\n---\n\n%s\n", text);
    autojson *findings = builtin_findings(whole);
    return !json_any(findings, finding, builtin_must_go(finding));
}
