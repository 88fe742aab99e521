#pragma once
/* launch_record: reports the first launch of one kernel to the process that started the
 * program: its shape, the bytes of its parameters, and the memory that they point to
 * (run_report.h). Then the program ends, since it was started only for this. The caller
 * has the queue's turn. */
#include "gpu/device/module.h"

/* config's "record": {"kernel": name}; NULL: nothing is recorded. Call it once. */
void launch_record_open(const json_t *record);
/* If true, the host waits for each launch, because its work after the recorded one does
 * not matter and may fail. */
bool launch_record_is_open(void);
/* Before and after a launch. */
void launch_record_before(const struct kernel *k, const struct launch_shape *shape,
                          const uint8_t *params);
void launch_record_after(void);
