#pragma once
/* install_tree: the files of a skill's folder, as they are or shall be, and the sentences
 * of what a part of an install refuses. */
#include "skills/format/skill.h"

/* Every err of these parts reads "reason: sentence" with one of the reasons of
 * docs/guide/installing.md. This function derives the reason from the errno in code. */
int install_failed(struct err *err, int code, const char *path);

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
