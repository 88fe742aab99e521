#pragma once
/* spec_rules: the rules of the specification; shared by spec_rules.c, spec_fields.c and
 * spec_links.c. docs/architecture/skills.md lists every rule. */
#include "protocol/finding.h"
#include "skills/skill_check.h"

struct spec {
    const struct skill *skill;
    const struct skill_text *text;
    enum skill_check_mode mode;
    const char *file;   /* what findings call the text: "SKILL.md" */
    const char *folder; /* name of the skill's folder, or NULL */
    json_t *findings;
};

/* A rule's severity when reading what others wrote, and when writing. */
struct spec_rule {
    const char *code;
    enum finding_severity lenient, strict;
};

/* Adds the finding; borrowed, for related places and fixes. The span is in bytes of the
 * text. */
json_t *spec_add(const struct spec *s, const struct spec_rule *rule, size_t at,
                 size_t end, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
struct finding_span spec_span(const struct spec *s, size_t at, size_t end);

void spec_fields_check(const struct spec *s);
void spec_links_check(const struct spec *s);
