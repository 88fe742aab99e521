#pragma once
/* host_site: the place in the program's own code that called the library. */
#include "base/json.h"

struct host_site {
    unsigned count;
    /* Return addresses outside the library, innermost first; an exception that nobody
     * catches takes eight. */
    void *frames[16];
};

bool is_of_library(const void *code);
void host_site_take(struct host_site *ret); /* for the calling thread */
/* For one return address. */
struct host_site host_site_of(void *return_address);
bool host_site_same(const struct host_site *a, const struct host_site *b);
/* The array "host" of run_report.h, new reference. */
json_t *host_site_json(const struct host_site *s);
