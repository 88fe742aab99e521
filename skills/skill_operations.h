#pragma once
/* skill_operations: shared functions of this room's operations. */
#include "skills/skills.h"

/* Calls `go` as soon as the catalog is current, unless the call has ended. */
typedef void skills_go(struct skills *s, struct call *call, const json_t *params);
void skills_when_current(struct call *call, skills_go *go);
/* Fails the call with the error of skills_find_folder and the like. */
void skills_fail(struct call *call, const struct err *err);
/* Fails the call because of the parameter at `pointer`, which names a file; always -1. */
int skills_fail_path(struct call *call, const char *pointer, const struct err *err);

operation_start skill_check_operation; /* skill_checking.c */
operation_start skill_install_operation,
    skill_uninstall_operation; /* skill_installing.c */

operation_start skill_pack_operation; /* skill_packing.c */

/* Words (words.h) for a skill's source ("this project", "agent codex"), and remarks on its
 * name: what is wrong with it, and which skills of that name it hides. */
#define SKILL_SOURCE_WORDS                                                               \
    "[{?source=agent}agent {agent|}|{?source=project}this project|{source}]"
#define SKILL_NAME_WORDS(indent)                                                         \
    "[" indent "Not trusted: {misnamed}.\n]"                                             \
    "{hides:" indent "It hides another skill of this name (" SKILL_SOURCE_WORDS            \
    "): {uri|}\n}"

/* skill_report.c: append results as text for models and people. */
void skill_find_describe(const json_t *result, struct buf *out);
void skill_get_describe(const json_t *result, struct buf *out);
void skill_list_describe(const json_t *result, struct buf *out);
void skill_check_describe(const json_t *result, struct buf *out);
void skill_pack_describe(const json_t *result, struct buf *out);
void skill_install_describe(const json_t *result, struct buf *out);
