#pragma once
/* trigger_list: skills as a client shows them to its model.
 *
 * Clients show a list of names and descriptions, most of them in the description of one
 * tool that loads a skill by its name; the model calls it or answers. So does this arm:
 * the skill, its neighbours and the control, by name, each on a line. */
#include "skills/evaluation/arms.h"

#define TRIGGER_TOOL "Skill" /* takes {"skill": name} */
#define TRIGGER_MAX_NEIGHBOURS 30
/* A skill that every student loads for these queries, if it ever loads one. */
#define TRIGGER_CONTROL "reading-room-codes"
#define TRIGGER_CONTROLS 2
extern const char *const trigger_controls[TRIGGER_CONTROLS];

/* neighbours: [{"name", "description"}], borrowed; one of the skill's own name is left
 * out. */
void trigger_arm(struct arm *ret, const char *name, const char *description,
                 const json_t *neighbours);
/* The skills that a user with this one most likely has beside it, of what catalog_find
 * and catalog_list gave: those nearest to it first, then others by name; at most count.
 * Dangerous ones and those of its own name are left out. New reference. */
json_t *trigger_neighbours(const char *name, const json_t *found, const json_t *listed,
                           size_t count);
