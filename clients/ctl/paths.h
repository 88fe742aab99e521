#pragma once
/* paths: the files that words on the command line name. */
#include "base/json.h"

#include <stdbool.h>

struct err;

/* The folder that may be used because a person named the word: of a kernel the nearest
 * one above it that looks like a project's own (it has .git, upskilld.yaml or
 * compile_commands.json, which may lie in build), short of / and the home folder; else
 * the one it lies in, or would lie in: of a path that is not there the nearest folder
 * that is, but never /. New string; NULL: none. */
char *paths_granted(const char *word);

/* Adds each path to `all`; of a folder, where cuda is set, the .cu files beneath it in
 * order, without hidden folders and linked ones. A folder that holds none stays itself
 * among other paths; alone it is -ENOENT. -E2BIG: over 2,000. */
int paths_expand(const json_t *paths, bool cuda, json_t *all, struct err *err);

/* The first of the words that is a path of nothing that is there; NULL: none is. */
const char *paths_missing(const char *const *words, int count);
/* Of a missing file: "did you mean softmax.cu?", the nearest name in its folder. New
 * string, or NULL. */
char *paths_meant(const char *word);
