#pragma once
/* validator: the check kernel_passes of an evaluation is judged by kernel/validate. */

/* Hands skills/ a validator that runs kernels through gpu/. Once, before the first
 * evaluation. */
void validator_set(void);
