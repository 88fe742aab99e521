#pragma once
/* log_text: pieces of a compiler's log, and its words made fit for a person. */
#include "gpu/facts/log_place.h"

#define LOG_MESSAGE_MAX 2048 /* bytes; longer ones are cut */

/* The message as findings carry it: mangled names as a person writes them, at most
 * LOG_MESSAGE_MAX bytes. The caller frees. */
char *log_text_new(struct log_scope *scope, struct slice raw);
