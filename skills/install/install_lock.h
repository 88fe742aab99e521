#pragma once
/* install_lock: the lock of a folder of skills, and its record of what upskilld installed
 * there. */
#include "base/json.h"

struct install_tree;

#define INSTALL_LOCK ".upskilld-lock"           /* flock; empty */
#define INSTALL_LOCK_FILE ".upskilld-lock.json" /* the record of installed skills */

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
