#pragma once
/* prompts: what a person picks from a client's menu for the common jobs. */
#include "protocol/provider.h"

struct daemon;

/* NULL-terminated. Free with prompts_free. */
const struct prompt *const *prompts_new(struct daemon *d);
void prompts_free(const struct prompt *const *list);
