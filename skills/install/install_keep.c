/* What `force` takes the place of stays the person's: a copy of it outside of all
 * agents' folders, which would load it there. */
#include "skills/install/install_stage.h"

#include "base/file.h"

#include <stdio.h>

#define MAX_KEPT 100u /* the oldest give way */
#define DIGEST_SHOWN 16

char *install_keep(int fd, const char *name, const struct install_tree *tree,
                   const char *digest) {
    autofree char *state = xdg_state_dir();
    autofree char *folder = state ? path_join(state, "replaced") : NULL;
    autofree char *source = xasprintf("/proc/self/fd/%d", fd);
    autofree char *kept =
        xasprintf("%s-%.*s", name, DIGEST_SHOWN, digest + strlen("sha256:"));
    char stage[INSTALL_NAME_SIZE];
    char *path = NULL;
    struct root root;
    if (!folder || dir_make(folder, 0700, NULL) < 0 || root_open(&root, folder, NULL) < 0) {
        return NULL;
    }
    root_make_room(&root, MAX_KEPT);
    if (install_stage(root.fd, source, tree, stage, NULL) == 0) {
        if (renameat2(root.fd, stage, root.fd, kept, RENAME_NOREPLACE) == 0 ||
            errno == EEXIST) {
            path = path_join(folder, kept);
        }
        install_discard(root.fd, stage);
    }
    root_close(&root);
    return path;
}
