/* A hostile SKILL.md: what is read stands within the text, what is wrong has a place, and
 * what is written says what was wanted. */
#include "skills/check/skill_check.h"
#include "skills/format/markdown.h"
#include "skills/format/tokens.h"

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

static void check_places(const struct skill_text *t) {
    check(t->yaml <= t->yaml_end && t->yaml_end <= t->len && t->body <= t->len);
    check(!t->frontmatter == (t->problem.line > 0));
    for (size_t i = 0; i < t->places.count; i++) {
        const struct yaml_pair *p = &t->places.pairs[i];
        check(t->yaml <= p->key_at && p->key_at <= p->key_end && p->key_end <= p->at &&
              p->at <= p->end && p->end <= t->yaml_end);
    }
    for (size_t i = 0; i < t->field_count; i++) {
        check(t->fields[i].line > 0 && t->fields[i].line < t->fields[i].end_line &&
              t->fields[i].column > 0);
    }
}

/* Changed as asked, and everything else as it was. */
static void check_written(const struct skill_text *t, const json_t *changes) {
    char *written = skill_text_write(t, changes, NULL);
    struct skill_text again;
    skill_text_read(&again, written, strlen(written));
    if (memchr(t->text, 0, t->len) == NULL) {
        json_t *wanted = t->frontmatter ? json_deep_copy(t->frontmatter) : json_object();
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)changes, key, value) {
            json_object_set(wanted, key, value);
        }
        check(again.frontmatter && json_equal(again.frontmatter, wanted));
        check(!again.repaired);
        json_decref(wanted);
    }
    skill_text_finish(&again);
    free(written);
}

static void check_findings(json_t *findings) {
    size_t i;
    json_t *f;
    check(json_array_size(findings) < 10000);
    json_array_foreach(findings, i, f) {
        check(json_get_integer(f, "line", 0) > 0 && *json_get_string(f, "code", ""));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct skill s = {0};
    skill_text_read(&s.text, (const char *)data, size);
    check_places(&s.text);
    json_t *changes = json_pack("{s:s, s:s}", "name", "a-b", "added", "x: y\nz");
    check_written(&s.text, changes);
    json_decref(changes);
    json_t *findings = json_array();
    spec_rules_check(&s, SKILL_CHECK_STRICT, findings);
    check_findings(findings);
    json_decref(findings);
    struct markdown m;
    markdown_read(&m, (const char *)data, size, 1);
    markdown_finish(&m);
    check(tokens_estimate((const char *)data, size) <= 3 * size + 1);
    skill_finish(&s);
    return 0;
}
