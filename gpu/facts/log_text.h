#pragma once
/* log_text: pieces of a compiler's log, and its words made fit for a person. */
#include "gpu/facts/log_place.h"

#define LOG_MESSAGE_MAX 2048 /* bytes; longer ones are cut */

bool slice_starts(struct slice s, const char *prefix);
bool slice_has(struct slice s, const char *word);
struct slice slice_after(struct slice s, size_t count);
struct slice slice_trim(struct slice s);
/* Leading decimal digits; returns how many bytes they took, 0 when there are none or they
 * make no int. */
size_t slice_number(struct slice s, int *ret);

/* The message as findings carry it: mangled names as a person writes them, at most
 * LOG_MESSAGE_MAX bytes. The caller frees. */
char *log_text_new(struct log_scope *scope, struct slice raw);
