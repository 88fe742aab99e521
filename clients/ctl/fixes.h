#pragma once
/* fixes: applies the edits that findings propose to their files. */
#include "base/json.h"

/* Applies the first fix of each finding whose edits overlap no earlier one's, in files
 * that can be read and written; each file is replaced as a whole. folder: the files'
 * names are relative to it; NULL: the working folder. only: the only file to edit, as
 * findings name it (other names may be relative to another folder); NULL: all. Returns
 * the number of fixes, or -errno if a file could not be written (earlier files are done).
 * *ret_elsewhere: the number of fixes skipped because they are in other files. */
int fixes_apply(const json_t *findings, const char *folder, const char *only,
                int *ret_elsewhere, struct err *err);
