#include "gpu/facts/kernel_facts.h"
#include "gpu/facts/occupancy.h"
#include "protocol/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A kernel as the result tells it; what is not stated is 0. */
struct judged {
    json_t *json; /* borrowed */
    const struct device_limits *device;
    json_t *findings;
    enum finding_severity fatal; /* of a launch that fails */
    const char *name;
    int registers, shared, barriers, max_threads;
    int spill_stores, spill_loads;
    int required[3]; /* 0 = none */
    int cluster[3];  /* 0 = none */
};

struct launch {
    int block[3], cluster[3];
    int threads, dynamic_shared;
};

/* Larger than any figure of a launch that could succeed, small enough to add and
 * multiply. */
#define MAX_FIGURE (1 << 29)

static int figure(const json_t *object, const char *key) {
    json_int_t value = json_get_integer(object, key, 0);
    return value < 0 ? 0 : value > MAX_FIGURE ? MAX_FIGURE : (int)value;
}

static void triple_read(const json_t *array, int ret[3]) {
    for (size_t i = 0; i < 3; i++) {
        json_int_t value = json_integer_value(json_array_get(array, i));
        ret[i] = value < 0 ? 0 : value > MAX_FIGURE ? MAX_FIGURE : (int)value;
    }
}

static int triple_count(const int triple[3]) {
    long long count = 1;
    for (size_t i = 0; i < 3; i++) {
        count *= triple[i] > 0 ? triple[i] : 1;
        if (count > MAX_FIGURE) {
            return MAX_FIGURE;
        }
    }
    return (int)count;
}

/* The name alone, without namespaces and template arguments, is what stands in the
 * source. */
static int name_length(const char *name) {
    size_t len = strcspn(name, "<"), start = 0;
    for (size_t i = 0; i + 1 < len; i++) {
        if (name[i] == ':' && name[i + 1] == ':') {
            start = i + 2;
        }
    }
    return (int)(len - start);
}

__attribute__((format(printf, 4, 5))) static void report(const struct judged *k,
                                                         const char *code,
                                                         enum finding_severity severity,
                                                         const char *format, ...) {
    va_list args;
    char *message;
    va_start(args, format);
    int len = vasprintf(&message, format, args);
    va_end(args);
    if (len < 0) {
        return;
    }
    struct finding_span span = {.line = figure(k->json, "line"),
                                .column = figure(k->json, "column")};
    if (span.line > 0 && span.column > 0) {
        span.end_line = span.line;
        span.end_column = span.column + name_length(k->name);
    }
    json_t *finding = finding_new("upskilld", code, severity, message,
                                  json_get_string(k->json, "file", NULL), &span);
    json_object_set(finding, "kernel", json_object_get(k->json, "name"));
    json_array_append_new(k->findings, finding);
    free(message);
}

static void judged_read(struct judged *ret, json_t *json,
                        const struct device_limits *device) {
    *ret = (struct judged){
        .json = json,
        .device = device,
        .name = json_get_string(json, "name", "?"),
        .registers = figure(json, "registers"),
        .shared = figure(json, "static_shared_bytes"),
        .barriers = figure(json, "barriers"),
        .max_threads = figure(json, "max_threads"),
        .spill_stores = figure(json, "spill_store_bytes"),
        .spill_loads = figure(json, "spill_load_bytes"),
    };
    triple_read(json_object_get(json, "required_block"), ret->required);
    triple_read(json_object_get(json, "cluster"), ret->cluster);
}

static void launch_read(struct launch *ret, const json_t *json) {
    *ret = (struct launch){.dynamic_shared = figure(json, "dynamic_shared_bytes")};
    triple_read(json_object_get(json, "block"), ret->block);
    triple_read(json_object_get(json, "cluster"), ret->cluster);
    ret->threads = triple_count(ret->block);
}

static void compute(const struct judged *k, int threads, int dynamic_shared,
                    struct occupancy *ret) {
    occupancy_compute(ret, k->device, k->registers, threads, k->shared, dynamic_shared,
                      k->barriers);
}

static void judge_spills(const struct judged *k) {
    if (k->spill_stores + k->spill_loads > 0) {
        report(
            k, "register_spills", FINDING_WARNING,
            "%s spills registers to local memory: %d bytes of stores and %d bytes of "
            "loads per thread beside its %d registers; keep fewer values alive at once, "
            "or allow more registers with smaller __launch_bounds__ (now %d threads)",
            k->name, k->spill_stores, k->spill_loads, k->registers, k->max_threads);
    }
}

static void judge_block(const struct judged *k, const struct launch *l) {
    int device_max = k->device->max_threads_per_block;
    if (l->threads > device_max) {
        report(
            k, "not_launchable", k->fatal,
            "a block of %d threads is more than the %d the device allows: use a smaller "
            "block and more of them",
            l->threads, device_max);
    } else if (k->required[0] > 0 &&
               memcmp(k->required, l->block, sizeof l->block) != 0) {
        report(
            k, "block_differs_from_required", k->fatal,
            "%s is compiled for blocks of exactly %dx%dx%d threads (__block_size__) and "
            "cannot be launched with %dx%dx%d",
            k->name, k->required[0], k->required[1], k->required[2], l->block[0],
            l->block[1], l->block[2]);
    } else if (k->max_threads > 0 && l->threads > k->max_threads) {
        report(k, "block_exceeds_launch_bounds", k->fatal,
               "a block of %d threads is more than the %d that %s's __launch_bounds__ "
               "allows: the launch fails; raise the bound or use a smaller block",
               l->threads, k->max_threads, k->name);
    } else if (l->block[2] > 64) {
        report(k, "not_launchable", k->fatal,
               "a block's z size is at most 64, not %d: put the threads in x or y",
               l->block[2]);
    }
}

static void judge_shared(const struct judged *k, const struct launch *l) {
    const struct device_limits *d = k->device;
    int total = k->shared + l->dynamic_shared;
    if (total > d->shared_per_block_optin) {
        report(
            k, "shared_memory_exceeds_block", k->fatal,
            "%s needs %d bytes of shared memory per block (%d static, %d dynamic) and a "
            "block can have %d: use smaller tiles or fewer stages",
            k->name, total, k->shared, l->dynamic_shared, d->shared_per_block_optin);
    } else if (l->dynamic_shared > 0 && total > d->shared_per_block) {
        report(
            k, "dynamic_shared_needs_attribute", FINDING_INFO,
            "%d bytes of shared memory are more than the %d a launch gets unasked: call "
            "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %d) "
            "first",
            total, d->shared_per_block, k->name, l->dynamic_shared);
    }
}

/* The largest block that can be launched with the kernel's registers. */
static int fitting_threads(const struct judged *k) {
    struct occupancy o;
    for (int threads = k->device->max_threads_per_block; threads > 0; threads -= 32) {
        compute(k, threads, 0, &o);
        if (o.by_registers > 0) {
            return threads;
        }
    }
    return 0;
}

/* Threads and shared memory past their limits have words of their own. */
static void judge_occupancy(const struct judged *k, const struct launch *l,
                            const struct occupancy *o) {
    if (o->blocks_per_sm > 0 || o->by_warps == 0 || o->by_shared == 0) {
        return;
    }
    if (o->by_registers == 0) {
        report(
            k, "not_launchable", k->fatal,
            "a block of %d threads with %d registers each does not fit the %d registers "
            "of a block: use at most %d threads, or __launch_bounds__(%d) so that the "
            "compiler uses fewer registers",
            l->threads, k->registers, k->device->registers_per_block, fitting_threads(k),
            l->threads);
    } else {
        report(k, "not_launchable", k->fatal,
               "%s uses %d barriers and a multiprocessor has %d", k->name, k->barriers,
               k->device->barriers_per_sm);
    }
}

static void judge_cluster(const struct judged *k, const int cluster[3]) {
    const struct device_limits *d = k->device;
    int blocks = triple_count(cluster);
    if (cluster[0] == 0 || blocks <= 1) {
        return;
    }
    if (d->max_cluster == 0) {
        report(k, "cluster_too_large", k->fatal,
               "%s is for clusters of %d blocks, which %s does not have", k->name, blocks,
               d->arch);
    } else if (blocks > d->max_cluster) {
        report(k, "cluster_too_large", k->fatal,
               "a cluster of %d blocks is more than the %d the device allows", blocks,
               d->max_cluster);
    } else if (blocks > d->portable_cluster) {
        report(k, "cluster_too_large", FINDING_WARNING,
               "a cluster of %d blocks is more than the portable %d: it needs "
               "cudaFuncAttributeNonPortableClusterSizeAllowed and may not fit every GPU",
               blocks, d->portable_cluster);
    }
}

static void add_occupancy(const struct judged *k, json_t *list, int threads,
                          int dynamic_shared, struct occupancy *ret) {
    compute(k, threads, dynamic_shared, ret);
    json_array_append_new(list, occupancy_to_json(ret, threads, dynamic_shared));
}

/* Without a launch: what the usual block sizes would give. */
static void list_usual(const struct judged *k, json_t *list) {
    static const int sizes[] = {64, 128, 256, 512, 1024};
    struct occupancy o;
    if (k->required[0] > 0) {
        add_occupancy(k, list, triple_count(k->required), 0, &o);
        return;
    }
    int max = k->max_threads > 0 ? k->max_threads : k->device->max_threads_per_block;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        if (sizes[i] <= max) {
            add_occupancy(k, list, sizes[i], 0, &o);
        }
    }
    if (json_array_size(list) == 0) {
        add_occupancy(k, list, max, 0, &o);
    }
}

static void judge_launch(const struct judged *k, const struct launch *l, json_t *list) {
    struct occupancy o;
    add_occupancy(k, list, l->threads, l->dynamic_shared, &o);
    judge_block(k, l);
    judge_shared(k, l);
    judge_occupancy(k, l, &o);
}

void kernel_facts_judge(json_t *kernels, const char *arch, const json_t *launch,
                        json_t *findings) {
    const struct device_limits *device = device_limits_find(arch);
    json_t *json;
    size_t i;
    json_array_foreach(kernels, i, json) {
        json_t *list = json_array();
        json_object_set_new(json, "occupancy", list);
        if (!device) {
            continue;
        }
        struct judged k;
        struct launch l = {0};
        judged_read(&k, json, device);
        k.findings = findings;
        /* Of several kernels the launch may be meant for another one. */
        k.fatal = json_array_size(kernels) > 1 ? FINDING_WARNING : FINDING_ERROR;
        judge_spills(&k);
        if (json_is_object(launch)) {
            launch_read(&l, launch);
            judge_launch(&k, &l, list);
        } else {
            list_usual(&k, list);
        }
        judge_cluster(&k, l.cluster[0] > 0 ? l.cluster : k.cluster);
    }
}
