#pragma once
/* spec_rules: the rules of the specification; shared by spec_rules.c, spec_fields.c,
 * spec_name.c and spec_links.c. docs/codes/skills.md lists every rule. */
#include "protocol/finding.h"
#include "skills/check/skill_check.h"

struct spec {
    const struct skill *skill;
    const struct skill_text *text;
    enum skill_check_mode mode;
    const char *file;   /* the text's name in findings: "SKILL.md" */
    const char *folder; /* name of the skill's folder, or NULL */
    json_t *findings;
};

/* A row of the table of docs/codes/skills.md: the severity for others' skills, and for
 * our own. */
struct spec_rule {
    const char *code;
    enum finding_severity lenient, strict;
};
enum finding_severity spec_severity(const struct spec *s, const char *code);

/* Adds the finding of a rule and returns it (borrowed) for related places and fixes. The
 * span is in bytes of the text. */
json_t *spec_add(const struct spec *s, const char *code, size_t at, size_t end,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
struct finding_span spec_span(const struct spec *s, size_t at, size_t end);

/* --- fields and their fixes (spec_fixes.c) --- */

const json_t *spec_value(const struct spec *s, const char *field);
/* Fixes of a finding: give the field this text, delete the field, or insert lines before
 * all fields. */
void spec_fix_string(const struct spec *s, json_t *finding, const char *title,
                     const struct yaml_pair *p, const char *value);
void spec_fix_remove(const struct spec *s, json_t *finding, const char *title,
                     const struct yaml_pair *p);
void spec_fix_insert(const struct spec *s, json_t *finding, const char *title,
                     const char *text);
/* A required field is missing: returns the finding, or NULL if the field is there
 * misspelt, which is then reported with a fix. p: the pair without a value, or NULL. */
json_t *spec_miss(const struct spec *s, const char *code, const char *field,
                  const struct yaml_pair *p, const char *message);
bool spec_is_scalar(const json_t *value); /* a number or boolean */
/* A fix that adds quotes, which make one of these values the intended text. */
void spec_fix_quotes(const struct spec *s, json_t *finding, const struct yaml_pair *p,
                     const json_t *value);

void spec_fields_check(const struct spec *s);
void spec_name_check(const struct spec *s);
void spec_links_check(const struct spec *s);
