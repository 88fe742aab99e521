#pragma once
/* skill_operations: what the files of the room's operations share. */
#include "protocol/call.h"
#include "skills/skills.h"

struct buf;

/* Go on as soon as the catalog is current; the call has not ended then. */
typedef void skills_go(struct skills *s, struct call *call, const json_t *params);
void skills_when_current(struct call *call, skills_go *go);
/* Ends the call as the error of a search for a folder wants it. */
void skills_fail(struct call *call, const struct err *err);
/* For a parameter (a pointer into them) that names a file; always -1. */
int skills_fail_path(struct call *call, const char *pointer, const struct err *err);

operation_start skill_check_operation; /* skill_checking.c */
operation_start skill_install_operation,
    skill_uninstall_operation; /* skill_installing.c */

operation_start skill_pack_operation; /* skill_packing.c */

/* skill_report.c: where a skill comes from ("this project", "agent codex"), and what is
 * to be said of its name: what is wrong with it, and which others of it are hidden. */
void skill_tell_source(struct buf *out, const json_t *row);
void skill_tell_name(struct buf *out, const json_t *row, const char *indent);

/* skill_report.c: results in words, for models and people. */
void skill_find_describe(const json_t *result, struct buf *out);
void skill_get_describe(const json_t *result, struct buf *out);
void skill_list_describe(const json_t *result, struct buf *out);
void skill_check_describe(const json_t *result, struct buf *out);
void skill_pack_describe(const json_t *result, struct buf *out);
void skill_install_describe(const json_t *result, struct buf *out);
