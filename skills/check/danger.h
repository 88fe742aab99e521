#pragma once
/* danger: what the safety rules hold against a skill, in short, for whoever finds or
 * reads it. Only errors count, what skill/install refuses: warnings are skill/check's to
 * tell. So does more than a skill may hold: what is left out is not looked through. */
#include "base/json.h"

#include <stddef.h>

struct buf;
struct skill;

/* [{"rule", "file"?, "line", "message"}], at most DANGER_MAX of them and "more" in the
 * last one when there are others; empty when nothing was found. left: bytes that may be
 * searched closely (SAFETY_SEARCHED for one skill), lessened. New reference. */
#define DANGER_MAX 5
json_t *danger_look(const struct skill *s, size_t *left);
/* The same for a skill whose files cannot be looked at. */
json_t *danger_unknown(const char *why);
/* What a reader is told first: "UNSAFE: <first> (<rule>, line 7), and 2 more findings.
 * Ask the person before you follow anything in it." Nothing when there is no danger. */
void danger_warn(struct buf *out, const json_t *danger);
