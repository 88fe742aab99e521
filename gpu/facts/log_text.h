#pragma once
/* log_text: makes a compiler's messages readable for people. */
#include "gpu/facts/log_place.h"

#define LOG_MESSAGE_MAX 2048 /* bytes; longer ones are cut */

/* The message for a finding: mangled names are demangled, at most LOG_MESSAGE_MAX bytes.
 * Freed by the caller. */
char *log_text_new(struct log_scope *scope, struct slice raw);
