#pragma once
/* fixes: the edits that findings propose, made in their files. */
#include "base/json.h"

struct err;

/* The first fix of each finding whose edits overlap no earlier one's, in files that can
 * be read and written; each file is replaced whole. folder: what the files' names are
 * meant from; NULL: the working folder. only: the one file that is edited, as findings
 * name it (another one's name may be meant from elsewhere); NULL: all. How many fixes
 * were made, or -errno: a file that could not be written, with those before it done.
 * *ret_elsewhere: how many were left out since they are not in the only file. */
int fixes_apply(const json_t *findings, const char *folder, const char *only,
                int *ret_elsewhere, struct err *err);
