/* grade_build: an answer's build.toml, and the files of its kernel-builder project. */
#include "base/err.h"
#include "base/file.h"
#include "skills/grading/grade_check.h"
#include "skills/kernel_project/build_toml.h"

/* --- build.toml --- */

/* A block that looks like a build.toml; with `any`, every TOML block. */
static bool is_toml(const struct markdown_code *block, void *any) {
    bool toml = strcmp(block->language, "toml") == 0;
    return any ? toml
               : (toml || !block->language[0]) &&
                     (strstr(block->text, "[general") || strstr(block->text, "[kernel."));
}

static const char *build_toml_of(struct answer *answer) {
    const struct answer_code *code = answer_code_of(answer);
    const char *named = answer_code_file(code, "build.toml");
    bool any = true;
    const struct markdown_code *block = answer_code_last(code, is_toml, NULL);
    block = block ? block : answer_code_last(code, is_toml, &any);
    return named ? named : block ? block->text : NULL;
}

/* One wished value; arrays and tables compare as JSON does. */
static void check_value(const struct toml_document *doc, const char *pointer,
                        const json_t *wanted, struct assertions *out) {
    const struct toml_node *node = doc ? toml_find(doc, pointer) : NULL;
    const json_t *value = node ? node->value : NULL;
    bool equal =
        value && json_equal((json_t *)(uintptr_t)value, (json_t *)(uintptr_t)wanted) == 1;
    autofree char *found =
        value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    autojson *expected = json_pack("{s:O}", pointer, wanted);
    assertion_add(out, "build_toml", equal ? GRADE_PASSED : GRADE_FAILED, expected,
                  found ? evidence(found, strlen(found)) : NULL, "%.200s %s", pointer,
                  equal   ? "has this value"
                  : value ? "has another value"
                          : "is not there");
}

void grade_build_toml(struct answer *answer, const struct test_case *, const char *check,
                      const json_t *expected, struct assertions *out) {
    const char *text = build_toml_of(answer);
    autojson *findings = json_array(), *valid = json_pack("{s:b}", "valid", 1);
    if (!text) {
        assertion_add(out, check, GRADE_FAILED, valid, NULL,
                      "the answer has no block with a build.toml");
    } else {
        build_toml_check("build.toml", text, strlen(text), 1, findings);
        json_t *error = evidence_of_findings(findings);
        assertion_add(out, check, error ? GRADE_FAILED : GRADE_PASSED, valid, error, "%s",
                      error ? "kernel-builder would refuse it" : "valid");
    }
    struct toml_error error;
    autoptr(toml_free) struct toml_document *doc =
        text ? toml_parse(text, strlen(text), &error) : NULL;
    json_each_member(json_object_get(expected, "values"), pointer, wanted) {
        check_value(doc, pointer, wanted, out);
    }
}

/* --- projects --- */

static int write_answer(const struct root *root, const struct answer_code *code,
                        struct err *err) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < code->file_count; i++) {
        const struct answer_file *file = &code->files[i];
        rc = root_write(root, file->path, file->text, strlen(file->text), 0600, err);
        rc = rc < 0 ? err_wrap(err, "%.200s", file->path) : 0;
    }
    return rc;
}

/* A name is both a file and a folder, or is not valid on this system: the answer's
 * mistake. */
static bool is_conflict(int code) {
    return code == -ENOTDIR || code == -EISDIR || code == -EEXIST ||
           code == -ENAMETOOLONG || code == -EXDEV;
}

static void check_folder(const char *folder, const char *check, const json_t *expected,
                         struct assertions *out) {
    autojson *findings = json_array();
    kernel_project_check(folder, findings);
    json_t *error = evidence_of_findings(findings);
    assertion_add(out, check, error ? GRADE_FAILED : GRADE_PASSED, expected, error, "%s",
                  error ? "the project lacks something"
                        : "build.toml is valid and names files that are there");
}

/* The rules read a folder, so the files go into a private one for that moment. */
static void check_files(const char *folder, const struct answer_code *code,
                        const struct test_case *test, const char *check,
                        const json_t *expected, struct assertions *out, struct err *err) {
    struct root root;
    bool with_files = json_get_bool(expected, "with_files", 0);
    if (!folder || root_open(&root, folder, err) < 0) {
        assertion_add(out, check, GRADE_ERRORED, expected, NULL,
                      "no folder to check the project in: %s", err->msg);
        return;
    }
    if (with_files && test_case_write(test, &root, err) < 0) {
        assertion_add(out, check, GRADE_ERRORED, expected, NULL, "the test's files: %s",
                      err->msg);
    } else if (write_answer(&root, code, err) < 0) {
        assertion_add(out, check, is_conflict(err->code) ? GRADE_FAILED : GRADE_ERRORED,
                      expected, NULL, "the answer's files do not fit into one folder: %s",
                      err->msg);
    } else {
        check_folder(folder, check, expected, out);
    }
    root_close(&root);
}

void grade_kernel_project(struct answer *answer, const struct test_case *test,
                          const char *check, const json_t *expected,
                          struct assertions *out) {
    const struct answer_code *code = answer_code_of(answer);
    if (code->file_count == 0) {
        assertion_add(
            out, check, GRADE_FAILED, expected, NULL,
            "the answer has no named files (a fenced block with its path on the "
            "line before)");
        return;
    }
    struct err err = {0};
    autofree char *folder = dir_make_temporary("grade", &err);
    check_files(folder, code, test, check, expected, out, &err);
    if (folder) {
        dir_remove(folder, NULL);
    }
}
