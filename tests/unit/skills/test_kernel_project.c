#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "skills/kernel_project/build_toml.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every defect is the good project (data/projects/good) with one edit. */
static const char *const paths[] = {
    "build.toml",         "torch-ext/torch_binding.cpp",      "torch-ext/torch_binding.h",
    "norm/norm.cu",       "torch-ext/fused_norm/__init__.py", "norm/reduce.cuh",
    "tests/test_norm.py",
};

struct project {
    char folder[40];
    struct root good, copy;
};

static void project_put(struct project *p, const char *path, const char *text) {
    cr_assert_eq(root_write(&p->copy, path, text, strlen(text), 0644, NULL), 0);
}

static void project_make(struct project *p) {
    strcpy(p->folder, "/tmp/kernel-project-XXXXXX");
    cr_assert_not_null(mkdtemp(p->folder));
    cr_assert(root_open(&p->good, TEST_DATA "/projects/good", NULL) == 0);
    cr_assert(root_open(&p->copy, p->folder, NULL) == 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        autobuf text = BUF_INIT(1 << 16);
        cr_assert(root_read(&p->good, paths[i], &text, NULL) == 0, "%s", paths[i]);
        project_put(p, paths[i], text.data);
    }
}

/* In `path` of the copy, the first `from` becomes `to`; from NULL: a new file `to`; to
 * NULL: the file is removed. */
static void project_edit(struct project *p, const char *path, const char *from,
                         const char *to) {
    if (!to) {
        cr_assert_eq(unlinkat(p->copy.fd, path, 0), 0, "%s", path);
        return;
    }
    if (!from) {
        project_put(p, path, to);
        return;
    }
    autobuf text = BUF_INIT(1 << 16);
    cr_assert(root_read(&p->copy, path, &text, NULL) == 0);
    char *at = strstr(text.data, from);
    cr_assert(at != NULL, "%s lacks %s", path, from);
    autofree char *after =
        xasprintf("%.*s%s%s", (int)(at - text.data), text.data, to, at + strlen(from));
    project_put(p, path, after);
}

static json_t *project_check(struct project *p) {
    json_t *findings = json_array();
    kernel_project_check(p->folder, findings);
    return findings;
}

static void project_remove(struct project *p) {
    root_close(&p->good);
    root_close(&p->copy);
    cr_assert_eq(dir_remove(p->folder, NULL), 0);
}

static const json_t *find(const json_t *findings, const char *code) {
    size_t i;
    json_t *f;
    json_array_foreach(findings, i, f) {
        if (strcmp(json_get_string(f, "code", ""), code) == 0) {
            return f;
        }
    }
    return NULL;
}

Test(kernel_project, a_right_project_has_no_finding) {
    struct project p;
    project_make(&p);
    autojson *findings = project_check(&p);
    autofree char *shown = json_dumps(findings, JSON_INDENT(1));
    cr_assert_eq(json_array_size(findings), 0, "%s", shown);
    project_remove(&p);
}

struct defect {
    const char *path, *from, *to; /* the edit */
    const char *code, *severity, *file;
    int line;        /* 1 for the file as a whole too */
    const char *fix; /* text that its first fix writes; NULL: none expected */
};

#define TOML "build.toml"
#define INIT "torch-ext/fused_norm/__init__.py"
#define SOURCE "norm/norm.cu"

static const struct defect defects[] = {
    {TOML, NULL, NULL, "kernel_project_build_toml_missing", "error", TOML, 1, NULL},
    {TOML, "name = ", "name ", "build_toml_syntax", "error", TOML, 2, NULL},
    {TOML, "\"norm/norm.cu\"", "\"norm/none.cu\"", "kernel_project_source_missing",
     "error", TOML, 19, "\"norm/norm.cu\""},
    {TOML, "\"norm/norm.cu\"", "\"Norm/NORM.cu\"", "kernel_project_source_missing",
     "error", TOML, 19, "\"norm/norm.cu\""},
    {TOML, "\"norm/norm.cu\"", "\"norm\\\\norm.cu\"", "kernel_project_source_missing",
     "error", TOML, 19, "\"norm/norm.cu\""},
    {TOML, "\"norm/norm.cu\"", "\"csrc/norm.cu\"", "kernel_project_source_missing",
     "error", TOML, 19, "\"norm/norm.cu\""},
    {TOML, "\"norm/norm.cu\"", "\"norm/norm.cu\", \"norm/norn.cu\"",
     "kernel_project_source_missing", "error", TOML, 19, NULL},
    {TOML, "\"norm/norm.cu\"", "\"softmax.cu\"", "kernel_project_source_missing", "error",
     TOML, 19, NULL},
    {TOML, "\"norm/norm.cu\"", "\"norm\"", "kernel_project_source_missing", "error", TOML,
     19, NULL},
    {TOML, "[\"norm\"]", "[\"inc\"]", "kernel_project_source_missing", "error", TOML, 17,
     NULL},
    {TOML, "\"norm/norm.cu\"", "\"../norm.cu\"", "build_toml_path", "error", TOML, 19,
     NULL},
    {TOML, "    \"norm/norm.cu\",\n", "", "kernel_project_source_unlisted", "warning",
     SOURCE, 1, ", \"norm/norm.cu\""},
    {"norm/more.cpp", NULL, "int more;\n", "kernel_project_source_unlisted", "warning",
     "norm/more.cpp", 1, ", \"norm/more.cpp\""},
    {TOML, "fused-norm", "fused-norms", "kernel_project_package_missing", "error", TOML,
     2, NULL},
    {INIT, NULL, NULL, "kernel_project_package_missing", "error", TOML, 2, NULL},
    {INIT, "from ._ops import ops", "", "kernel_project_ops_unused", "warning", INIT, 1,
     NULL},
    {INIT, "ops.rms_norm(", "torch.ops.fused_norm.rms_norm(",
     "kernel_project_fixed_namespace", "warning", INIT, 8, NULL},
    {"tests/test_norm.py", NULL, NULL, "kernel_project_tests_missing", "info", TOML, 1,
     NULL},
    {"setup.py", NULL, "", "kernel_project_setup_py", "warning", "setup.py", 1, NULL},
};

static const char *first_fix(const json_t *finding) {
    const json_t *fix = json_array_get(json_object_get(finding, "fixes"), 0);
    return json_get_string(json_array_get(json_object_get(fix, "edits"), 0), "text",
                           NULL);
}

Test(kernel_project, every_defect_has_its_finding_place_and_cure) {
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        const struct defect *d = &defects[i];
        struct project p;
        project_make(&p);
        project_edit(&p, d->path, d->from, d->to);
        autojson *findings = project_check(&p);
        autofree char *shown = json_dumps(findings, JSON_INDENT(1));
        const json_t *f = find(findings, d->code);
        cr_assert(f != NULL, "case %zu, %s: %s", i, d->code, shown);
        cr_assert_str_eq(json_get_string(f, "severity", ""), d->severity, "%zu: %s", i,
                         shown);
        cr_assert_str_eq(json_get_string(f, "file", ""), d->file, "%zu: %s", i, shown);
        cr_assert_eq(json_get_integer(f, "line", 0), d->line, "%zu: %s", i, shown);
        const char *fix = first_fix(f);
        bool cured = d->fix ? fix && strcmp(fix, d->fix) == 0 : fix == NULL;
        cr_assert(cured, "%zu: %s", i, shown);
        project_remove(&p);
    }
}

Test(kernel_project, links_devices_and_depth_are_refused_and_bounded) {
    struct project p;
    project_make(&p);
    cr_assert_eq(unlinkat(p.copy.fd, SOURCE, 0), 0);
    cr_assert_eq(symlinkat("/etc/passwd", p.copy.fd, SOURCE), 0);
    cr_assert_eq(unlinkat(p.copy.fd, "norm/reduce.cuh", 0), 0);
    cr_assert_eq(mkfifoat(p.copy.fd, "norm/reduce.cuh", 0600), 0);
    cr_assert_eq(symlinkat("..", p.copy.fd, "norm/loop"), 0);
    autofree char *deep = xstrdup("deep/a/b/c/d/e/f/g/h/i/j/k/l");
    cr_assert_eq(root_mkdir(&p.copy, deep, 0755, NULL), 0);
    autojson *findings = project_check(&p);
    cr_assert_not_null(find(findings, "kernel_project_source_link"));
    cr_assert_not_null(find(findings, "kernel_project_source_missing"));
    cr_assert_not_null(find(findings, "kernel_project_too_large"));
    project_remove(&p);
}

Test(kernel_project, a_folder_that_is_not_there_is_one_finding) {
    autojson *findings = json_array();
    kernel_project_check("/nowhere/at/all", findings);
    cr_assert_eq(json_array_size(findings), 1);
}
