#include "skills/models/model_retry.h"

#include <math.h>

#define LONGEST_MS (366LL * 24 * 3600 * 1000)

static int64_t to_ms(double value, double unit) {
    double ms = value * unit;
    return ms > 0 && ms < (double)LONGEST_MS ? (int64_t)ceil(ms)
           : ms > 0                          ? LONGEST_MS
                                             : -1;
}

/* The whole of s as a decimal number, or a negative one. */
static double read_number(const char *s) {
    char *end;
    if (!s || strspn(s, "0123456789.") == 0) {
        return -1;
    }
    double value = strtod(s, &end);
    return end[strspn(end, " \t")] == '\0' ? value : -1;
}

int64_t retry_after_ms(const char *ms, const char *after, time_t now) {
    double value = read_number(ms);
    if (value > 0) {
        return to_ms(value, 1);
    }
    value = read_number(after);
    if (value > 0) {
        return to_ms(value, 1000);
    }
    struct tm date = {0};
    if (after && strptime(after, "%a, %d %b %Y %H:%M:%S GMT", &date)) {
        return to_ms(difftime(timegm(&date), now), 1000);
    }
    return -1;
}

int64_t retry_delay_ms(int64_t asked_ms, unsigned attempt, bool busy, double random) {
    if (asked_ms > 0) {
        return asked_ms + (int64_t)((double)asked_ms * 0.1 * random);
    }
    double most = busy ? 30000 : 8000;
    double delay = 500 * pow(2, attempt > 10 ? 10 : attempt ? attempt - 1 : 0);
    return (int64_t)(fmin(delay, most) * (1 - 0.25 * random));
}
