/* Rules of the specification on links and on paths that pages mention. */
#include "base/find.h"
#include "skills/check/spec_rules.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "skills/format/markdown.h"

#define MAX_FILE (1u << 20) /* of a Markdown file that is followed */
#define MAX_FOLLOWED 64     /* Markdown files */
#define MAX_FINDINGS 200    /* about links of one skill */
#define MAX_MENTION 200     /* bytes of a path in running text */

/* Everything that was read: for what is mentioned where. */
struct skill_links {
    const struct spec *spec;
    struct buf texts; /* of all Markdown files that were read, one after the other */
    bool *linked;     /* per file of the skill: SKILL.md links to it or names it */
    json_t *missing;  /* paths that were said to be missing: {path: true} */
    size_t findings, followed;
};

/* One text that holds links. */
struct page {
    const char *path; /* within the skill */
    const char *text;
    size_t len;
    struct lines lines;
    bool top; /* SKILL.md itself */
};

/* --- findings in any page --- */

static struct finding_span span_of(const struct page *p, size_t at, size_t len) {
    size_t line = lines_at(&p->lines, at);
    int column = (int)(at - p->lines.starts[line]) + 1;
    return (struct finding_span){(int)line + 1, column, (int)line + 1, column + (int)len};
}

static void add(struct skill_links *l, const struct page *p, const char *code,
                enum finding_severity severity, struct finding_span span,
                const char *message) {
    if (l->findings++ < MAX_FINDINGS) {
        json_array_append_new(l->spec->findings, finding_new("skill", code, severity,
                                                             message, p->path, &span));
    }
}

/* --- targets --- */

static bool is_remote(const char *url) {
    size_t n = 0;
    while (isalnum((unsigned char)url[n]) || (n && strchr("+-.", url[n]) && url[n])) {
        n++;
    }
    return *url == '#' || *url == '\0' || strncmp(url, "//", 2) == 0 ||
           (n > 1 && url[n] == ':');
}

/* The path of a relative URL: without fragment and query, percent codes decoded. */
static char *path_of_url(const char *url) {
    size_t len = strcspn(url, "#?"), n = 0;
    char *path = xmalloc(len + 1);
    for (size_t i = 0; i < len; i++) {
        bool coded = url[i] == '%' && i + 2 < len &&
                     isxdigit((unsigned char)url[i + 1]) &&
                     isxdigit((unsigned char)url[i + 2]);
        char c =
            coded ? (char)(text_hex_digit(url[i + 1]) * 16 + text_hex_digit(url[i + 2]))
                  : url[i];
        i += coded ? 2 : 0;
        path[n++] = c ? c : '?';
    }
    path[n] = '\0';
    return path;
}

/* Normalised, relative to the skill's folder. */
static char *resolve(const struct page *p, const char *path) {
    const char *slash = strrchr(p->path, '/');
    autofree char *joined =
        slash ? xasprintf("%.*s/%s", (int)(slash - p->path), p->path, path)
              : xstrdup(path);
    return path_normalize(joined);
}

static bool is_folder(const struct skill *s, const char *path) {
    size_t len = strlen(path);
    return any_of(i, 0, s->file_count,
                  strncmp(s->files[i].path, path, len) == 0 &&
                      s->files[i].path[len] == '/') ||
           strcmp(path, ".") == 0;
}

static void mark_linked(struct skill_links *l, const char *path) {
    const struct skill_file *f = skill_find_file(l->spec->skill, path);
    if (f) {
        l->linked[f - l->spec->skill->files] = true;
    }
}

/* --- the links of a page --- */

/* cmark gives only a link's line; the URL is on it or near it. */
static size_t place_of(const struct page *p, const struct markdown_link *link,
                       size_t *ret_len) {
    size_t line = (size_t)link->line - 1, len = strlen(link->url);
    for (size_t i = line > 2 ? line - 2 : 0; i < line + 3 && i < p->lines.count; i++) {
        size_t at = p->lines.starts[i], end = lines_end(&p->lines, p->text, i);
        const char *found = memmem(p->text + at, end - at, link->url, len);
        if (found) {
            *ret_len = len;
            return (size_t)(found - p->text);
        }
    }
    *ret_len = 0;
    return p->lines.starts[line < p->lines.count ? line : p->lines.count - 1];
}

/* A link's place is only searched for a report. */
static void add_link(struct skill_links *l, const struct page *p, const char *code,
                     const struct markdown_link *link, const char *message) {
    size_t len;
    if (l->findings < MAX_FINDINGS) {
        size_t at = place_of(p, link, &len);
        add(l, p, code, spec_severity(l->spec, code), span_of(p, at, len), message);
    }
}

static void check_deep(struct skill_links *l, const struct page *p, const char *path,
                       const struct markdown_link *link) {
    const struct skill *s = l->spec->skill;
    const struct skill_file *f = skill_find_file(s, path);
    if (!p->top && f && !l->linked[f - s->files] && strcmp(path, l->spec->file) != 0) {
        autofree char *message =
            xasprintf("\"%.120s\" is reached only through this file; mention it in "
                      "SKILL.md, so that it is one step away.",
                      path);
        add_link(l, p, "reference_too_deep", link, message);
        mark_linked(l, path);
    }
}

static void check_target(struct skill_links *l, const struct page *p, const char *path,
                         const struct markdown_link *link) {
    const struct skill *s = l->spec->skill;
    if (path_leads_out(path)) {
        autofree char *message =
            xasprintf("\"%.120s\" leads out of the skill's folder; whoever installs the "
                      "skill will not have it.",
                      path);
        add_link(l, p, "link_outside", link, message);
    } else if (!s->folder) {
        return;
    } else if (!skill_find_file(s, path) && !is_folder(s, path)) {
        autofree char *message =
            xasprintf("\"%.120s\" is not there; add the file or correct the link.", path);
        json_object_set_new(l->missing, path, json_true());
        add_link(l, p, "link_missing", link, message);
    } else {
        check_deep(l, p, path, link);
    }
}

static void check_link(struct skill_links *l, const struct page *p,
                       const struct markdown_link *link) {
    if (is_remote(link->url) || strpbrk(link->url, "{}$<>*")) {
        return; /* elsewhere, or a pattern */
    }
    autofree char *given = path_of_url(link->url);
    if (!*given) {
        return;
    }
    autofree char *path = resolve(p, given);
    check_target(l, p, path, link);
    if (p->top) {
        mark_linked(l, path);
    }
}

/* --- paths in running text and code --- */

static bool is_path_byte(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '/';
}

/* Length of a path with an extension at `s`, as in "scripts/run.py"; 0: none. */
static size_t mention_length(const char *s, size_t len) {
    size_t n = 0;
    while (n < len && n < MAX_MENTION && is_path_byte(s[n])) {
        n++;
    }
    if (n < len && strchr("<{*$[", s[n]) && s[n]) {
        return 0; /* a pattern, no file */
    }
    while (n && (s[n - 1] == '.' || s[n - 1] == '/' || s[n - 1] == '-')) {
        n--;
    }
    const char *slash = memrchr(s, '/', n);
    const char *dot = memrchr(s, '.', n);
    return slash && dot && dot > slash + 1 && dot + 1 < s + n ? n : 0;
}

/* "scripts/build.ts(20,3): error", "scripts/run.py:41:": a compiler speaks of the user's own file. */
static bool is_compilers(const struct page *p, size_t end) {
    return end + 1 < p->len && strchr("(:", p->text[end]) && isdigit((unsigned char)p->text[end + 1]);
}

/* A missing file is reported once, however often it is named. */
static void check_mention(struct skill_links *l, const struct page *p, size_t at,
                          size_t len) {
    const struct skill *s = l->spec->skill;
    autofree char *given = xstrndup(p->text + at, len);
    autofree char *path = path_normalize(given);
    autofree char *near = resolve(p, given);
    if (skill_find_file(s, path) || skill_find_file(s, near)) {
        mark_linked(l, skill_find_file(s, path) ? path : near);
    } else if (!path_leads_out(path) && !is_folder(s, path) &&
               !json_object_get(l->missing, path)) {
        json_object_set_new(l->missing, path, json_true());
        if (is_compilers(p, at + len)) {
            return;
        }
        autofree char *message =
            xasprintf("\"%.120s\" is mentioned but is not there; add the file or correct "
                      "the path.",
                      path);
        /* less severe by one step than for a link */
        add(l, p, "link_missing", spec_severity(l->spec, "link_missing") + 1,
            span_of(p, at, len), message);
    }
}

/* The three folders of the specification; other paths may be anybody's. A link's URL was
 * looked at already. */
static void check_mentions(struct skill_links *l, const struct page *p) {
    static const char *const folders[] = {"scripts/", "references/", "assets/"};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        const char *at = p->text;
        size_t n = strlen(folders[i]);
        while ((at = memmem(at, p->len - (size_t)(at - p->text), folders[i], n))) {
            size_t offset = (size_t)(at - p->text);
            char before = offset ? at[-1] : ' ';
            bool dotted = before == '/' && offset > 1 && at[-2] == '.' &&
                          (offset == 2 || !is_path_byte(at[-3]));
            size_t len = mention_length(at, p->len - offset);
            if (len && before != '(' && (!is_path_byte(before) || dotted)) {
                check_mention(l, p, offset, len);
            }
            at += n;
        }
    }
}

/* --- pages --- */

static void read_page(struct skill_links *l, struct page *p, size_t body, int body_line) {
    struct markdown m;
    buf_add(&l->texts, p->text, p->len);
    lines_init(&p->lines, p->text, p->len);
    markdown_read(&m, p->text + body, p->len - body, body_line);
    for (size_t i = 0; i < m.link_count; i++) {
        check_link(l, p, &m.links[i]);
    }
    markdown_finish(&m);
}

static bool is_markdown(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".md") == 0 || strcasecmp(dot, ".markdown") == 0);
}

static void follow(struct skill_links *l, const struct skill_file *file) {
    autobuf text = BUF_INIT(MAX_FILE);
    if (l->followed >= MAX_FOLLOWED ||
        skill_read_file(l->spec->skill->folder, file->path, &text, NULL) < 0) {
        return;
    }
    l->followed++;
    struct page p = {.path = file->path, .text = text.data, .len = text.len};
    read_page(l, &p, 0, 1);
    lines_finish(&p.lines);
}

/* Files that SKILL.md points at, then those that these point at. */
static void follow_all(struct skill_links *l) {
    const struct skill *s = l->spec->skill;
    autofree bool *seen = xcalloc(s->file_count + 1, sizeof *seen);
    bool more = true;
    while (more && l->followed < MAX_FOLLOWED) {
        more = false;
        for (size_t i = 0; i < s->file_count; i++) {
            const char *path = s->files[i].path;
            if (l->linked[i] && !seen[i] && is_markdown(path) &&
                strcmp(path, l->spec->file) != 0) {
                seen[i] = more = true;
                follow(l, &s->files[i]);
            }
        }
    }
}

/* --- files that nothing mentions --- */

/* Files that by custom are not meant for the agent. */
static bool is_for_people(const char *path) {
    static const char *const starts[] = {
        "evals/", "tests/",    "skill_meta.json", "LICENSE", "LICENCE", "NOTICE",
        "README", "CHANGELOG", "manifest.txt",    ".",       "agents/"};
    return any_of(i, 0, ARRAY_LEN(starts),
                  strncmp(path, starts[i], strlen(starts[i])) == 0);
}

static bool is_named(const struct skill_links *l, const char *path) {
    const char *name = path_basename(path);
    if (strcasestr(l->texts.data, name)) {
        return true; /* "REFERENCE.md" is understood where it is called reference.md */
    }
    const char *slash = strchr(path, '/');
    autofree char *top = xstrndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    return slash && memmem(l->texts.data, l->texts.len, top, strlen(top)) &&
           strchr(slash + 1, '/');
}

static void check_files(struct skill_links *l) {
    const struct skill *s = l->spec->skill;
    for (size_t i = 0; i < s->file_count; i++) {
        const char *path = s->files[i].path;
        if (l->linked[i] || strcmp(path, l->spec->file) == 0 || is_for_people(path) ||
            l->findings >= MAX_FINDINGS || is_named(l, path)) {
            continue;
        }
        add(l, &(struct page){.path = path}, "file_not_mentioned",
            spec_severity(l->spec, "file_not_mentioned"),
            (struct finding_span){.line = 1},
            "Nothing in SKILL.md or the files it points at mentions this file; an agent "
            "will not find it.");
    }
}

void spec_links_check(const struct spec *s) {
    struct skill_links l = {.spec = s,
                            .texts = BUF_INIT(SKILL_MAX_BYTES),
                            .linked = xcalloc(s->skill->file_count + 1, sizeof(bool)),
                            .missing = json_object()};
    struct page top = {
        .path = s->file, .text = s->text->text, .len = s->text->len, .top = true};
    read_page(&l, &top, s->text->body, s->text->body_line);
    if (s->skill->folder) {
        check_mentions(&l, &top);
        follow_all(&l);
        check_files(&l);
    }
    lines_finish(&top.lines);
    buf_finish(&l.texts);
    free(l.linked);
    json_decref(l.missing);
}
