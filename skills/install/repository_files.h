#pragma once
/* repository_files: what Git lists and gives of a skill's folder, as files of our own. */
#include "base/buf.h"
#include "skills/install/repository.h"

struct repository_file {
    char *path; /* in the skill */
    char oid[65];
    bool executable;
};

struct repository_files {
    char *folder; /* of the skill in the repository; "" = the whole of it */
    struct repository_file *list;
    size_t count;
};

/* Of `git ls-tree -r -z`: the files of the skill at `path`, "" for the only one. -ENOENT:
 * none there, -ENOTUNIQ: several to choose from, -EINVAL: links and other repositories in
 * it, -EFBIG: too many. */
int repository_files_find(struct repository_files *ret, const char *listing, size_t len,
                          const char *path, struct err *err);
void repository_files_finish(struct repository_files *files);
/* Their ids, a line each. */
void repository_files_ask(const struct repository_files *files, struct buf *out);
/* Of `git cat-file --batch` for those ids: each file into folder, which is there. */
int repository_files_write(const struct repository_files *files, const struct buf *blobs,
                           const char *folder, struct err *err);
