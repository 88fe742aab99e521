#pragma once
/* install_stage: a skill's folder replaced atomically: a copy beside it, then an exchange.
 *
 * A folder of skills is opened once; from then on everything uses descriptors and single
 * names in it, and no name is followed as a link. Names that begin with `.upskilld-` are
 * ours. A process that changes the folder holds its lock, so an entry with such a name
 * while the lock is free was left by a process that died. */
#include "base/mem.h"

struct install_tree;

#define INSTALL_STAGE ".upskilld-stage-"        /* + 32 hex: being written or removed */
#define INSTALL_ASIDE ".upskilld-old-"          /* + 32 hex + "-" + the skill's name */
#define INSTALL_NAME_SIZE 128

/* prefix, 32 random hex digits, tail. */
void install_fresh_name(char ret[static INSTALL_NAME_SIZE], const char *prefix,
                        const char *tail);

/* Copies the skill into a new folder with a unique name, synced and verified. */
int install_stage(int folder, const char *source, const struct install_tree *tree,
                  char ret_name[static INSTALL_NAME_SIZE], struct err *err);
/* Removes an entry of ours, or one renamed to a name of ours; links are not followed. */
void install_discard(int folder, const char *name);

/* Makes the staged folder the skill `name`, atomically; the old one is removed. With a
 * digest (else NULL) only a folder with that digest may be replaced: any other is put
 * back, -EEXIST. */
int install_exchange(int folder, const char *stage, const char *name, const char *digest,
                     struct err *err);
/* Removes the skill: renames it atomically, then deletes it; digest as above. */
int install_take_away(int folder, const char *name, const char *digest, struct err *err);
/* Copies the open folder fd, whose tree and digest are given, to
 * $XDG_STATE_HOME/upskilld/replaced. The copy's path, which the caller frees, or NULL. */
char *install_keep(int fd, const char *name, const struct install_tree *tree,
                   const char *digest);
/* Removes entries left by dead processes. The lock must be held. */
void install_sweep(int folder);
