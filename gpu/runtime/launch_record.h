#pragma once
/* launch_record: the first launch of one kernel, told to whoever began the program: its
 * shape, the bytes of its parameters, and the memory behind them (run_report.h). The
 * program ends behind it: it was started for this. All of the queue's turn. */
#include "gpu/device/module.h"

/* config's "record": {"kernel": name}; NULL: nothing is recorded. Once. */
void launch_record_open(const json_t *record);
/* Then the host waits for each launch: what it does behind the recorded one is nobody's
 * concern, and may fail. */
bool launch_record_is_open(void);
/* Around a launch. */
void launch_record_before(const struct kernel *k, const struct launch_shape *shape,
                          const uint8_t *params);
void launch_record_after(void);
