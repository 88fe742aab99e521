#pragma once
/* clock: monotonic time and timestamps. */
#include "base/mem.h"

uint64_t clock_ms(void); /* CLOCK_MONOTONIC, milliseconds */
uint64_t clock_us(void); /* CLOCK_MONOTONIC, microseconds */
/* Now in UTC as "2026-01-02T03:04:05.678Z"; ret holds at least 25 bytes. */
void clock_iso8601(char ret[static 25]);
