/* Rules of the specification on the frontmatter's fields but the name. */
#include "base/find.h"
#include "skills/check/spec_rules.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/pattern.h"
#include "base/strings.h"
#include "base/text.h"

#include "skills/spec_fields_table.h"

#include <pthread.h>

#define LEAST_JUDGED 20 /* bytes of a description; shorter ones are sketches */

/* --- description --- */

static bool is_only_space(const char *s) {
    return s[strspn(s, " \t\r\n")] == '\0';
}

static void miss_description(const struct spec *s, const struct yaml_pair *p) {
    spec_miss(s, "description_missing", "description", p,
              "The skill has no description; add one that says what it does and when to "
              "use it, or no agent will ever choose it.");
}

static struct pattern *when_words;
static pthread_once_t when_once = PTHREAD_ONCE_INIT;

static void make_when_words(void) {
    when_words = pattern_new(when_regex);
}

/* Whether the text is long enough to judge, seems to be English by its letters, and does
 * not say when to use the skill. */
static bool says_no_when(const char *text) {
    size_t len = strlen(text), foreign = 0;
    for (size_t i = 0; i < len; i++) {
        foreign += (unsigned char)text[i] >= 0x80;
    }
    pthread_once(&when_once, make_when_words);
    return len >= LEAST_JUDGED && foreign * 10 < len &&
           !pattern_is_in(when_words, text, len);
}

static void check_description_text(const struct spec *s, const struct yaml_pair *p,
                                   const char *text) {
    size_t points = text_code_points(text, strlen(text));
    if (points > SKILL_MAX_DESCRIPTION) {
        spec_add(s, "description_too_long", p->at, p->end,
                 "The description has %zu characters; at most %d are allowed. Move the "
                 "rest into the body.",
                 points, SKILL_MAX_DESCRIPTION);
    }
    if (strpbrk(text, "<>")) {
        spec_add(s, "description_angle_brackets", p->at, p->end,
                 "Angle brackets in a description can be taken for markup by the agents "
                 "that show it; write it without them.");
    }
    if (says_no_when(text)) {
        spec_add(s, "description_without_when", p->at, p->end,
                 "The description does not say when to use the skill, and agents choose "
                 "by it; add a sentence such as \"Use when …\".");
    }
}

static void check_description(const struct spec *s) {
    const json_t *value = spec_value(s, "description");
    const struct yaml_pair *p = skill_text_pair(s->text, "description");
    const char *text = json_string_value(value);
    if (!p || json_is_null(value) || (text && is_only_space(text))) {
        miss_description(s, p);
    } else if (!text) {
        spec_fix_quotes(s,
                        spec_add(s, "description_form", p->at, p->end,
                                 "The description must be a text."),
                        p, value);
    } else {
        check_description_text(s, p, text);
    }
}

/* --- the optional fields --- */

static void check_compatibility(const struct spec *s) {
    const json_t *value = spec_value(s, "compatibility");
    const struct yaml_pair *p = skill_text_pair(s->text, "compatibility");
    const char *text = json_string_value(value);
    if (!p) {
        return;
    }
    if (!text || is_only_space(text)) {
        json_t *f = spec_add(s, "compatibility_form", p->at, p->end,
                             "compatibility must be a text that says what the skill "
                             "needs; leave it out when it needs nothing.");
        spec_fix_quotes(s, f, p, value);
        if (!spec_is_scalar(value)) {
            spec_fix_remove(s, f, "Remove compatibility", p);
        }
    } else if (text_code_points(text, strlen(text)) > SKILL_MAX_COMPATIBILITY) {
        spec_add(s, "compatibility_too_long", p->at, p->end,
                 "compatibility has %zu characters; at most %d are allowed.",
                 text_code_points(text, strlen(text)), SKILL_MAX_COMPATIBILITY);
    }
}

static void check_license(const struct spec *s) {
    const json_t *value = spec_value(s, "license");
    const struct yaml_pair *p = skill_text_pair(s->text, "license");
    const char *text = json_string_value(value);
    if (p && (!text || is_only_space(text))) {
        json_t *f = spec_add(s, "license_form", p->at, p->end,
                             "license must be a text: a short name such as Apache-2.0, "
                             "or the name of a file in the skill.");
        spec_fix_quotes(s, f, p, value);
    }
}

/* The pairs of the mapping at `holder` follow it, one level deeper. */
static const struct yaml_pair *
member_pair(const struct spec *s, const struct yaml_pair *holder, const char *key) {
    const struct yaml_map *m = &s->text->places;
    size_t i = (size_t)(holder - m->pairs) + 1;
    for (; i < m->count && m->pairs[i].depth > holder->depth; i++) {
        if (m->pairs[i].depth == holder->depth + 1 && strcmp(m->pairs[i].key, key) == 0) {
            return &m->pairs[i];
        }
    }
    return NULL;
}

static void check_metadata_values(const struct spec *s, const struct yaml_pair *p,
                                  const json_t *value) {
    json_each_member(value, key, item) {
        const struct yaml_pair *member = member_pair(s, p, key);
        if (json_is_string(item) || !member) {
            continue;
        }
        json_t *f = spec_add(s, "metadata_not_strings", member->at, member->end,
                             "metadata.%.80s must be a text%s", key,
                             spec_is_scalar(item) ? "; put it in quotes." : ".");
        spec_fix_quotes(s, f, member, item);
    }
}

static void check_metadata(const struct spec *s) {
    const json_t *value = spec_value(s, "metadata");
    const struct yaml_pair *p = skill_text_pair(s->text, "metadata");
    if (p && !json_is_object(value)) {
        spec_add(s, "metadata_form", p->at, p->end,
                 "metadata must be a list of \"key: value\" lines.");
    } else if (p) {
        check_metadata_values(s, p, value);
    }
}

/* --- allowed-tools --- */

/* A comma outside parentheses separates as some agents have it, not the specification. */
static char *without_commas(const char *tools) {
    char *text = xstrdup(tools);
    size_t n = 0;
    int depth = 0;
    for (const char *c = tools; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        bool comma = *c == ',' && depth <= 0;
        if ((comma || *c == ' ') && depth <= 0) {
            if (n && text[n - 1] != ' ') {
                text[n++] = ' ';
            }
        } else {
            text[n++] = *c;
        }
    }
    while (n && text[n - 1] == ' ') {
        n--;
    }
    text[n] = '\0';
    return text;
}

static bool has_outer_comma(const char *tools) {
    int depth = 0;
    for (const char *c = tools; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c == ',' && depth <= 0) {
            return true;
        }
    }
    return false;
}

/* NULL when the list holds something else than texts. */
static char *joined(const json_t *list) {
    autobuf text = BUF_INIT(16u << 10);
    json_each(list, i, item) {
        if (!json_is_string(item)) {
            return NULL;
        }
        buf_addf(&text, "%s%s", i ? " " : "", json_string_value(item));
    }
    return text.len ? buf_detach(&text) : NULL;
}

static void check_allowed_tools(const struct spec *s) {
    const json_t *value = spec_value(s, "allowed-tools");
    const struct yaml_pair *p = skill_text_pair(s->text, "allowed-tools");
    const char *text = json_string_value(value);
    if (!p || (text && !has_outer_comma(text) && !is_only_space(text))) {
        return;
    }
    json_t *f = spec_add(s, "allowed_tools_form", p->at, p->end,
                         "allowed-tools must be one text with spaces between the tools, "
                         "such as \"Bash(git:*) Read\".");
    autofree char *tools = text ? without_commas(text) : joined(value);
    if (tools && *tools) {
        spec_fix_string(s, f, "Write it with spaces", p, tools);
    }
}

/* --- other fields --- */

/* Equal except for case and the kind of separator, or one edit away. */
static const char *meant_field(const char *name) {
    char plain[64];
    size_t len = strlen(name);
    struct nearest_name near = {.said = plain, .limit = 1};
    if (len < 4 || len >= sizeof plain) {
        return NULL;
    }
    for (size_t i = 0; i <= len; i++) {
        bool separator = name[i] == '_' || name[i] == ' ';
        plain[i] = separator ? '-' : (char)tolower((unsigned char)name[i]);
    }
    for (size_t i = 0; known_fields[i]; i++) {
        nearest_name_try(&near, known_fields[i]);
    }
    return near.best;
}

static const char *meant_of(const struct yaml_pair *p) {
    bool known = p->depth != 0 || strings_have(known_fields, p->key) ||
                 strings_have(agent_fields, p->key);
    return known ? NULL : meant_field(p->key);
}

/* The field under a name that is almost its own, where it is not there itself; or NULL.
 */
static const struct yaml_pair *spec_misspelt(const struct spec *s, const char *field) {
    list_each(i, p, s->text->places.pairs, s->text->places.count) {
        const char *meant = meant_of(p);
        if (meant && strcmp(meant, field) == 0) {
            return skill_text_pair(s->text, field) ? NULL : p;
        }
    }
    return NULL;
}

static void fix_key(const struct spec *s, json_t *finding, const struct yaml_pair *p,
                    const char *meant) {
    autofree char *title = xasprintf("Rename to \"%s\"", meant);
    struct finding_span span = spec_span(s, p->key_at, p->key_end);
    finding_add_fix(finding, title, s->file, &span, meant);
}

json_t *spec_miss(const struct spec *s, const char *code, const char *field,
                  const struct yaml_pair *p, const char *message) {
    const struct yaml_pair *misspelt = p ? NULL : spec_misspelt(s, field);
    size_t at = p ? p->at : s->text->yaml;
    if (!misspelt) {
        return spec_add(s, code, at, p ? p->end : at, "%s", message);
    }
    json_t *f = spec_add(s, code, misspelt->key_at, misspelt->key_end,
                         "The field must be called \"%s\"; agents do not see \"%.80s\".",
                         field, misspelt->key);
    fix_key(s, f, misspelt, field);
    return NULL;
}

/* Whether spec_miss has reported it. */
static bool is_said(const struct spec *s, const struct yaml_pair *p) {
    return spec_misspelt(s, "name") == p || spec_misspelt(s, "description") == p;
}

static void check_unknown(const struct spec *s, const struct yaml_pair *p) {
    bool agent = strings_have(agent_fields, p->key);
    const char *meant = meant_of(p);
    json_t *f;
    if (agent) {
        f = spec_add(s, "field_unknown", p->key_at, p->key_end,
                     "\"%.80s\" is an extension that only some agents read; the "
                     "specification does not have it.",
                     p->key);
    } else {
        f = spec_add(s, "field_unknown", p->key_at, p->key_end,
                     "The specification has no field \"%.80s\"%s%s%s.", p->key,
                     meant ? "; \"" : "", meant ? meant : "",
                     meant ? "\" may be meant"
                           : "; what is your own belongs in metadata");
    }
    if (meant && !skill_text_pair(s->text, meant)) {
        fix_key(s, f, p, meant);
    }
    autofree char *title = xasprintf("Remove \"%.80s\"", p->key);
    spec_fix_remove(s, f, title, p);
}

static void check_unknown_fields(const struct spec *s) {
    list_each(i, p, s->text->places.pairs, s->text->places.count) {
        if (p->depth == 0 && !is_said(s, p) && !strings_have(known_fields, p->key)) {
            check_unknown(s, p);
        }
    }
}

void spec_fields_check(const struct spec *s) {
    check_description(s);
    check_compatibility(s);
    check_license(s);
    check_metadata(s);
    check_allowed_tools(s);
    check_unknown_fields(s);
}
