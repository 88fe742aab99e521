/* Makes a finding of a rule of the specification: its place, severity and fixes. */
#include "skills/check/spec_rules.h"

#include "base/buf.h"

#include <stdarg.h>

struct finding_span spec_span(const struct spec *s, size_t at, size_t end) {
    struct finding_span span;
    span.line = skill_text_line(s->text, at, &span.column);
    span.end_line = skill_text_line(s->text, end, &span.end_column);
    return span;
}

#include "skills/spec_rules_table.h"

/* Every reported code is in the table of docs/codes/skills.md. */
static const struct spec_rule *rule_of(const char *code) {
    const struct spec_rule *rule = spec_rules;
    while (rule->code && strcmp(rule->code, code) != 0) {
        rule++;
    }
    if (!rule->code) {
        abort();
    }
    return rule;
}

enum finding_severity spec_severity(const struct spec *s, const char *code) {
    const struct spec_rule *rule = rule_of(code);
    return s->mode == SKILL_CHECK_STRICT ? rule->strict : rule->lenient;
}

json_t *spec_add(const struct spec *s, const char *code, size_t at, size_t end,
                 const char *fmt, ...) {
    autofree char *message = NULL;
    va_list args;
    va_start(args, fmt);
    int rc = vasprintf(&message, fmt, args);
    va_end(args);
    struct finding_span span = spec_span(s, at, end);
    json_t *finding = finding_new("skill", code, spec_severity(s, code),
                                  rc < 0 ? code : message, s->file, &span);
    json_array_append_new(s->findings, finding);
    return finding;
}

const json_t *spec_value(const struct spec *s, const char *field) {
    return json_object_get(s->text->frontmatter, field);
}

/* Replace a pair's value; the new one is written as YAML, within {…} as JSON, which is
 * YAML there. */
static void spec_fix_value(const struct spec *s, json_t *finding, const char *title,
                           const struct yaml_pair *p, const json_t *value) {
    autobuf text = BUF_INIT(64u << 10);
    if (s->text->places.flow) {
        buf_addc(&text, ' ');
        json_write(&text, value);
    } else {
        yaml_write_value(&text, value, 2, "\n");
    }
    bool blank_before = p->at > 0 && s->text->text[p->at - 1] == ' ';
    struct finding_span span = spec_span(s, p->at, p->end);
    finding_add_fix(finding, title, s->file, &span, text.data + blank_before);
}

void spec_fix_string(const struct spec *s, json_t *finding, const char *title,
                     const struct yaml_pair *p, const char *value) {
    autojson *string = json_string(value);
    spec_fix_value(s, finding, title, p, string);
}

void spec_fix_remove(const struct spec *s, json_t *finding, const char *title,
                     const struct yaml_pair *p) {
    if (s->text->places.flow) {
        return;
    }
    const struct lines *lines = &s->text->lines;
    size_t last = p->end > p->key_end ? p->end - 1 : p->key_end;
    size_t first = lines_at(lines, p->key_at), behind = lines_at(lines, last) + 1;
    size_t end = behind < lines->count ? lines->starts[behind] : s->text->len;
    struct finding_span span = spec_span(s, lines->starts[first], end);
    finding_add_fix(finding, title, s->file, &span, "");
}

void spec_fix_insert(const struct spec *s, json_t *finding, const char *title,
                     const char *text) {
    struct finding_span span = spec_span(s, s->text->yaml, s->text->yaml);
    if (!s->text->places.flow) {
        finding_add_fix(finding, title, s->file, &span, text);
    }
}

bool spec_is_scalar(const json_t *value) {
    return json_is_number(value) || json_is_boolean(value);
}

void spec_fix_quotes(const struct spec *s, json_t *finding, const struct yaml_pair *p,
                     const json_t *value) {
    if (spec_is_scalar(value) && p->end - p->at < 100) {
        autofree char *text = xstrndup(s->text->text + p->at, p->end - p->at);
        spec_fix_string(s, finding, "Put the value in quotes", p, text);
    }
}
