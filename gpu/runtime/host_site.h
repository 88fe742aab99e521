#pragma once
/* host_site: where in the program's own code a call of the library stands. */
#include "base/json.h"

struct host_site {
    unsigned count;
    void *frames[8]; /* return addresses outside of the library, innermost first */
};

void host_site_take(struct host_site *ret); /* of the calling thread */
/* Of one return address. */
struct host_site host_site_of(void *return_address);
/* The array "host" of run_report.h, new reference. */
json_t *host_site_json(const struct host_site *s);
