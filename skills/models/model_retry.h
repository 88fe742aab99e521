#pragma once
/* model_retry: how long to wait before asking again.
 *
 * retry-after-ms, then retry-after (seconds or an HTTP date), else exponential: 0.5 s
 * doubling up to 8 s, or up to 30 s for an endpoint that is busy. Jitter shortens our own
 * delays by up to a quarter and lengthens the endpoint's by up to a tenth, so that calls
 * that failed together do not return together. Pure. */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* What the headers ask for in ms, or -1 when they ask for nothing that can be read. NULL
 * = absent. now: for dates. */
int64_t retry_after_ms(const char *retry_after_ms, const char *retry_after, time_t now);
/* asked_ms: from above. attempt: 1 for the first retry. random: in [0, 1). */
int64_t retry_delay_ms(int64_t asked_ms, unsigned attempt, bool busy, double random);
