/* What an edit changed whose command does not say it ("sed -i 12d"), from a diff that the session
 * shows later. */
#include "skills/traces/lessons_internal.h"

#include "base/mem.h"
#include "base/text.h"

#define HEADER "diff --git a/"
#define MAX_SHOWN (16u << 10) /* bytes of a file's diff */
#define MAX_PATH 400u

/* The same file, of which one path may begin higher up. */
static bool same_file(const char *path, const char *shown) {
    size_t a = strlen(path), b = strlen(shown);
    const char *longer = a > b ? path : shown;
    size_t less = a > b ? b : a, more = a > b ? a : b;
    return less && strcmp(longer + more - less, a > b ? shown : path) == 0 &&
           (more == less || longer[more - less - 1] == '/');
}

/* The last edit before `end` of the file of which nobody knows what it changed. */
static struct lesson_step *unknown_edit(struct steps *s, size_t end, const char *path) {
    for (size_t i = end; i > 0 && end - i < LESSONS_REACH; i--) {
        struct lesson_step *e = &s->list[i - 1];
        if (e->kind == STEP_EDIT && e->is_diff && e->text && !*e->text &&
            same_file(e->path, path)) {
            return e;
        }
    }
    return NULL;
}

void lessons_learn_shown(struct steps *s, size_t at) {
    const struct lesson_step *step = &s->list[at];
    const char *text = step->kind == STEP_RUN ? step->output : step->text;
    for (const char *d = text && step->kind != STEP_EDIT ? strstr(text, HEADER) : NULL; d;) {
        const char *name = d + strlen(HEADER), *next = strstr(name, "\n" HEADER);
        size_t len = strcspn(name, " \n");
        const char *hunks = strstr(name, "\n@@ "), *end = next ? next : name + strlen(name);
        autofree char *path = xstrndup(name, len < MAX_PATH ? len : 0);
        bool whole = hunks && hunks < end && (size_t)(end - hunks) <= MAX_SHOWN;
        struct lesson_step *edit = whole ? unknown_edit(s, at, path) : NULL;
        if (edit) {
            free(edit->text);
            edit->shown = true;
            edit->text = xasprintf("%.*s\n", (int)(end - hunks - 1), hunks + 1);
        }
        d = next ? next + 1 : NULL;
    }
}
