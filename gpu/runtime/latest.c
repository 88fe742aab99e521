#include "gpu/runtime/latest.h"

#define KEPT 64u

static struct latest_launch latest[KEPT];

void latest_note(uint32_t number, const struct kernel *k, const struct launch_shape *shape,
                 const struct host_site *site) {
    struct latest_launch *l = &latest[number % KEPT];
    l->number = number;
    l->shape = *shape;
    l->site = *site;
    snprintf(l->symbol, sizeof l->symbol, "%s", k->entry->name);
}

const struct latest_launch *latest_find(uint32_t number) {
    const struct latest_launch *l = &latest[number % KEPT];
    return number && l->number == number ? l : NULL;
}
