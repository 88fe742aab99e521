/* The final contents of files: replays writes and edits. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/work.h"

#define MAX_FILES 40u
#define MAX_FILE TRACE_MAX_FILE_TEXT

/* --- applying --- */

/* The next hunk of a diff: its lines without '+' in old, without '-' in now. Returns
 * where it ends. */
static const char *read_hunk(const char *diff, struct buf *old, struct buf *now) {
    bool any = false;
    for (; *diff; diff = text_next_line(diff)) {
        bool header = strncmp(diff, "@@", 2) == 0 || strncmp(diff, "--- ", 4) == 0 ||
                      strncmp(diff, "+++ ", 4) == 0 || *diff == '\\' ||
                      strncmp(diff, "*** ", 4) == 0;
        if (header && any) {
            break;
        }
        if (!header) {
            const char *text = diff + (*diff != '\n');
            int len = (int)strcspn(text, "\n");
            any = true;
            if (*diff != '+') {
                buf_addf(old, "%.*s\n", len, text);
            }
            if (*diff != '-') {
                buf_addf(now, "%.*s\n", len, text);
            }
        }
    }
    return diff;
}

static char *replace_once(const char *text, const char *at, size_t old_len,
                          const char *now) {
    struct buf out = BUF_INIT(2 * MAX_FILE);
    buf_add(&out, text, (size_t)(at - text));
    buf_adds(&out, now);
    buf_adds(&out, at + old_len);
    return buf_detach(&out);
}

/* The text with the diff in it, or NULL when it does not fit. */
static char *apply(const char *text, const char *diff) {
    char *result = xstrdup(text);
    while (*diff) {
        autobuf old = BUF_INIT(MAX_FILE), now = BUF_INIT(MAX_FILE);
        diff = read_hunk(diff, &old, &now);
        const char *at = old.len ? strstr(result, old.data) : NULL;
        if (!at && old.len > 1) { /* part of a line, or the last line */
            old.data[--old.len] = '\0';
            now.len -= now.len > 0;
            now.data[now.len] = '\0';
            at = strstr(result, old.data);
        }
        if (!at || strlen(result) > MAX_FILE) {
            if (old.len || now.len) {
                free(result);
                return NULL;
            }
            continue;
        }
        char *next = replace_once(result, at, old.len, now.data);
        free(result);
        result = next;
    }
    return result;
}

/* --- files --- */

static bool is_temporary(const char *path) {
    return strncmp(path, "/tmp/", 5) == 0 || strncmp(path, "/dev/", 5) == 0 ||
           strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/var/", 5) == 0 ||
           strstr(path, ".claude/") != NULL || strstr(path, "..") != NULL;
}

static void set_text(struct lesson *f, char *text, bool partial) {
    free(f->text);
    f->text = text;
    f->len = strlen(text);
    f->partial = partial;
}

static void change_file(struct lesson *f, const struct lesson_step *e) {
    bool unseen = e->is_diff && !*e->text; /* "sed -i 12d" */
    f->unsure = e->is_diff && (f->unsure || unseen);
    f->proven = false;
    if (!e->is_diff) {
        set_text(f, xstrdup(e->text), false);
        return;
    }
    char *whole = f->text && !f->partial ? apply(f->text, e->text) : NULL;
    if (whole) {
        set_text(f, whole, false);
    } else if (!f->text) {
        set_text(f, xstrdup(e->text), true);
    } else if (f->len < MAX_FILE) {
        set_text(f, f->partial ? xasprintf("%s\n%s", f->text, e->text) : xstrdup(e->text),
                 true);
    }
}

static void delete_file(struct lesson_list *files, struct lesson *f) {
    lesson_finish(f);
    size_t behind = (size_t)(files->list + --files->count - f);
    memmove(f, f + 1, behind * sizeof *f);
}

/* What installs or updates may write manifests and settings: what they hold then is unknown. */
static void prove_files(struct lesson_list *files, const struct lesson_step *run) {
    bool passed = run->command.count && !run->failed;
    for (size_t i = 0; i < files->count; i++) {
        struct lesson *f = &files->list[i];
        f->unsure |= lesson_brings(run);
        f->proven = !f->unsure && (f->proven || passed);
    }
}

void lessons_find_files(struct lessons *l, const struct steps *s) {
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        const struct lesson_step *e = &s->list[i];
        if (step_is_run(e)) {
            prove_files(&l->files, e);
        }
        if (e->kind != STEP_EDIT || e->failed || is_temporary(e->path)) {
            continue;
        }
        struct lesson *f = lesson_list_find(&l->files, e->path);
        if (f && !e->text) {
            delete_file(&l->files, f);
        }
        if (!e->text || (!f && l->files.count >= MAX_FILES)) {
            continue;
        }
        if (!f) {
            f = lesson_list_add(&l->files);
            f->key = xstrdup(e->path);
        }
        change_file(f, e);
        lessons_add_evidence(&f->evidence, s->trace, e->event, EVIDENCE_SAID);
    }
}
