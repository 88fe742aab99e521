#pragma once
/* install_versions: two versions of a skill, and a judge that tells which of them a
 * folder holds, file by file. */
#include "base/err.h"

int version_write(const char *folder, int version, const char *name, struct err *err);

enum state { MISSING = -1, FIRST, SECOND, MIXED };
/* Of the skill "demo" in the folder. */
enum state state_of(const char *target);
/* Entries of a folder of skills beside the skills, the lock and the record. */
int count_leftovers(const char *folder);
