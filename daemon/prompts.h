#pragma once
/* prompts: the entries for common tasks in a client's menu. */
#include "protocol/provider.h"

struct skill_serving;

/* NULL-terminated. Free with prompts_free. */
const struct prompt *const *prompts_new(const struct skill_serving *serving);
void prompts_free(const struct prompt *const *list);
