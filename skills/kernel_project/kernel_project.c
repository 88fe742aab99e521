/* A kernel-builder project's folder: what build.toml names, and the Python package. */
#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/lines.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/kernel_project/build_toml.h"
#include "skills/kernel_project/build_toml_report.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MAX_FILES 2000
#define MAX_DEPTH 8
#define MAX_SOURCE (1u << 20)
#define MAX_SOURCES (8u << 20) /* all together */
#define MAX_FINDINGS 300

enum project_file_kind { PROJECT_REGULAR, PROJECT_LINK, PROJECT_FOLDER, PROJECT_OTHER };

struct project_file {
    char *path; /* relative to the project */
    enum project_file_kind kind;
    bool listed; /* by a src of build.toml */
    bool meant;  /* by a src that names a file which is not there */
};

struct kernel_project {
    struct root root;
    json_t *findings;
    struct project_file *files; /* sorted by path */
    size_t count, cap, read_bytes;
    bool cut; /* more was there than is looked at */
    char *build_text;
    struct toml_document *build;     /* NULL: no build.toml, or no TOML */
    struct build_toml_report report; /* for findings in build.toml */
};

/* --- files --- */

static void add_file(struct kernel_project *p, const char *path,
                     enum project_file_kind kind) {
    list_room(p->files, p->count, p->cap, 64);
    p->files[p->count++] = (struct project_file){.path = xstrdup(path), .kind = kind};
}

static bool is_skipped(const char *name) {
    static const char *const names[] = {"build", "result", "node_modules", "__pycache__",
                                        NULL};
    return strings_have(names, name) || name[0] == '.';
}

static void walk_folder(struct kernel_project *p, int fd, const char *path, int depth);

static void walk_entry(struct kernel_project *p, int dir, const char *above,
                       const char *name, int depth) {
    struct stat st;
    if (is_skipped(name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return;
    }
    autofree char *path = above[0] ? xasprintf("%s/%s", above, name) : xstrdup(name);
    enum project_file_kind kind = S_ISREG(st.st_mode)   ? PROJECT_REGULAR
                                  : S_ISLNK(st.st_mode) ? PROJECT_LINK
                                  : S_ISDIR(st.st_mode) ? PROJECT_FOLDER
                                                        : PROJECT_OTHER;
    add_file(p, path, kind);
    if (kind == PROJECT_FOLDER) {
        walk_folder(p, openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                    path, depth + 1);
    }
}

/* Takes fd over. */
static void walk_folder(struct kernel_project *p, int fd, const char *path, int depth) {
    autofd int folder = fd;
    autodir *entries = depth > MAX_DEPTH ? NULL : dir_entries(folder);
    p->cut |= !entries && folder >= 0;
    for (const struct dirent *entry; (entry = dir_next(entries));) {
        if (p->count >= MAX_FILES) {
            p->cut = true;
            break;
        }
        walk_entry(p, folder, path, entry->d_name, depth);
    }
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct project_file *)a)->path,
                  ((const struct project_file *)b)->path);
}

static struct project_file *project_file(const struct kernel_project *p,
                                         const char *path) {
    struct project_file key = {.path = path_normalize(path)};
    struct project_file *found =
        p->count ? bsearch(&key, p->files, p->count, sizeof *p->files, by_path) : NULL;
    free(key.path);
    return found;
}

/* path ends in one of the endings, given as ".cu .cuh ". */
static bool has_ending(const char *path, const char *endings) {
    const char *dot = strrchr(path_basename(path), '.');
    size_t n = dot ? strlen(dot) : 0;
    for (const char *at = dot ? strstr(endings, dot) : NULL; at;
         at = strstr(at + n, dot)) {
        if (at[n] == ' ') {
            return true;
        }
    }
    return false;
}

/* span NULL: about the file as a whole, shown at its top. Borrowed. */
__attribute__((format(printf, 6, 7))) static json_t *
add_finding(struct kernel_project *p, const char *path, const char *code,
            enum finding_severity severity, const struct finding_span *span,
            const char *fmt, ...) {
    char message[512];
    text_format(message, fmt);
    static const struct finding_span top = {1, 1, 1, 1};
    json_t *finding =
        finding_new("skill", code, severity, message, path, span ? span : &top);
    if (json_array_size(p->findings) >=
        MAX_FINDINGS) { /* the newest finding replaces the one before */
        json_array_remove(p->findings, MAX_FINDINGS - 1);
    }
    json_array_append_new(p->findings, finding);
    return finding;
}

/* Into text; false when it could not be read. */
static bool read_text(struct kernel_project *p, const struct project_file *file,
                      struct buf *text) {
    size_t room = MAX_SOURCES - p->read_bytes;
    *text = BUF_INIT(room < MAX_SOURCE ? room : MAX_SOURCE);
    if (root_read(&p->root, file->path, text, NULL) < 0) {
        add_finding(p, file->path, "kernel_project_unreadable", FINDING_WARNING, NULL,
                    "not read: too large, or not readable");
        return false;
    }
    p->read_bytes += text->len;
    return true;
}

/* --- what build.toml names --- */

static bool same_letters(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        bool slashes = strchr("/\\", *a) && strchr("/\\", *b);
        if (!slashes && tolower((unsigned char)*a) != tolower((unsigned char)*b)) {
            return false;
        }
    }
    return *a == *b;
}

/* The only file that no src names and whose path differs from this one merely in letter
 * case, slashes, folder or a typing mistake; or NULL. */
static struct project_file *meant_file(const struct kernel_project *p, const char *path) {
    struct project_file *in_folder = NULL, *near = NULL;
    size_t in_folders = 0;
    struct nearest_name slip = {.said = path, .limit = 2};
    list_each(i, f, p->files, p->count) {
        if (f->kind != PROJECT_REGULAR || f->listed || strpbrk(f->path, "\"\\")) {
            continue;
        }
        if (same_letters(f->path, path)) {
            return f;
        }
        if (same_letters(path_basename(f->path), path_basename(path))) {
            in_folder = f;
            in_folders++;
        }
        nearest_name_try(&slip, f->path);
        near = slip.best == f->path ? f : near;
    }
    return near ? near : in_folders == 1 ? in_folder : NULL;
}

static void fix_missing(struct kernel_project *p, json_t *finding,
                        const struct toml_node *item, const char *path) {
    struct project_file *meant = meant_file(p, path);
    if (meant) {
        meant->meant = true;
        autofree char *text = xasprintf("\"%s\"", meant->path);
        autofree char *title = xasprintf("Write %s", text);
        build_toml_fix_replace(&p->report, finding, title, item->start, item->end, text);
    }
}

static void missing_source(struct kernel_project *p, const struct toml_node *item,
                           const char *path, const char *what) {
    const struct project_file *file = project_file(p, path);
    if (!file) {
        json_t *finding = build_toml_add(&p->report, "kernel_project_source_missing",
                                         FINDING_ERROR, toml_value_range(item),
                                         "%s %.200s does not "
                                         "exist",
                                         what, path);
        if (strcmp(what, "file") == 0) {
            fix_missing(p, finding, item, path);
        }
    } else if (file->kind == PROJECT_LINK) {
        build_toml_add(&p->report, "kernel_project_source_link", FINDING_ERROR,
                       toml_value_range(item), "%.200s is a link; links are not followed",
                       path);
    } else {
        build_toml_add(&p->report, "kernel_project_source_missing", FINDING_ERROR,
                       toml_value_range(item), "%.200s is no %s", path, what);
    }
}

/* A path that stays inside (build_toml_check has judged the others). */
static const char *inner_path(const struct toml_node *item) {
    const char *path = json_string_value(item->value);
    return path && *path && !path_leads_out(path) ? path : NULL;
}

/* Notes the listed files that exist; `tell`: also reports those that do not. */
static void check_listed(struct kernel_project *p, const struct toml_node *list,
                         enum project_file_kind kind, bool tell) {
    for (size_t i = 0; list && list->kind == TOML_ARRAY && i < toml_count(list); i++) {
        const struct toml_node *item = toml_item(p->build, list, i);
        const char *path = inner_path(item);
        if (!path) {
            continue;
        }
        struct project_file *file = project_file(p, path);
        autofree char *normal = path_normalize(path);
        bool top = kind == PROJECT_FOLDER && strcmp(normal, ".") == 0;
        if (top || (file && file->kind == kind)) {
            if (file) {
                file->listed = true;
            }
        } else if (tell) {
            missing_source(p, item, path, kind == PROJECT_FOLDER ? "folder" : "file");
        }
    }
}

static const struct toml_node *node(const struct kernel_project *p, const char *pointer) {
    return toml_find(p->build, pointer);
}

static void check_all_listed(struct kernel_project *p, bool tell) {
    static const char *const frameworks[] = {"/torch", "/tvm-ffi"};
    for (size_t i = 0; i < ARRAY_LEN(frameworks); i++) {
        autofree char *src = xasprintf("%s/src", frameworks[i]);
        autofree char *include = xasprintf("%s/include", frameworks[i]);
        check_listed(p, node(p, src), PROJECT_REGULAR, tell);
        check_listed(p, node(p, include), PROJECT_FOLDER, tell);
    }
    const struct toml_node *all = node(p, "/kernel");
    json_each_member(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(p->build, all, name);
        if (kernel && json_is_object(kernel->children)) {
            check_listed(p, toml_member(p->build, kernel, "src"), PROJECT_REGULAR, tell);
            check_listed(p, toml_member(p->build, kernel, "include"), PROJECT_FOLDER,
                         tell);
        }
    }
}

static void check_named_files(struct kernel_project *p) {
    check_all_listed(p, false);
    check_all_listed(p, true);
}

/* The src list that an unlisted file most likely belongs to, or NULL. */
static const struct toml_node *list_for(const struct kernel_project *p,
                                        const char *path) {
    const struct toml_node *all = node(p, "/kernel"), *list = NULL;
    if (strncmp(path, "torch-ext/", 10) == 0) {
        return node(p, "/torch/src");
    }
    json_each_member(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(p->build, all, name);
        const struct toml_node *src = json_is_object(kernel->children)
                                          ? toml_member(p->build, kernel, "src")
                                          : NULL;
        if (src && list) {
            return NULL;
        }
        list = src ? src : list;
    }
    return list;
}

static void unlisted(struct kernel_project *p, const struct project_file *file) {
    const char *path = file->path;
    json_t *finding =
        add_finding(p, path, "kernel_project_source_unlisted", FINDING_WARNING, NULL,
                    "no src of build.toml names this file: it is not compiled");
    const struct toml_node *list = list_for(p, path);
    if (!file->meant && list && list->kind == TOML_ARRAY && toml_count(list) &&
        !strpbrk(path, "\"\\")) {
        size_t at = toml_item(p->build, list, toml_count(list) - 1)->end;
        autofree char *text = xasprintf(", \"%s\"", path);
        build_toml_fix_replace(&p->report, finding, "Add it to src", at, at, text);
    }
}

static void check_unlisted(struct kernel_project *p) {
    list_each(i, f, p->files, p->count) {
        bool aside =
            strncmp(f->path, "test", 4) == 0 || strncmp(f->path, "bench", 5) == 0 ||
            strncmp(f->path, "example", 7) == 0 || strncmp(f->path, "docs/", 5) == 0;
        if (f->kind == PROJECT_REGULAR && !f->listed && !aside &&
            has_ending(f->path, ".cu .cpp .cc .cxx ")) {
            unlisted(p, f);
        }
    }
}

/* --- the Python side --- */

static const char *extension_folder(const struct kernel_project *p) {
    return node(p, "/tvm-ffi")                             ? "tvm-ffi-ext"
           : node(p, "/torch") || node(p, "/torch-noarch") ? "torch-ext"
                                                           : NULL;
}

/* A package in the extension's folder under another name, or NULL. */
static const char *other_package(const struct kernel_project *p, const char *folder) {
    size_t n = strlen(folder);
    for (size_t i = 0; i < p->count; i++) {
        const char *path = p->files[i].path;
        const char *end = strstr(path, "/__init__.py");
        if (strncmp(path, folder, n) == 0 && path[n] == '/' && end && end > path + n &&
            !end[12] && !memchr(path + n + 1, '/', (size_t)(end - path) - n - 1)) {
            return path;
        }
    }
    return NULL;
}

/* Whether the text names _ops; tells of a namespace that is written out. */
static bool check_python_text(struct kernel_project *p, const char *path,
                              const struct buf *text) {
    const char *fixed = strstr(text->data, "torch.ops.");
    if (fixed) {
        struct lines lines;
        lines_init(&lines, text->data, text->len);
        struct finding_span span;
        span.end_line = span.line =
            lines_place(&lines, (size_t)(fixed - text->data), &span.column);
        span.end_column = span.column + (int)strlen("torch.ops.");
        add_finding(p, path, "kernel_project_fixed_namespace", FINDING_WARNING, &span,
                    "the operators' namespace changes with every build: use "
                    "ops from \"from ._ops import ops\"");
        lines_finish(&lines);
    }
    return strstr(text->data, "_ops") != NULL;
}

static void check_python_files(struct kernel_project *p, const char *package) {
    size_t n = strlen(package);
    bool uses_ops = false;
    list_each(i, f, p->files, p->count) {
        if (f->kind == PROJECT_REGULAR && strncmp(f->path, package, n) == 0 &&
            f->path[n] == '/' && has_ending(f->path, ".py ")) {
            autobuf text;
            uses_ops |= read_text(p, f, &text) && check_python_text(p, f->path, &text);
        }
    }
    if (!uses_ops && node(p, "/torch/src")) {
        autofree char *init = xasprintf("%s/__init__.py", package);
        add_finding(p, init, "kernel_project_ops_unused", FINDING_WARNING, NULL,
                    "nothing imports _ops: reach the operators with \"from ._ops import "
                    "ops\"");
    }
}

static void check_package(struct kernel_project *p) {
    const struct toml_node *name = node(p, "/general/name");
    const char *folder = extension_folder(p);
    if (!name || name->kind != TOML_STRING || !folder) {
        return;
    }
    autofree char *python = xstrdup(json_string_value(name->value));
    for (char *s = python; *s; s++) {
        *s = *s == '-' ? '_' : *s;
    }
    autofree char *package = xasprintf("%s/%s", folder, python);
    autofree char *init = xasprintf("%s/__init__.py", package);
    const struct project_file *file = project_file(p, init);
    if (file && file->kind == PROJECT_REGULAR) {
        check_python_files(p, package);
        return;
    }
    const char *other = other_package(p, folder);
    build_toml_add(&p->report, "kernel_project_package_missing", FINDING_ERROR,
                   toml_value_range(name), "the package %.200s does not exist%s%.200s%s",
                   init, other ? " (" : "", other ? other : "",
                   other ? " is: name and package must agree)" : "");
}

static void check_surroundings(struct kernel_project *p) {
    bool tests = false;
    for (size_t i = 0; i < p->count; i++) {
        const char *path = p->files[i].path;
        tests |= strncmp(path, "tests/", 6) == 0 && has_ending(path, ".py ");
    }
    if (!tests) {
        add_finding(p, "build.toml", "kernel_project_tests_missing", FINDING_INFO, NULL,
                    "no tests: put test_*.py into tests/");
    }
    if (project_file(p, "setup.py")) {
        add_finding(p, "setup.py", "kernel_project_setup_py", FINDING_WARNING, NULL,
                    "kernel-builder writes the build files itself from build.toml");
    }
    if (p->cut) {
        add_finding(p, "build.toml", "kernel_project_too_large", FINDING_WARNING, NULL,
                    "only %d files and %d levels were checked", MAX_FILES, MAX_DEPTH);
    }
}

/* --- the whole --- */

static bool read_build(struct kernel_project *p) {
    autobuf text = BUF_INIT(257u << 10);
    struct err err = {0};
    const struct project_file *file = project_file(p, "build.toml");
    if (!file || file->kind != PROJECT_REGULAR ||
        root_read(&p->root, "build.toml", &text, &err) < 0) {
        add_finding(p, "build.toml", "kernel_project_build_toml_missing", FINDING_ERROR,
                    NULL, "%s",
                    !file        ? "there is no build.toml"
                    : err.msg[0] ? "build.toml can't be read"
                                 : "build.toml is not a regular file");
        return false;
    }
    struct toml_error error;
    size_t len = text.len;
    build_toml_check("build.toml", text.data, len, 1, p->findings);
    p->build_text = buf_detach(&text);
    p->build = toml_parse(p->build_text, len, &error);
    p->report = (struct build_toml_report){.file = "build.toml",
                                           .text = p->build_text,
                                           .len = len,
                                           .first_line = 1,
                                           .doc = p->build,
                                           .edition = BUILD_TOML_5,
                                           .findings = p->findings};
    return p->build && !build_toml_is_foreign(p->build);
}

static void project_finish(struct kernel_project *p) {
    for (size_t i = 0; i < p->count; i++) {
        free(p->files[i].path);
    }
    free(p->files);
    free(p->build_text);
    toml_free(p->build);
    root_close(&p->root);
}

void kernel_project_check(const char *folder, json_t *findings) {
    struct kernel_project p = {.findings = findings};
    struct err err = {0};
    if (root_open(&p.root, folder, &err) < 0) {
        add_finding(&p, "build.toml", "kernel_project_unreadable", FINDING_ERROR, NULL,
                    "the folder can't be opened");
        return;
    }
    walk_folder(&p, fcntl(p.root.fd, F_DUPFD_CLOEXEC, 3), "", 0);
    if (p.count) {
        qsort(p.files, p.count, sizeof *p.files, by_path);
    }
    if (read_build(&p)) {
        check_named_files(&p);
        check_unlisted(&p);
        check_package(&p);
        check_surroundings(&p);
    }
    project_finish(&p);
}
