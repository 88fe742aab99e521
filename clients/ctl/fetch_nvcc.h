#pragma once
/* fetch_nvcc: `upskillctl setup programs`: downloads NVIDIA's compiler wheels, pinned by
 * digest, into the folder that ./setup also uses ($XDG_DATA_HOME/upskilld/cuda). */
#include "clients/ctl/terminal.h"

/* ask: first show what would be downloaded and where to, and ask for consent on the
 * terminal. 0: they are installed; 1: not. */
int fetch_nvcc(const struct terminal *terminal, bool ask);
