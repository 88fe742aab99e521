/* grade_build: an answer's build.toml, and the files of its kernel-builder project. */
#include "base/err.h"
#include "base/file.h"
#include "skills/grading/grade_check.h"
#include "skills/kernel_project/build_toml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static json_t *kept(const json_t *value) {
    return json_incref((json_t *)(uintptr_t)value);
}

/* --- build.toml --- */

static bool is_project_file(const struct markdown_code *block, void *data) {
    (void)data;
    bool toml = strcmp(block->language, "toml") == 0;
    return (toml || !block->language[0]) &&
           (strstr(block->text, "[general") || strstr(block->text, "[kernel."));
}

static bool is_toml(const struct markdown_code *block, void *data) {
    (void)data;
    return strcmp(block->language, "toml") == 0;
}

static const char *build_toml_of(struct answer *answer) {
    const struct answer_code *code = answer_code_of(answer);
    const char *named = answer_code_file(code, "build.toml");
    const struct markdown_code *block = answer_code_last(code, is_project_file, NULL);
    block = block ? block : answer_code_last(code, is_toml, NULL);
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
    assertion_add(out, "build_toml", equal ? GRADE_PASSED : GRADE_FAILED,
                  json_pack("{s:O}", pointer, wanted),
                  found ? evidence(found, strlen(found)) : NULL, "%.200s %s", pointer,
                  equal   ? "has this value"
                  : value ? "has another value"
                          : "is not there");
}

void grade_build_toml(struct answer *answer, const struct test_case *test,
                      const char *check, const json_t *expected, struct assertions *out) {
    (void)test;
    const char *text = build_toml_of(answer);
    autojson *findings = json_array();
    json_t *valid = json_pack("{s:b}", "valid", 1);
    if (!text) {
        assertion_add(out, check, GRADE_FAILED, valid, NULL,
                      "the answer holds no block with a build.toml");
    } else {
        build_toml_check("build.toml", text, strlen(text), 1, findings);
        json_t *error = evidence_of_findings(findings);
        bool good = error == NULL;
        assertion_add(out, check, good ? GRADE_PASSED : GRADE_FAILED, valid, error, "%s",
                      good ? "valid" : "kernel-builder would refuse it");
    }
    struct toml_error error;
    autoptr(toml_free) struct toml_document *doc =
        text ? toml_parse(text, strlen(text), &error) : NULL;
    const char *pointer;
    json_t *wanted;
    json_object_foreach(json_object_get(expected, "values"), pointer, wanted) {
        check_value(doc, pointer, wanted, out);
    }
}

/* --- projects --- */

/* Context files whose names are paths. */
static int write_context(const struct root *root, const struct test_case *test,
                         struct err *err) {
    const char *name;
    json_t *text;
    json_object_foreach((json_t *)(uintptr_t)test->files, name, text) {
        int rc = root_write(root, name, json_string_value(text), json_string_length(text),
                            0600, err);
        if (rc < 0) {
            return err_wrap(err, "%.200s", name);
        }
    }
    return 0;
}

static int write_answer(const struct root *root, const struct answer_code *code,
                        struct err *err) {
    for (size_t i = 0; i < code->file_count; i++) {
        const struct answer_file *file = &code->files[i];
        int rc = root_write(root, file->path, file->text, strlen(file->text), 0600, err);
        if (rc < 0) {
            return err_wrap(err, "%.200s", file->path);
        }
    }
    return 0;
}

/* One name is a file and a folder, or no name for this system: the answer's fault. */
static bool is_conflict(int code) {
    return code == -ENOTDIR || code == -EISDIR || code == -EEXIST ||
           code == -ENAMETOOLONG || code == -EXDEV;
}

static void check_folder(const char *folder, const char *check, const json_t *expected,
                         struct assertions *out) {
    autojson *findings = json_array();
    kernel_project_check(folder, findings);
    json_t *error = evidence_of_findings(findings);
    bool good = error == NULL;
    assertion_add(out, check, good ? GRADE_PASSED : GRADE_FAILED, kept(expected), error,
                  "%s",
                  good ? "build.toml is valid and names files that are there"
                       : "the project lacks something");
}

/* The rules read a folder, so the files go into a private one for that moment. */
static void check_files(const char *folder, const struct answer_code *code,
                        const struct test_case *test, const char *check,
                        const json_t *expected, struct assertions *out) {
    struct root root;
    struct err err = {0};
    if (root_open(&root, folder, &err) < 0) {
        assertion_add(out, check, GRADE_ERRORED, kept(expected), NULL,
                      "no folder to check the project in: %s", err.msg);
        return;
    }
    bool with_files = json_get_bool(expected, "with_files", 0);
    if (with_files && write_context(&root, test, &err) < 0) {
        assertion_add(out, check, GRADE_ERRORED, kept(expected), NULL,
                      "the test's files: %s", err.msg);
    } else if (write_answer(&root, code, &err) < 0) {
        assertion_add(out, check, is_conflict(err.code) ? GRADE_FAILED : GRADE_ERRORED,
                      kept(expected), NULL,
                      "the answer's files cannot stand in one folder: %s", err.msg);
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
        assertion_add(out, check, GRADE_FAILED, kept(expected), NULL,
                      "the answer holds no named files (a fenced block with its path "
                      "on the line before)");
        return;
    }
    struct err err = {0};
    autofree char *folder = dir_make_temporary("grade", &err);
    if (!folder) {
        assertion_add(out, check, GRADE_ERRORED, kept(expected), NULL,
                      "no folder to check the project in: %s", err.msg);
        return;
    }
    check_files(folder, code, test, check, expected, out);
    dir_remove(folder, NULL);
}
