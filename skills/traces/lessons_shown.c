/* What an edit changed whose command does not say it ("sed -i 12d"), from a diff that the session
 * shows later. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
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

/* The command that made the edit says a name of the diff, or none at all: "sed -i 12d". */
static bool is_in(const struct steps *s, const struct lesson_step *edit, const char *names) {
    for (const struct lesson_step *run = edit; run > s->list && run[-1].event == edit->event; run--) {
        if (run[-1].kind == STEP_RUN) {
            return !lesson_names(run[-1].text, run[-1].text, edit->path) ||
                   lesson_names(run[-1].text, names, edit->path);
        }
    }
    return true;
}

/* Of all edits of the file before `end` that nobody knows, it is what they came to. */
static void tell_edits(struct steps *s, size_t end, const char *path, const char *hunks, size_t len) {
    autofree char *diff = xasprintf("%.*s\n", (int)len, hunks);
    autobuf names = BUF_INIT(MAX_SHOWN);
    for (const char *line = diff; *line; line = text_next_line(line)) {
        bool changes = *line == '-' || *line == '+';
        buf_addf(&names, "%.*s\n", changes ? (int)strcspn(line, "\n") - 1 : 0, line + changes);
    }
    for (size_t i = end; i > 0 && end - i < LESSONS_REACH; i--) {
        struct lesson_step *e = &s->list[i - 1];
        if (e->kind == STEP_EDIT && e->is_diff && e->text && !*e->text &&
            same_file(e->path, path) && is_in(s, e, names.data)) {
            free(e->text);
            e->shown = true;
            e->text = xstrdup(diff);
        }
    }
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
        if (whole) {
            tell_edits(s, at, path, hunks + 1, (size_t)(end - hunks - 1));
        }
        d = next ? next + 1 : NULL;
    }
}
