/* Safety rules on a whole skill: allowed tools, its files, and the patterns in them. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/work.h"
#include "protocol/finding.h"
#include "skills/check/safety_text.h"
#include "skills/check/skill_check.h"

#include "skills/check_words_table.h"

static void add(json_t *findings, const char *code, enum finding_severity severity,
                const char *file, int line, const char *message) {
    json_array_append_new(findings, finding_new("skill", code, severity, message, file,
                                                &(struct finding_span){.line = line}));
}

static int field_line(const struct skill *s, const char *name) {
    const struct skill_field *field = skill_text_field(&s->text, name);
    return field ? field->line : 1;
}

/* "Bash" or "*" as a whole word of the list: no limit at all. */
static bool allows_everything(const char *tools) {
    for (const char *at = tools; *at;) {
        at += strspn(at, " ,\t\r\n");
        size_t len = strcspn(at, " ,\t\r\n");
        if ((len == 4 && strncasecmp(at, "bash", 4) == 0) || (len == 1 && *at == '*') ||
            (len == 7 && strncasecmp(at, "bash(*)", 7) == 0) ||
            (len == 9 && strncasecmp(at, "bash(*:*)", 9) == 0)) {
            return true;
        }
        at += len;
    }
    return false;
}

static bool field_allows_everything(const json_t *value) {
    if (json_is_string(value)) {
        return allows_everything(json_string_value(value));
    }
    return json_any(value, item,
                    json_is_string(item) && allows_everything(json_string_value(item)));
}

static void check_frontmatter(const struct skill *s, json_t *findings) {
    const json_t *front = s->text.frontmatter;
    if (json_object_get(front, "hooks")) {
        add(findings, "frontmatter_hooks", FINDING_ERROR, "SKILL.md",
            field_line(s, "hooks"),
            "hooks run commands before any model has read the skill");
    }
    if (field_allows_everything(json_object_get(front, "allowed-tools"))) {
        add(findings, "allowed_tools_unlimited", FINDING_WARNING, "SKILL.md",
            field_line(s, "allowed-tools"),
            "allows every command; name those it needs, like Bash(git:*)");
    }
}

/* --- files --- */

struct magic {
    const char *what;
    bool archive;
    size_t at, len;
    const char *bytes;
};
#include "skills/magics.h"

static const struct magic *magic_of(const char *bytes, size_t len) {
    for (size_t i = 0; magics[i].what; i++) {
        const struct magic *m = &magics[i];
        if (len >= m->at + m->len && memcmp(bytes + m->at, m->bytes, m->len) == 0) {
            return m;
        }
    }
    return NULL;
}

static void check_mode(const struct skill_file *f, json_t *findings, bool *scripts) {
    if (f->mode & (S_ISUID | S_ISGID)) {
        add(findings, "setuid_file", FINDING_ERROR, f->path, 1,
            "runs with its owner's rights (setuid or setgid)");
    }
    bool in_scripts = strncmp(f->path, "scripts/", 8) == 0;
    if (in_scripts && !*scripts) {
        *scripts = true;
        add(findings, "has_scripts", FINDING_WARNING, f->path, 1,
            "the skill contains programs; read them before you use it");
    } else if (!in_scripts && (f->mode & 0111)) {
        add(findings, "executable_file", FINDING_WARNING, f->path, 1,
            "is executable, and not in scripts/");
    }
}

/* A shell runs a script past a zero byte. */
static bool is_program(const struct skill_file *f, const struct buf *content) {
    return strings_end(program_endings, f->path) || (f->mode & 0111) ||
           strncmp(f->path, "scripts/", 8) == 0 ||
           (content->len >= 2 && memcmp(content->data, "#!", 2) == 0);
}

static void check_content(const struct skill_file *f, const struct buf *content,
                          size_t *left, json_t *findings) {
    const struct magic *m = magic_of(content->data, content->len);
    if (m) {
        autofree char *message = xasprintf("%s; nobody can read what it does", m->what);
        bool office = m->archive && strings_end(office_endings, f->path);
        add(findings, m->archive ? "nested_archive" : "executable_binary",
            office ? FINDING_WARNING : FINDING_ERROR, f->path, 1, message);
        return;
    }
    bool markdown = strings_end(markdown_endings, f->path);
    size_t head = content->len < 4096 ? content->len : 4096;
    if (markdown || is_program(f, content) || !memchr(content->data, '\0', head)) {
        safety_text_check(f->path, content->data, content->len, markdown, left, findings);
    }
}

/* SKILL.md, or skill.md if there is no SKILL.md. */
static bool is_skill_text(const struct skill *s, const char *path) {
    return strcmp(path, "SKILL.md") == 0 ||
           (strcmp(path, "skill.md") == 0 && !skill_find_file(s, "SKILL.md"));
}

static void check_files(const struct skill *s, size_t *left, json_t *findings) {
    struct root root;
    bool scripts = false;
    if (root_open(&root, s->folder, NULL) < 0) {
        return; /* whoever reads the folder reports this */
    }
    for (size_t i = 0; i < s->file_count && !work_is_stopped(); i++) {
        const struct skill_file *f = &s->files[i];
        struct err err = {0};
        autobuf content = BUF_INIT(SKILL_MAX_BYTES);
        check_mode(f, findings, &scripts);
        if (is_skill_text(s, f->path)) {
            continue;
        }
        if (root_read(&root, f->path, &content, &err) < 0) {
            add(findings, "file_unreadable", FINDING_WARNING, f->path, 1, err.msg);
        } else {
            check_content(f, &content, left, findings);
        }
    }
    root_close(&root);
}

void safety_rules_check_within(const struct skill *s, size_t *left, json_t *findings) {
    check_frontmatter(s, findings);
    safety_text_check("SKILL.md", s->text.text, s->text.len, true, left, findings);
    if (s->folder) {
        check_files(s, left, findings);
    }
}

void safety_rules_check(const struct skill *s, json_t *findings) {
    size_t left = SAFETY_SEARCHED;
    safety_rules_check_within(s, &left, findings);
}
