#include "base/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t clock_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t clock_ms(void) {
    return clock_us() / 1000;
}

void clock_iso8601(char ret[static 25]) {
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(ret, 25, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(ret + n, 25 - n, ".%03uZ", (unsigned)(now.tv_nsec / 1000000) % 1000);
}
