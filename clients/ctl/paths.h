#pragma once
/* paths: the files that words on the command line name. */
#include "base/json.h"

#include <stdbool.h>

struct err;

/* Adds each path to `all`; of a folder, where cuda is set, the .cu files beneath it in
 * order, without hidden folders and links. -ENOENT: it holds none; -E2BIG: over 2,000. */
int paths_expand(const json_t *paths, bool cuda, json_t *all, struct err *err);
