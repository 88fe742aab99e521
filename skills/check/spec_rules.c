#include "skills/check/spec_rules.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "skills/format/frontmatter.h"
#include "skills/format/tokens.h"

#define MAX_BODY_LINES 500
#define MAX_BODY_TOKENS 5000
#define MAX_CATALOGUE_TOKENS 100

static size_t line_end(const struct spec *s, size_t at) {
    return lines_end(&s->text->lines, s->text->text, lines_at(&s->text->lines, at));
}

/* --- a frontmatter that cannot be read --- */

/* The place for the missing "---": before the first blank line or heading. */
static size_t unclosed_end(const struct spec *s) {
    const struct skill_text *t = s->text;
    for (size_t i = 1; i < t->lines.count; i++) {
        size_t at = t->lines.starts[i], end = lines_end(&t->lines, t->text, i);
        if (at == end || (end - at > 1 && memcmp(t->text + at, "# ", 2) == 0)) {
            return at;
        }
    }
    return t->len;
}

/* YAML's own end of a document, before where the frontmatter would be closed. */
static bool ends_in_dots(const struct spec *s, size_t *ret) {
    const struct skill_text *t = s->text;
    size_t until = unclosed_end(s);
    for (size_t i = 1; i < t->lines.count && t->lines.starts[i] < until; i++) {
        size_t at = t->lines.starts[i], end = lines_end(&t->lines, t->text, i);
        if (end - at == 3 && memcmp(t->text + at, "...", 3) == 0) {
            *ret = at;
            return true;
        }
    }
    return false;
}

/* Behind a byte order mark, if there is one. */
static void insert_frontmatter(const struct spec *s, json_t *finding) {
    struct finding_span span = spec_span(s, s->text->body, s->text->body);
    autobuf text = BUF_INIT(1024);
    autojson *name = json_clean_z(s->folder);
    buf_adds(&text, "---\nname:");
    yaml_write_value(&text, name, 2, "\n");
    buf_adds(&text, "\ndescription:\n---\n\n");
    finding_add_fix(finding, "Insert a frontmatter", s->file, &span, text.data);
}

/* Both lines, or both fences. */
static void fix_almost(const struct spec *s, json_t *finding,
                       const struct frontmatter_almost *almost) {
    const char *text = almost->fenced ? "" : "---\n";
    struct finding_span first = spec_span(s, almost->first, almost->first_end);
    struct finding_span last = spec_span(s, almost->last, almost->last_end);
    finding_add_fix(finding, almost->fenced ? "Remove the fences" : "Write \"---\"",
                    s->file, &first, text);
    if (almost->last_end > almost->last) {
        finding_add_edit(finding, s->file, &last, text);
    }
}

static void fix_missing(const struct spec *s, json_t *finding) {
    const struct skill_text *t = s->text;
    struct frontmatter f;
    struct frontmatter_almost almost;
    frontmatter_find(&f, t->text, t->len);
    if (frontmatter_almost(&almost, t->text, t->len)) {
        fix_almost(s, finding, &almost);
    } else if (f.late) {
        size_t blank = strspn(t->text + f.body, " \t\r\n\v\f");
        struct finding_span span = spec_span(s, f.body, f.body + blank);
        finding_add_fix(finding, "Remove the blank lines", s->file, &span, "");
    } else if (s->folder) {
        insert_frontmatter(s, finding);
    }
}

/* "name:x": the place is the first byte of the value. */
static bool is_glued(const struct spec *s, size_t at) {
    return at > s->text->yaml && at < s->text->len && s->text->text[at - 1] == ':' &&
           !strchr(" \t\r\n", s->text->text[at]);
}

/* "name = x" and a colon of another script. */
static void fix_colon(const struct spec *s, json_t *finding, size_t line) {
    static const char *const signs[] = {"=", "\xEF\xBC\x9A"};
    const char *text = s->text->text;
    size_t at = line + strspn(text + line, "abcdefghijklmnopqrstuvwxyz-_");
    size_t sign = at + strspn(text + at, " ");
    for (size_t i = 0; i < ARRAY_LEN(signs) && at > line; i++) {
        size_t n = strlen(signs[i]);
        if (strncmp(text + sign, signs[i], n) == 0) {
            size_t end = sign + n + strspn(text + sign + n, " ");
            struct finding_span span = spec_span(s, at, end);
            finding_add_fix(finding, "Write a colon and a space", s->file, &span, ": ");
            return;
        }
    }
}

static void fix_tab(const struct spec *s, json_t *finding, size_t at) {
    size_t line = s->text->lines.starts[lines_at(&s->text->lines, at)];
    size_t blanks = strspn(s->text->text + line, " \t");
    if (blanks && memchr(s->text->text + line, '\t', blanks) && at <= line + blanks) {
        struct finding_span span = spec_span(s, line, line + blanks);
        finding_add_fix(finding, "Indent with spaces", s->file, &span, "  ");
    }
}

static void fix_frontmatter(const struct spec *s, json_t *finding) {
    const char *rule = s->text->problem.rule;
    size_t dots;
    if (strcmp(rule, "frontmatter_unclosed") == 0 && ends_in_dots(s, &dots)) {
        struct finding_span span = spec_span(s, dots, dots + 3);
        finding_add_fix(finding, "Write \"---\" for \"...\"", s->file, &span, "---");
    } else if (strcmp(rule, "frontmatter_unclosed") == 0) {
        size_t at = unclosed_end(s);
        bool newline = at > 0 && at == s->text->len && s->text->text[at - 1] != '\n';
        struct finding_span span = spec_span(s, at, at);
        finding_add_fix(finding, "Close the frontmatter", s->file, &span,
                        newline ? "\n---\n" : "---\n");
    } else if (strcmp(rule, "frontmatter_missing") == 0) {
        fix_missing(s, finding);
    } else if (strcmp(rule, "yaml_invalid") == 0 && is_glued(s, s->text->problem.at)) {
        struct finding_span span = spec_span(s, s->text->problem.at, s->text->problem.at);
        finding_add_fix(finding, "Put a space there", s->file, &span, " ");
    } else if (strcmp(rule, "yaml_invalid") == 0) {
        fix_colon(s, finding, s->text->problem.at);
        fix_tab(s, finding, s->text->problem.at);
    }
}

static void check_frontmatter(const struct spec *s) {
    const struct skill_text *t = s->text;
    json_t *finding = spec_add(s, t->problem.rule, t->problem.at,
                               line_end(s, t->problem.at), "%s", t->problem.message);
    if (t->problem.first_line) {
        finding_add_related(finding, "first here", s->file, t->problem.first_line, 0);
    }
    fix_frontmatter(s, finding);
}

/* Quotes around every value that the lenient reading had to quote. */
static void add_quotes(const struct spec *s, json_t *finding) {
    const struct skill_text *t = s->text;
    struct frontmatter_repair repair;
    if (!frontmatter_repair(&repair, t->text + t->yaml, t->yaml_end - t->yaml)) {
        return;
    }
    for (size_t i = 0; i < repair.inserted_count; i++) {
        size_t at = t->yaml + frontmatter_repair_origin(&repair, repair.inserted[i]);
        struct finding_span span = spec_span(s, at, at);
        char text[2] = {repair.yaml[repair.inserted[i]], '\0'};
        if (i == 0) {
            finding_add_fix(finding, "Quote the value", s->file, &span, text);
        } else {
            finding_add_edit(finding, s->file, &span, text);
        }
    }
    frontmatter_repair_finish(&repair);
}

static void check_repair(const struct spec *s) {
    const struct skill_text *t = s->text;
    size_t at = t->lines.starts[t->repair.line - 1];
    json_t *finding = spec_add(s, "yaml_unquoted", at, line_end(s, at),
                               "YAML cannot read this value; many agents will skip the "
                               "skill. Put it in quotes.");
    add_quotes(s, finding);
}

/* --- the text as a whole --- */

static bool is_control(uint32_t cp) {
    return (cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r' && cp != '\f') ||
           (cp >= 0x7F && cp < 0xA0);
}

/* Reports the first byte of each forbidden kind after the frontmatter (errors within it
 * are reported there, and an encoding is reported once). */
static void check_bytes(const struct spec *s) {
    const struct skill_text *t = s->text;
    bool seen_bad = t->problem.line && strcmp(t->problem.rule, "not_utf8") == 0;
    bool seen_control = seen_bad && t->problem.at == 0; /* not a text at all */
    for (size_t i = t->body; i < t->len;) {
        uint32_t cp;
        size_t step = text_decode(t->text + i, t->len - i, &cp);
        if (!seen_bad && step == 1 && (unsigned char)t->text[i] >= 0x80) {
            spec_add(s, "not_utf8", i, i + 1,
                     "This byte is not UTF-8; save the file as UTF-8.");
            seen_bad = true;
        } else if (!seen_control && is_control(cp)) {
            spec_add(s, "control_character", i, i + step,
                     "A control character (U+%04X) does not belong in a text; remove it.",
                     (unsigned)cp);
            seen_control = true;
        }
        i += step;
    }
}

/* We skip it; the reference validator and agents that compare the first bytes do not. */
static void check_mark(const struct spec *s) {
    if (s->text->len >= 3 && memcmp(s->text->text, "\xEF\xBB\xBF", 3) == 0) {
        json_t *finding =
            spec_add(s, "byte_order_mark", 0, 3,
                     "There is a byte order mark before \"---\", so some agents find no "
                     "frontmatter; save the file as UTF-8 without it.");
        struct finding_span span = spec_span(s, 0, 3);
        finding_add_fix(finding, "Remove the byte order mark", s->file, &span, "");
    }
}

static size_t body_lines(const struct skill_text *t) {
    size_t last = t->len;
    while (last > t->body && strchr(" \t\r\n", t->text[last - 1]) && t->text[last - 1]) {
        last--;
    }
    return last > t->body
               ? lines_at(&t->lines, last - 1) - lines_at(&t->lines, t->body) + 1
               : 0;
}

static void check_body(const struct spec *s) {
    const struct skill_text *t = s->text;
    size_t lines = body_lines(t);
    size_t tokens = tokens_estimate(t->text + t->body, t->len - t->body);
    if (lines == 0) {
        spec_add(s, "body_empty", t->body, t->body,
                 "There are no instructions; write what an agent should do after the "
                 "frontmatter.");
    } else if (lines > MAX_BODY_LINES || tokens > MAX_BODY_TOKENS) {
        spec_add(s, "body_too_long", t->body, line_end(s, t->body),
                 "The instructions have %zu line%s and about %zu tokens; at most %d lines "
                 "and %d tokens are advised. Move details to references/.",
                 lines, lines == 1 ? "" : "s", tokens, MAX_BODY_LINES, MAX_BODY_TOKENS);
    }
}

/* The cost of this skill in every session of an agent, used or not. */
static void check_catalogue(const struct spec *s) {
    const struct skill_text *t = s->text;
    const struct yaml_pair *p = skill_text_pair(t, "description");
    if (!t->name || !t->description || !p) {
        return;
    }
    size_t tokens = tokens_estimate(t->name, strlen(t->name)) +
                    tokens_estimate(t->description, strlen(t->description));
    if (tokens > MAX_CATALOGUE_TOKENS) {
        spec_add(s, "catalogue_too_long", p->at, p->end,
                 "Name and description have about %zu tokens, which every session pays; "
                 "%d are advised. Shorten the description.",
                 tokens, MAX_CATALOGUE_TOKENS);
    }
}

static void check_meta(const struct spec *s) {
    autojson *meta = skill_meta_read(s->skill);
    json_each(json_object_get(meta, "problems"), i, problem) {
        autofree char *message = xasprintf("The saved tests cannot all be read: %s.",
                                           json_get_string(problem, "message", ""));
        json_array_append_new(s->findings,
                              finding_new("skill", "saved_tests_form", FINDING_WARNING,
                                          message, json_get_string(problem, "file", ""),
                                          &(struct finding_span){.line = 1}));
    }
}

static const char *text_name(const struct skill *skill) {
    return skill->folder && !skill_find_file(skill, "SKILL.md") &&
                   skill_find_file(skill, "skill.md")
               ? "skill.md"
               : "SKILL.md";
}

static void check_name_of_text(const struct spec *s) {
    if (strcmp(s->file, "skill.md") == 0) {
        spec_add(s, "text_name", 0, 0, "Agents look for SKILL.md; rename skill.md.");
    }
}

void spec_rules_check(const struct skill *skill, enum skill_check_mode mode,
                      json_t *findings) {
    struct spec s = {.skill = skill,
                     .text = &skill->text,
                     .mode = mode,
                     .file = text_name(skill),
                     .folder = skill->folder ? path_basename(skill->folder) : NULL,
                     .findings = findings};
    if (skill->problems) {
        json_array_extend(findings, skill->problems);
    }
    check_name_of_text(&s);
    if (skill->text.problem.line) {
        check_frontmatter(&s);
    } else if (skill->text.repaired) {
        check_repair(&s);
    }
    if (skill->text.frontmatter) {
        spec_name_check(&s);
        spec_fields_check(&s);
        check_catalogue(&s);
    }
    check_bytes(&s);
    if (!skill->text.problem.line) {
        check_mark(&s);
        check_body(&s);
        spec_links_check(&s);
    }
    if (skill->folder) {
        check_meta(&s);
    }
}
