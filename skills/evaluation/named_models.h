#pragma once
/* named_models: before a call asks models, what the bare names among its params mean. */
#include "skills/skill_operations.h"

struct named_models {
    const char *named;   /* a parameter: a model or a list of them; NULL ends the list */
    const char *setting; /* the configuration's key where the call says nothing */
    const char *address; /* the parameter that holds their address: with it a bare name is
                            that endpoint's own and nothing is looked up. Or NULL */
};

/* Goes on once the names that only an endpoint's list can tell (model_names.h) are
 * aliases of the room, for as long as the daemon runs; else the call ends as failed. */
void named_models_learn(struct skills *s, struct call *call, const json_t *params,
                        const struct named_models *of, skills_go *go);
