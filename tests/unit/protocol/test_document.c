#include "base/mem.h"
#include "protocol/document.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const struct document_kind cuda = {
    .name = "cuda",
    .patterns = (const char *const[]){"*.cu", "*.cuh", NULL},
    .languages = (const char *const[]){"cuda-cpp", "cuda", NULL},
};
static const struct document_kind skill = {
    .name = "skill",
    .patterns = (const char *const[]){"SKILL.md", NULL},
    .languages = NULL,
};
static const struct document_kinds kinds = {
    .list = (const struct document_kind *const[]){&cuda, &skill, NULL},
};

Test(document, the_name_decides_and_then_the_language) {
    static const struct {
        const char *path, *language;
        const struct document_kind *want;
    } rows[] = {
        {"/a/k.cu", "plaintext", &cuda},
        {"k.cuh", NULL, &cuda},
        {"/a/SKILL.md", "markdown", &skill},
        {"/a/SKILL.md", "cuda", &skill},
        {"/a/README.md", "markdown", NULL},
        {"/a.cu/k.cpp", "cpp", NULL},
        {"/a/.cu", NULL, NULL},
        {NULL, "cuda-cpp", &cuda},
        {NULL, NULL, NULL},
        {"/a/xSKILL.md", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        cr_assert(document_kind_find(&kinds, rows[i].path, rows[i].language) ==
                      rows[i].want,
                  "%s %s", rows[i].path, rows[i].language);
    }
}

static struct document *new_document(void) {
    struct document *d = xcalloc(1, sizeof *d);
    *d = (struct document){.uri = xstrdup("file:///k.cu"),
                           .path = xstrdup("/k.cu"),
                           .language = xstrdup("cuda"),
                           .text = xstrdup("x"),
                           .len = 1,
                           .refs = 1};
    return d;
}

Test(document, a_snapshot_lives_as_long_as_its_last_reference) {
    struct document *d = new_document();
    cr_assert(document_ref(d) == d);
    document_unref(d);
    cr_assert_str_eq(d->text, "x");
    document_unref(d);
    document_unref(NULL);
}

static void on_done(struct document_check *check, json_t *findings, json_t *result) {
    cr_assert(check->cancel == NULL, "what is answered cannot be cancelled");
    *(size_t *)check->data = json_array_size(findings) + json_object_size(result);
    json_decref(findings);
    json_decref(result);
}

static void on_cancel(struct document_check *check) {
    (void)check;
}

Test(document, an_answer_reaches_the_face) {
    size_t got = 0;
    struct document_check check = {.done = on_done, .cancel = on_cancel, .data = &got};
    document_check_done(&check, json_pack("[i]", 1), json_pack("{s:i}", "a", 1));
    cr_assert(eq(sz, got, (size_t)2));
}
