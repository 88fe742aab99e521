#pragma once
/* paths: the files that words on the command line name. */
#include "base/json.h"

#include <stdbool.h>

struct err;

/* The folder that may be read because a person named the word: of a kernel the nearest
 * one above it that looks like a project's own (it has .git, upskilld.yaml or
 * compile_commands.json, which may lie in build), short of / and the home folder; else
 * the one it lies in. New string; NULL: it names nothing that is there. */
char *paths_granted(const char *word);

/* Adds each path to `all`; of a folder, where cuda is set, the .cu files beneath it in
 * order, without hidden folders and linked ones. A folder that holds none stays itself
 * among other paths; alone it is -ENOENT. -E2BIG: over 2,000. */
int paths_expand(const json_t *paths, bool cuda, json_t *all, struct err *err);

/* Of words whose file is not there: "did you mean softmax.cu?", a name in the same
 * folder. New string, or NULL. */
char *paths_meant(const char *const *words, int count);
