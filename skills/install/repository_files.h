#pragma once
/* repository_files: parses Git's listing and contents of a skill's folder, and writes the
 * files. */
#include "base/buf.h"
#include "skills/install/repository.h"

struct repository_file {
    char *path; /* relative to the skill */
    char oid[65];
    bool executable;
};

struct repository_files {
    char *folder; /* of the skill in the repository; "" = the whole repository */
    struct repository_file *list;
    size_t count;
};

/* Parses `git ls-tree -r -z`: the files of the skill at `path`, "" for the only one.
 * -ENOENT: there is none, -ENOTUNIQ: there are several, -EINVAL: it contains links or
 * submodules, -EFBIG: too many. */
int repository_files_find(struct repository_files *ret, const char *listing, size_t len,
                          const char *path, struct err *err);
void repository_files_finish(struct repository_files *files);
/* Appends their ids, one per line. */
void repository_files_ask(const struct repository_files *files, struct buf *out);
/* Parses `git cat-file --batch` for those ids and writes each file into folder, which
 * must exist. */
int repository_files_write(const struct repository_files *files, const struct buf *blobs,
                           const char *folder, struct err *err);
