/* The member "save" of kernel/validate's params. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/kernel_spec.schema.h"
#include "gpu/spec/spec_internal.h"

#include <errno.h>
#include <string.h>

enum { MAX_DIR = 4096 };

/* The index of a word, or -1. */
static int find_word(const json_t *word, const char *const *words, size_t count) {
    const char *text = json_string_value(word);
    for (size_t i = 0; text && i < count; i++) {
        if (!strcmp(text, words[i])) {
            return (int)i;
        }
    }
    return -1;
}

static int read_dir(struct spec_reader *r, const json_t *dir, const char *at) {
    const char *text = json_string_value(dir);
    size_t len = json_string_length(dir);
    if (!text || !len || len > MAX_DIR || strlen(text) != len) {
        return err_set(r->err, -EINVAL, "%s: the name of a folder is expected", at);
    }
    r->spec->save.dir = text;
    return 0;
}

static int read_what(struct spec_reader *r, const json_t *list) {
    static const char *const words[] = {"outputs", "expected", "inputs"};
    struct spec_save *ret = &r->spec->save;
    size_t i;
    json_t *item;
    if (!list) {
        ret->what = SAVE_OUTPUTS | SAVE_EXPECTED | SAVE_INPUTS;
        return 0;
    }
    if (!json_array_size(list)) {
        return err_set(r->err, -EINVAL,
                       "save.what: a list of outputs, expected and inputs is expected");
    }
    json_array_foreach(list, i, item) {
        int k = find_word(item, words, ARRAY_LEN(words));
        if (k < 0) {
            return err_set(r->err, -EINVAL, "save.what[%zu]: outputs, expected or inputs",
                           i);
        }
        ret->what |= 1u << k;
    }
    return 0;
}

static int read_cases(struct spec_reader *r, const json_t *cases) {
    static const char *const words[] = {"first", "failed", "all"};
    int k = cases ? find_word(cases, words, ARRAY_LEN(words)) : SAVE_FIRST;
    if (k < 0) {
        return err_set(r->err, -EINVAL, "save.cases: first, failed or all");
    }
    r->spec->save.cases = (enum spec_save_cases)k;
    return 0;
}

int spec_read_save(struct spec_reader *r, const json_t *save) {
    bool is_name = json_is_string(save);
    if (!save) {
        return 0;
    }
    if (!is_name && !json_is_object(save)) {
        return err_set(r->err, -EINVAL,
                       "save: a folder's name, or {\"dir\", \"what\", \"cases\"}");
    }
    int n = is_name ? 0 : spec_check_members(r, save, KERNEL_SPEC_SAVE_MEMBERS, "save");
    n = n < 0     ? n
        : is_name ? read_dir(r, save, "save")
                  : read_dir(r, json_object_get(save, "dir"), "save.dir");
    n = n < 0 ? n : read_what(r, json_object_get(save, "what"));
    return n < 0 ? n : read_cases(r, json_object_get(save, "cases"));
}
