#pragma once
/* trigger_list: the list of skills that a client shows to its model.
 *
 * Clients show a list of names and descriptions, most of them in the description of one
 * tool that loads a skill by its name; the model calls it or answers. This arm does the
 * same: the skill, its neighbours and the control, by name, each on a line. */
#include "skills/evaluation/arms.h"

#define TRIGGER_TOOL "Skill" /* takes {"skill": name} */
#define TRIGGER_MAX_NEIGHBOURS 30
/* A skill that every student loads for these queries, if it ever loads one. */
#define TRIGGER_CONTROL "reading-room-codes"
#define TRIGGER_CONTROLS 2
extern const char *const trigger_controls[TRIGGER_CONTROLS];

/* neighbours: [{"name", "description"}], borrowed; one with the skill's own name is
 * omitted. */
void trigger_arm(struct arm *ret, const char *name, const char *description,
                 const json_t *neighbours);
/* The skills that a user of this one most likely also has, from the results of
 * catalog_find and catalog_list: the nearest first, then others by name; at most count.
 * Dangerous ones and those with the same name are omitted. New reference. */
json_t *trigger_neighbours(const char *name, const json_t *found, const json_t *listed,
                           size_t count);
