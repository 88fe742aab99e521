/* SKILL.md and build.toml as an editor shows them. */
#include "base/buf.h"
#include "base/file.h"
#include "base/work.h"
#include "protocol/finding.h"
#include "skills/check/skill_check.h"
#include "skills/format/frontmatter_editor.h"
#include "skills/format/markdown.h"
#include "skills/format/tokens.h"
#include "skills/kernel_project/build_toml.h"
#include "skills/skill_operations.h"

#include <sys/stat.h>

#define MAX_FINDINGS 500

/* --- what is done on another thread; the document does not change meanwhile --- */

struct judging {
    struct document_check *check;
    void (*judge)(const struct document *d, enum document_depth depth, json_t *findings);
    json_t *findings;
};

static void judge_work(void *data) {
    struct judging *j = data;
    j->findings = json_array();
    j->judge(j->check->document, j->check->depth, j->findings);
    findings_tidy(j->findings, MAX_FINDINGS);
}

static void judge_done(void *data) {
    autofree struct judging *j = data;
    document_check_done(j->check, j->findings, NULL);
}

static void judge_start(struct document_check *check,
                        void (*judge)(const struct document *d, enum document_depth depth,
                                      json_t *findings)) {
    struct judging *j = xcalloc(1, sizeof *j);
    *j = (struct judging){.check = check, .judge = judge};
    work_start(check->origin->loop, judge_work, judge_done, j);
}

/* The findings about this file; those of its neighbours are skill/check's to tell. */
static json_t *own_findings(const json_t *all, const char *name) {
    json_t *own = json_array();
    json_each(all, i, finding) {
        const char *file = json_get_string(finding, "file", name);
        if (strcmp(file, name) == 0 ||
            (strcmp(file, "SKILL.md") == 0 && strcmp(name, "skill.md") == 0)) {
            json_array_append(own, finding);
        }
    }
    return own;
}

static char *folder_of(const struct document *d) {
    const char *base = d->path ? path_basename(d->path) : NULL;
    return base && base > d->path + 1 ? xstrndup(d->path, (size_t)(base - d->path) - 1)
                                      : NULL;
}

/* --- SKILL.md --- */

static void on_checked(struct skill_check *, json_t *result, void *data) {
    struct document_check *document = data;
    const char *path = document->document->path;
    document->kind_data = NULL;
    if (!result) {
        document_check_done(document, NULL, NULL);
        return;
    }
    json_t *own = own_findings(json_object_get(result, "findings"),
                               path ? path_basename(path) : "SKILL.md");
    if (document->depth == DOCUMENT_QUICK) {
        json_decref(take(result)); /* the last full result is more useful */
    }
    document_check_done(document, own, result);
}

static void cancel_check(struct document_check *check) {
    if (check->kind_data) {
        skill_check_cancel(check->kind_data);
    }
}

/* Checks the folder as if the editor's text were saved. A new file has no folder yet. */
static void check_skill(struct document_check *check) {
    struct stat st;
    const struct document *d = check->document;
    autofree char *folder = folder_of(d);
    bool there = folder && stat(d->path, &st) == 0;
    bool typing = check->depth == DOCUMENT_QUICK;
    check->cancel = cancel_check;
    check->kind_data = skill_check_start(
        check->origin, there ? folder : NULL,
        d->path ? path_basename(d->path) : "SKILL.md", d->text, d->len,
        typing ? SKILL_CHECK_TYPING : SKILL_CHECK_LENIENT, NULL, on_checked, check);
}

static char *hover_skill(const struct document *d, const json_t *, size_t offset,
                         size_t *start, size_t *end) {
    return frontmatter_hover(d->text, d->len, offset, start, end);
}

static json_t *complete_skill(const struct document *d, size_t offset) {
    autofree char *folder = folder_of(d);
    return frontmatter_completions(d->text, d->len, offset,
                                   folder ? path_basename(folder) : NULL);
}

/* --- SKILL.md: headings, and what it costs --- */

/* A section ends where the next heading of its level or above begins. */
static size_t section_end(const struct skill_text *t, const struct markdown *m,
                          size_t heading) {
    for (size_t i = heading + 1; i < m->heading_count; i++) {
        size_t line = (size_t)m->headings[i].line - 1;
        if (m->headings[i].level <= m->headings[heading].level && line < t->lines.count) {
            return t->lines.starts[line];
        }
    }
    return t->len;
}

static json_t *symbols_skill(const struct document *d) {
    struct skill_text t;
    struct markdown m;
    json_t *list = json_array();
    skill_text_read(&t, d->text, d->len);
    markdown_read(&m, t.text + t.body, t.len - t.body, t.body_line);
    for (size_t i = 0; i < m.heading_count; i++) {
        const struct markdown_heading *h = &m.headings[i];
        size_t line = (size_t)h->line - 1;
        if (h->line < 1 || line >= t.lines.count) {
            continue;
        }
        json_array_append_new(
            list, json_pack("{s:o,s:s,s:s,s:I,s:I,s:I,s:I}", "name",
                            json_clean_z(h->text), "detail", "", "symbol", "heading",
                            "start", (json_int_t)t.lines.starts[line], "end",
                            (json_int_t)section_end(&t, &m, i), "name_start",
                            (json_int_t)t.lines.starts[line], "name_end",
                            (json_int_t)lines_end(&t.lines, t.text, line)));
    }
    markdown_finish(&m);
    skill_text_finish(&t);
    return list;
}

static json_t *lenses_skill(const struct document *d, const json_t *) {
    struct skill_text t;
    skill_text_read(&t, d->text, d->len);
    size_t body = tokens_estimate(t.text + t.body, t.len - t.body);
    size_t always =
        (t.name ? tokens_estimate(t.name, strlen(t.name)) : 0) +
        (t.description ? tokens_estimate(t.description, strlen(t.description)) : 0);
    skill_text_finish(&t);
    return json_pack("[{s:i,s:i,s:o}]", "start", 0, "end", 0, "title",
                     json_sprintf("about %zu tokens when loaded, %zu in "
                                  "every session",
                                  body, always));
}

static const char *const skill_patterns[] = {"SKILL.md", "skill.md", NULL};
static const char *const skill_languages[] = {NULL};

const struct document_kind skill_document_kind = {
    .name = "skill",
    .patterns = skill_patterns,
    .languages = skill_languages,
    .check = check_skill,
    .hover = hover_skill,
    .lenses = lenses_skill,
    .symbols = symbols_skill,
    .completions = complete_skill,
};

/* --- build.toml --- */

/* The file on disk equals the editor's text, so the project as a whole can be checked. */
static bool is_saved(const struct document *d) {
    autobuf disk = BUF_INIT(SKILL_MAX_TEXT);
    return d->path && file_read(d->path, &disk, NULL) == 0 && disk.len == d->len &&
           memcmp(disk.data, d->text, d->len) == 0;
}

/* On open and save also what the rest of the project says about it. */
static void judge_toml(const struct document *d, enum document_depth depth,
                       json_t *findings) {
    autofree char *folder = folder_of(d);
    build_toml_check("build.toml", d->text, d->len, 1, findings);
    size_t all = json_array_size(findings);
    build_toml_drop_foreign(findings);
    if (json_array_size(findings) < all) {
        return;
    }
    if (depth == DOCUMENT_FULL && folder && is_saved(d)) {
        autojson *project = json_array();
        kernel_project_check(folder, project);
        autojson *own = own_findings(project, "build.toml");
        json_array_extend(findings, own);
    }
}

static void check_toml(struct document_check *check) {
    judge_start(check, judge_toml);
}

static char *hover_toml(const struct document *d, const json_t *, size_t offset,
                        size_t *start, size_t *end) {
    return build_toml_hover(d->text, d->len, offset, start, end);
}

static json_t *complete_toml(const struct document *d, size_t offset) {
    return build_toml_completions(d->text, d->len, offset);
}

/* The tables' headers. */
static json_t *symbols_toml(const struct document *d) {
    struct lines lines;
    json_t *list = json_array();
    lines_init(&lines, d->text, d->len);
    for (size_t i = 0; i < lines.count; i++) {
        size_t start = lines.starts[i], end = lines_end(&lines, d->text, i);
        size_t open = start;
        while (open < end && d->text[open] == '[') {
            open++;
        }
        size_t len = strcspn(d->text + open, "]\r\n");
        if (open > start && open + len < end && d->text[open + len] == ']') {
            json_array_append_new(list,
                                  json_pack("{s:o,s:s,s:s,s:I,s:I}", "name",
                                            json_clean(d->text + open, len), "detail", "",
                                            "symbol", "object", "start",
                                            (json_int_t)start, "end", (json_int_t)end));
        }
    }
    lines_finish(&lines);
    return list;
}

static const char *const toml_patterns[] = {"build.toml", NULL};
static const char *const toml_languages[] = {NULL};

const struct document_kind build_toml_document_kind = {
    .name = "build.toml",
    .patterns = toml_patterns,
    .languages = toml_languages,
    .check = check_toml,
    .hover = hover_toml,
    .symbols = symbols_toml,
    .completions = complete_toml,
};
