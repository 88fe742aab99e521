#pragma once
/* paths: the files named by words on the command line. */
#include "base/json.h"

/* The folder to which a person gives access by naming the word. For a kernel: the nearest
 * folder above it that looks like a project (it has .git, upskilld.yaml or
 * compile_commands.json, possibly in build), below / and the home folder; otherwise the
 * folder that contains it. For a path that does not exist: the nearest existing folder,
 * but never /. New string; NULL: none. */
char *paths_granted(const char *word);

/* The word with the path to which its links lead, where that is out of the working
 * folder: the daemon follows no links out of a folder, but a person who names one means
 * what it leads to. New string; NULL: the word serves as it is. */
char *paths_followed(const char *word);

/* Adds each path to `all`; if cuda is set, a folder stands for the .cu files beneath it
 * in order, without hidden and linked folders. A folder without such files is kept if
 * there are other paths; alone it gives -ENOENT. -E2BIG: over 2,000. */
int paths_expand(const json_t *paths, bool cuda, json_t *all, struct err *err);

/* The first word that is a path of a file that does not exist; NULL: none is. */
const char *paths_missing(const char *const *words, int count);
/* For a missing file: "did you mean softmax.cu?", the nearest name in its folder. New
 * string, or NULL. */
char *paths_meant(const char *word);
