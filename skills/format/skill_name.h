#pragma once
/* skill_name: the specification's rules on names, and names that look alike. */
#include <stdbool.h>

/* 1 to 64 small letters a to z and digits, in words joined by single hyphens. */
bool skill_name_is_valid(const char *name);
/* Why a name is invalid: "its name holds U+2010; …"; malloc'ed, NULL if it is valid. */
char *skill_name_problem(const char *name);
/* Whether readers may confuse two different names: 0 and o, 1, l and i, rn and m, as in
 * Unicode's confusables within ASCII; capitals; '_' and '-'. */
bool skill_name_looks_like(const char *name, const char *other);
