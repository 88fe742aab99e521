/* A draft that could not be saved: a model was paid for it, so a person can still read
 * and mend it. */
#include "skills/generation/generate_flow.h"

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_KEPT 100u /* files; the oldest give way */

static const char *text_of(const struct generating *g) {
    const char *text = g->draft.text ? g->draft.text : g->answer;
    return g->request.teacher == TEACHER_BUILTIN || g->keeps || g->result || !text ||
                   !*text
               ? NULL
               : text;
}

bool generate_has_lost_draft(const struct generating *g) {
    return !g->cancelled && !g->nothing && text_of(g) != NULL;
}

/* Removes the oldest file where there are MAX_KEPT. */
static void make_room(const struct root *folder) {
    autodir *entries = dir_entries(folder->fd);
    const struct dirent *entry;
    char oldest[sizeof entry->d_name] = "";
    struct timespec since = {0};
    size_t count = 0;
    while ((entry = dir_next(entries))) {
        struct stat st;
        bool there = fstatat(folder->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (there && (!count++ || st.st_mtim.tv_sec < since.tv_sec)) {
            since = st.st_mtim;
            snprintf(oldest, sizeof oldest, "%s", entry->d_name);
        }
    }
    if (count >= MAX_KEPT) {
        (void)unlinkat(folder->fd, oldest, 0);
    }
}

void generate_keep_draft(struct generating *g) {
    const char *name = generate_asked_name(g);
    autofree char *state = xdg_state_dir();
    autofree char *folder = state ? path_join(state, "drafts") : NULL;
    autofree char *file =
        xasprintf("%.64s.md", g->draft.name ? g->draft.name : name ? name : "draft");
    autofree char *text = generate_redacted(g, text_of(g));
    struct root root;
    if (!folder || dir_make(folder, 0700, NULL) < 0 || root_open(&root, folder, NULL) < 0) {
        return;
    }
    make_room(&root);
    if (root_write(&root, file, text, strlen(text), 0600, NULL) == 0) {
        g->kept_draft = path_join(folder, file);
    }
    root_close(&root);
}
