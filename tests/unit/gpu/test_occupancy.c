#include "gpu/facts/occupancy.h"
#include "test_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <limits.h>
#include <string.h>

TestSuite(occupancy);

struct launch {
    char arch[8];
    int registers, threads, static_shared, dynamic_shared, barriers;
    int blocks, by_registers, by_shared, by_warps, by_blocks, by_barriers;
};

static bool launch_read(const char *line, struct launch *l) {
    return sscanf(line, "%7s %d %d %d %d %d %d %d %d %d %d %d", l->arch, &l->registers,
                  &l->threads, &l->static_shared, &l->dynamic_shared, &l->barriers,
                  &l->blocks, &l->by_registers, &l->by_shared, &l->by_warps,
                  &l->by_blocks, &l->by_barriers) == 12;
}

static int limit(int value) {
    return value < 0 ? INT_MAX : value;
}

/* The same as NVIDIA's own calculator (data/make_occupancy.c), limit by limit. */
Test(occupancy, agrees_with_cuda_occupancy_h) {
    size_t len, count = 0;
    autofree char *text = test_data_read("occupancy.txt", &len);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        struct launch l;
        struct occupancy o;
        cr_assert(launch_read(line, &l));
        occupancy_compute(&o, device_limits_find(l.arch), l.registers, l.threads,
                          l.static_shared, l.dynamic_shared, l.barriers);
        cr_expect(eq(int, o.blocks_per_sm, l.blocks), "%s", line);
        cr_expect(eq(int, o.by_registers, limit(l.by_registers)), "%s", line);
        cr_expect(eq(int, o.by_shared, limit(l.by_shared)), "%s", line);
        cr_expect(eq(int, o.by_warps, limit(l.by_warps)), "%s", line);
        cr_expect(eq(int, o.by_blocks, limit(l.by_blocks)), "%s", line);
        cr_expect(eq(int, o.by_barriers, limit(l.by_barriers)), "%s", line);
        count++;
    }
    cr_expect(ge(u64, count, 350));
}

/* Percent of the warps there are, and every resource that holds it there. */
Test(occupancy, tells_percent_and_limits) {
    static struct {
        const char *arch;
        int registers, threads, static_shared, dynamic_shared;
        char json[160];
    } cases[] = {
        {"sm_90a", 40, 256, 1200, 0,
         "{\"block_threads\":256,\"dynamic_shared_bytes\":0,\"blocks_per_sm\":6,"
         "\"percent\":75.0,\"limited_by\":[\"registers\"]}"},
        {"sm_90", 24, 32, 0, 0,
         "{\"block_threads\":32,\"dynamic_shared_bytes\":0,\"blocks_per_sm\":32,"
         "\"percent\":50.0,\"limited_by\":[\"blocks\"]}"},
        {"sm_90", 168, 384, 0, 200000,
         "{\"block_threads\":384,\"dynamic_shared_bytes\":200000,\"blocks_per_sm\":1,"
         "\"percent\":18.75,\"limited_by\":[\"registers\",\"shared_memory\"]}"},
        {"sm_90", 16, 1025, 0, 0,
         "{\"block_threads\":1025,\"dynamic_shared_bytes\":0,\"blocks_per_sm\":0,"
         "\"percent\":0.0,\"limited_by\":[\"warps\"]}"},
        {"sm_86", 16, 256, 0, 0,
         "{\"block_threads\":256,\"dynamic_shared_bytes\":0,\"blocks_per_sm\":6,"
         "\"percent\":100.0,\"limited_by\":[\"warps\"]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct occupancy o;
        occupancy_compute(&o, device_limits_find(cases[i].arch), cases[i].registers,
                          cases[i].threads, cases[i].static_shared,
                          cases[i].dynamic_shared, 0);
        json_t *json = occupancy_to_json(&o, cases[i].threads, cases[i].dynamic_shared);
        autofree char *text = json_dumps(json, JSON_COMPACT);
        cr_expect(eq(str, text, cases[i].json));
        json_decref(json);
    }
}

/* No figures are made up for a device we know none of. */
Test(occupancy, knows_the_devices_it_knows) {
    cr_expect(device_limits_find("sm_90a") == device_limits_find("sm_90"));
    cr_expect(device_limits_find("sm_75") == NULL);
    static const char *const none[] = {"", "sm_9", "sm_900", "sm_90b", "sm_90ab"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        cr_expect(device_limits_find(none[i]) == NULL, "%s", none[i]);
    }
    cr_expect(device_limits_find("sm_100") == NULL);
    cr_expect(device_limits_find("") == NULL);
    cr_expect(device_limits_find(NULL) == NULL);
}

/* Figures no launch can have are answered with no blocks, not with overflow. */
Test(occupancy, bears_absurd_figures) {
    struct occupancy o;
    const struct device_limits *d = device_limits_find("sm_90");
    occupancy_compute(&o, d, INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX);
    cr_expect(eq(int, o.blocks_per_sm, 0));
    occupancy_compute(&o, d, -1, -5, -7, -9, -11);
    cr_expect(eq(int, o.blocks_per_sm, 32));
    occupancy_compute(&o, d, 0, 0, 0, 0, 0);
    cr_expect(eq(int, o.blocks_per_sm, 32));
}
