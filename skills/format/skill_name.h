#pragma once
/* skill_name: the names that the specification allows, and which others look like one. */
#include <stdbool.h>

/* 1 to 64 small letters a to z and digits, in words joined by single hyphens. */
bool skill_name_is_valid(const char *name);
/* "its name holds U+2010; …": what makes another name of it, which may look the same;
 * NULL when it is valid. Malloc'ed. */
char *skill_name_problem(const char *name);
/* Another name that a reader takes for the same: of 0 and o, of 1, l and i, of rn and m one
 * for the other, as Unicode's confusables pair them within ASCII; capitals, and '_' for
 * '-'. */
bool skill_name_looks_like(const char *name, const char *other);
