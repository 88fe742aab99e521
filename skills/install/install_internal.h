#pragma once
/* install_internal: the parts of an install, one file each.
 *
 * A folder of skills is opened once; from then on everything uses descriptors and single
 * names in it, and no name is followed as a link. Names that begin with `.upskilld-` are
 * ours. A process that changes the folder holds its lock, so an entry with such a name
 * while the lock is free was left by a process that died. */
#include "skills/format/skill.h"
#include "skills/format/skill_name.h"
#include "skills/install/install.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

#define INSTALL_LOCK ".upskilld-lock"           /* flock; empty */
#define INSTALL_LOCK_FILE ".upskilld-lock.json" /* the record of installed skills */
#define INSTALL_STAGE ".upskilld-stage-"        /* + 32 hex: being written or removed */
#define INSTALL_ASIDE ".upskilld-old-"          /* + 32 hex + "-" + the skill's name */
#define INSTALL_NAME_SIZE 128

/* prefix, 32 random hex digits, tail (install_tree.c). */
void install_fresh_name(char ret[static INSTALL_NAME_SIZE], const char *prefix,
                        const char *tail);

/* --- refusals (install_tree.c) --- */

/* Every err of these parts reads "reason: sentence" with one of the reasons of
 * docs/guide/installing.md. This function derives the reason from the errno in code. */
int install_failed(struct err *err, int code, const char *path);

/* --- trees (install_tree.c) --- */

/* The actual or wanted files of a skill: sorted by path, modes 0644 or 0755. */
struct install_tree {
    struct skill_file *files;
    size_t count, bytes;
    char *odd; /* describes the first entry that a skill must not contain; or NULL */
};
void install_tree_finish(struct install_tree *t);
/* Reads the files beneath dir (kept open by the caller). Links, devices and files over
 * the limits of a skill are not read but set `odd`. sync: folders are synced to disk. */
int install_tree_read(int dir, bool sync, struct install_tree *ret, struct err *err);
/* The files of a skill that was opened with digests. -EINVAL for unsafe paths. */
int install_tree_of(const struct skill *skill, struct install_tree *ret, struct err *err);
void install_tree_digest(const struct install_tree *t, char ret[static 72]);
const struct skill_file *install_tree_find(const struct install_tree *t,
                                           const char *path);

/* --- staging (install_stage.c) --- */

/* Copies the skill into a new folder with a unique name, synced and verified. */
int install_stage(int folder, const char *source, const struct install_tree *tree,
                  char ret_name[static INSTALL_NAME_SIZE], struct err *err);
/* Removes an entry of ours, or one renamed to a name of ours; links are not followed. */
void install_discard(int folder, const char *name);

/* --- exchange (install_exchange.c) --- */

/* Makes the staged folder the skill `name`, atomically; the old one is removed. With a
 * digest (else NULL) only a folder with that digest may be replaced: any other is put
 * back, -EEXIST. */
int install_exchange(int folder, const char *stage, const char *name, const char *digest,
                     struct err *err);
/* Removes the skill: renames it atomically, then deletes it; digest as above. */
int install_take_away(int folder, const char *name, const char *digest, struct err *err);
/* Removes entries left by dead processes. The lock must be held. */
void install_sweep(int folder);

/* --- places (install_place.c) --- */

struct agents;

/* The folder where one of the requested agents keeps its skills. */
struct install_place {
    char *path;      /* of the folder of skills; NULL if there is none; owned */
    int fd;          /* negative if it was refused */
    size_t leader;   /* the first place with the same folder */
    json_t *outcome; /* of the leader, or of a refused place; owned */
};
/* create: creates the missing parts of the folder. */
int install_place_open(struct install_place *place, const struct agents *agents,
                       const struct install_request *request, const char *agent,
                       bool create, struct err *err);
/* i, or the earlier place with the same folder. */
size_t install_place_leader(const struct install_place *places, size_t i);

/* --- the lock (install_lock.c) --- */

/* A descriptor that holds the lock until it is closed, or -EBUSY after wait_ms. */
int install_lock(int folder, unsigned wait_ms, struct err *err);
/* Closes it; also removes the file if nothing is installed any more. */
void install_unlock(int folder, int lock);

struct install_record {
    json_t *skills; /* name -> entry */
    char kept[96];  /* the new name of a damaged lock file; "" = it was valid */
};
int install_record_read(int folder, struct install_record *ret, struct err *err);
int install_record_write(int folder, const struct install_record *record,
                         struct err *err);
void install_record_finish(struct install_record *record);
/* Whether the tree matches the entry, as it is now or was before an interrupted
 * update. */
bool install_entry_matches(const json_t *entry, const char *digest);
/* A new entry; `before` (may be NULL) is the digest of the replaced version. */
json_t *install_entry_new(const struct install_tree *tree, const char *source,
                          const json_t *agents, const char *before);

/* --- differences (install_diff.c) --- */

#define INSTALL_DIFF_MAX 8192

/* A unified diff from the files in folder `now` to the skill in folder `source`; bounded
 * and cleaned. Freed by the caller. */
char *install_diff(int now, const struct install_tree *is, int source,
                   const struct install_tree *shall);
/* The same for one file's text; NULL when nothing changed. */
char *install_text_diff(const char *path, const char *was, const char *now);
/* One line for each file that differs from the entry. */
char *install_changes(const struct install_tree *is, const json_t *entry);
