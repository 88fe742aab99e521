#pragma once
/* fetch_nvcc: `upskillctl setup programs`: NVIDIA's compiler wheels, pinned by digest, into
 * the folder that ./setup fills too ($XDG_DATA_HOME/upskilld/cuda). */
#include "clients/ctl/terminal.h"

/* ask: first say what would be fetched and whereto, and have it agreed to on the
 * terminal. 0: they are there; 1: not. */
int fetch_nvcc(const struct terminal *terminal, bool ask);
