#pragma once
/* model_retry: the delay before a retry: retry-after-ms, then retry-after (seconds or an
 * HTTP date), otherwise exponential: 0.5 s doubling up to 8 s, or up to 30 s for a busy
 * endpoint. Jitter shortens our own delays by up to a quarter and lengthens the
 * endpoint's by up to a tenth, so that calls that failed together are not repeated
 * together. Pure. */
#include "base/mem.h"

#include <time.h>

/* The delay in ms that the headers request, or -1 if they contain none that can be
 * parsed. NULL = absent. now: for dates. */
int64_t retry_after_ms(const char *retry_after_ms, const char *retry_after, time_t now);
/* asked_ms: from retry_after_ms. attempt: 1 for the first retry. random: in [0, 1). */
int64_t retry_delay_ms(int64_t asked_ms, unsigned attempt, bool busy, double random);
