#pragma once
/* skill_name: the names that the specification allows, and which others look like one. */
#include <stdbool.h>

/* 1 to 64 small letters a to z and digits, in words joined by single hyphens. */
bool skill_name_is_valid(const char *name);
/* "its name holds U+2010; …": what makes another name of it, which may look the same;
 * NULL when it is valid. Malloc'ed. */
char *skill_name_problem(const char *name);
