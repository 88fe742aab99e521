#pragma once
/* generate_teacher: who writes the skill.
 *
 * `teacher` of the request: "builtin", "host", "model" (the configured one), or a model
 * by name, alias or object (model.h). Without it: `teacher` of the configuration; else
 * the first of its `models`; else host where the caller is a model that reads work
 * orders; else builtin. A key in the environment alone chooses nobody: which model is
 * paid is the user's to say. */
#include "skills/generation/generate_request.h"

struct evaluation_room;

/* Fails the call and returns -1 for a teacher that cannot be. */
int generate_teacher_read(struct generate_request *ret, struct call *call,
                          const json_t *params);
void generate_teacher_finish(struct generate_request *r);
/* The values of all variables that hold keys of models: NULL-terminated, the list to be
 * freed, the texts the environment's. */
const char **generate_teacher_keys(const struct evaluation_room *room);
