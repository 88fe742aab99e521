#include "protocol/document.h"

#include "base/file.h"
#include "base/strings.h"

#include <fnmatch.h>

struct document *document_ref(struct document *d) {
    d->refs++;
    return d;
}

void document_unref(struct document *d) {
    if (!d || --d->refs) {
        return;
    }
    free(d->uri);
    free(d->path);
    free(d->language);
    free(d->text);
    json_decref(d->settings);
    json_decref(d->outcome);
    free(d);
}

void document_check_done(struct document_check *check, json_t *findings, json_t *result) {
    check->cancel = NULL;
    check->done(check, findings, result);
}

static bool matches_path(const struct document_kind *kind, const char *path) {
    const char *name = path ? path_basename(path) : NULL;
    for (size_t i = 0; name && kind->patterns && kind->patterns[i]; i++) {
        if (fnmatch(kind->patterns[i], name, FNM_PERIOD) == 0) {
            return true;
        }
    }
    return false;
}

/* The name decides first: editors give "cpp" and "plaintext" for much. */
const struct document_kind *document_kind_find(const struct document_kinds *kinds,
                                               const char *path, const char *language) {
    for (size_t i = 0; kinds->list[i]; i++) {
        if (matches_path(kinds->list[i], path)) {
            return kinds->list[i];
        }
    }
    for (size_t i = 0; kinds->list[i]; i++) {
        const char *const *languages = kinds->list[i]->languages;
        if (language && languages && strings_have(languages, language)) {
            return kinds->list[i];
        }
    }
    return NULL;
}
