#pragma once
/* named_models: resolves the bare model names among a call's params before it asks
 * models. */
#include "skills/skill_operations.h"

struct named_models {
    const char *named; /* a parameter: a model or a list of models; NULL ends the list */
    const char *setting; /* the configuration key that applies if the call names none */
    /* the parameter that holds the models' address, or NULL. With an address, a bare name
     * belongs to that endpoint and is not looked up */
    const char *address;
};

/* Calls `go` once the names that only an endpoint's list can resolve (model_names.h) are
 * aliases in the room, for as long as the daemon runs; otherwise the call fails. */
void named_models_learn(struct skills *s, struct call *call, const json_t *params,
                        const struct named_models *of, skills_go *go);
