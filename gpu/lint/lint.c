#include "gpu/lint/lint.h"

#include "gpu/lint/source_launches.h"

#define RULE(name) lint_##name,
#define OTHER(name)
static lint_compiled_rule *const compiled_rules[] = {LINT_RULES(RULE, OTHER)};
static lint_launch_rule *const launch_rules[] = {LINT_RULES(OTHER, RULE)};

/* --- what rules are given --- */

static void extents_read(const json_t *array, int ret[3]) {
    for (size_t i = 0; i < 3; i++) {
        ret[i] = lint_limit(json_integer_value(json_array_get(array, i)));
    }
}

static struct lint_kernel
kernel_read(const json_t *json, const struct device_limits *device, json_t *findings) {
    struct lint_kernel k = {
        .json = json,
        .device = device,
        .findings = findings,
        .name = json_get_string(json, "name", "?"),
        .registers = lint_figure(json, "registers"),
        .shared = lint_figure(json, "static_shared_bytes"),
        .barriers = lint_figure(json, "barriers"),
        .max_threads = lint_figure(json, "max_threads"),
        .spill_stores = lint_figure(json, "spill_store_bytes"),
        .spill_loads = lint_figure(json, "spill_load_bytes"),
    };
    extents_read(json_object_get(json, "required_block"), k.required);
    extents_read(json_object_get(json, "cluster"), k.cluster);
    return k;
}

static void launch_read(struct lint_launch *ret, const json_t *json) {
    *ret =
        (struct lint_launch){.dynamic_shared = lint_figure(json, "dynamic_shared_bytes")};
    extents_read(json_object_get(json, "block"), ret->block);
    extents_read(json_object_get(json, "cluster"), ret->cluster);
    extents_read(json_object_get(json, "grid"), ret->grid);
    ret->threads = lint_count(ret->block);
}

/* --- occupancy --- */

static void add_occupancy(const struct lint_kernel *k, json_t *list, int threads,
                          int dynamic_shared) {
    struct occupancy o;
    lint_occupancy(k, threads, dynamic_shared, &o);
    json_t *entry = occupancy_to_json(&o, threads, dynamic_shared);
    if (k->at) {
        json_object_set_new(entry, "source_launch", json_true());
        json_object_set(entry, "line", json_object_get(k->at, "line"));
    }
    json_array_append_new(list, entry);
}

/* Whether the list has an entry for such blocks by now. */
static bool is_listed(const json_t *list, int threads, int dynamic_shared) {
    const json_t *entry;
    size_t i;
    json_array_foreach(list, i, entry) {
        if (json_get_integer(entry, "block_threads", 0) == threads &&
            json_get_integer(entry, "dynamic_shared_bytes", 0) == dynamic_shared) {
            return true;
        }
    }
    return false;
}

/* Without a launch: what the usual block sizes would give. */
static void list_usual(const struct lint_kernel *k, json_t *list) {
    static const int sizes[] = {64, 128, 256, 512, 1024};
    int max = k->max_threads > 0 ? k->max_threads : k->device->max_threads_per_block;
    for (size_t i = 0; k->required[0] == 0 && i < ARRAY_LEN(sizes); i++) {
        if (sizes[i] <= max && !is_listed(list, sizes[i], 0)) {
            add_occupancy(k, list, sizes[i], 0);
        }
    }
    if (k->required[0] > 0 && !is_listed(list, lint_count(k->required), 0)) {
        add_occupancy(k, list, lint_count(k->required), 0);
    } else if (json_array_size(list) == 0) {
        add_occupancy(k, list, max, 0);
    }
}

/* --- the rules --- */

void lint_compiled(json_t *kernels, const struct compile_options *options,
                   const struct source_set *sources, json_t *findings) {
    const struct device_limits *device = device_limits_find(options->arch);
    const json_t *json;
    size_t i;
    if (sources) {
        source_launches_add(kernels, sources);
    }
    json_array_foreach(kernels, i, json) {
        struct lint_kernel k = kernel_read(json, device, findings);
        k.options = options;
        k.sources = sources;
        for (size_t r = 0; r < ARRAY_LEN(compiled_rules); r++) {
            compiled_rules[r](&k);
        }
    }
}

static void ask_rules(const struct lint_kernel *k, const struct lint_launch *l) {
    for (size_t i = 0; i < ARRAY_LEN(launch_rules); i++) {
        launch_rules[i](k, l);
    }
}

static void look_at_launch(const struct lint_kernel *k, const struct lint_launch *l,
                           json_t *list) {
    if (!k->at || !is_listed(list, l->threads, l->dynamic_shared)) {
        add_occupancy(k, list, l->threads, l->dynamic_shared);
    }
    ask_rules(k, l);
}

/* The source's own. Where the bytes of shared memory are no constant, they are taken for
 * 0: a rule that is broken then is broken by any more of them; an occupancy is not told.
 */
static void look_at_source(struct lint_kernel *k, json_t *list) {
    const json_t *launches = json_object_get(k->json, "source_launches");
    struct lint_launch l;
    size_t i;
    json_array_foreach(launches, i, k->at) {
        launch_read(&l, k->at);
        if (json_object_get(k->at, "dynamic_shared_bytes")) {
            look_at_launch(k, &l, list);
        } else {
            ask_rules(k, &l);
        }
    }
    k->at = NULL;
}

static void look_at_kernel(struct lint_kernel *k, const json_t *launch, json_t *list) {
    struct lint_launch l;
    launch_read(&l, launch);
    if (json_is_object(launch)) {
        look_at_launch(k, &l, list);
    } else {
        look_at_source(k, list);
        list_usual(k, list);
    }
    if (k->cluster[0] > 0 || l.cluster[0] > 0) { /* a kernel may state its own */
        lint_cluster_size(k, &l);
    }
}

void lint_launched(json_t *kernels, const char *arch, const json_t *launch,
                   json_t *findings) {
    const struct device_limits *device = device_limits_find(arch);
    json_t *json;
    size_t i;
    json_array_foreach(kernels, i, json) {
        json_t *list = json_array();
        json_object_set_new(json, "occupancy", list);
        if (device) {
            struct lint_kernel k = kernel_read(json, device, findings);
            k.alone = json_array_size(kernels) == 1;
            look_at_kernel(&k, launch, list);
        }
        json_object_del(json, "source_launches");
    }
}
