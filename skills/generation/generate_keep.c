/* A draft that could not be saved: a model was paid for it, so a person can still read
 * and mend it. */
#include "skills/generation/generate_flow.h"

#include "base/file.h"

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
    root_make_room(&root, MAX_KEPT);
    if (root_write(&root, file, text, strlen(text), 0600, NULL) == 0) {
        g->kept_draft = path_join(folder, file);
    }
    root_close(&root);
}
