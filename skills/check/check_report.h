#pragma once
/* check_report: applies suppressions to the findings of a skill and makes the result. */
#include "skills/check/skill_check.h"

#define CHECK_MAX_FINDINGS 200

/* Reads `<!-- upskilld-allow: code reason -->` comments of a file into allowed (an array
 * of {"code", "file"}). One without a reason is a finding. */
void check_read_allowances(const char *file, const char *text, size_t len,
                           json_t *allowed, json_t *findings);
/* {"ok", "findings", "omitted", "suppressed", "tokens"}. findings are stolen. suppress is
 * the caller's array of {"code", "reason"} or NULL. */
json_t *check_result(json_t *findings, const json_t *allowed, const json_t *suppress,
                     enum skill_check_mode mode, size_t body_tokens,
                     size_t catalogue_tokens);
