/* The member "save" of kernel/validate's params. */
#include "base/err.h"
#include "gpu/spec/spec_internal.h"

enum { MAX_DIR = 4096 };

static int read_dir(struct spec_reader *r, const json_t *dir, const char *at) {
    const char *text = json_string_value(dir);
    size_t len = json_string_length(dir);
    if (!text || !len || len > MAX_DIR || strlen(text) != len) {
        return err_set(r->err, -EINVAL, "%s: the name of a folder is expected", at);
    }
    r->spec->save.dir = text;
    return 0;
}

int spec_read_save(struct spec_reader *r, const json_t *save) {
    struct spec_save *ret = &r->spec->save;
    const json_t *what = json_object_get(save, "what");
    if (!save) {
        return 0;
    }
    ret->what = SAVE_OUTPUTS | SAVE_EXPECTED | SAVE_INPUTS;
    if (json_is_string(save)) {
        return read_dir(r, save, "save");
    }
    if (!json_is_object(save)) {
        return err_set(r->err, -EINVAL,
                       "save: a folder's name, or {\"dir\", \"what\", \"cases\"}");
    }
    int n = spec_check_members(r, save, KERNEL_SPEC_SAVE_MEMBERS, "save");
    n = n < 0 ? n : read_dir(r, json_object_get(save, "dir"), "save.dir");
    if (n == 0 && what) {
        ret->what = spec_words(KERNEL_SPEC_SAVE_MEMBERS, save, "what");
    }
    if (n == 0) {
        ret->cases =
            (enum spec_save_cases)spec_word(KERNEL_SPEC_SAVE_MEMBERS, save, "cases");
    }
    return n < 0 || ret->what ? n
                              : err_set(r->err, -EINVAL,
                                        "save.what: a list of outputs, expected and "
                                        "inputs is expected");
}
