#include "gpu/facts/kernel_facts.h"

#include "gpu/facts/kernel_index.h"

struct fact {
    const struct cubin_kernel *kernel;
    const struct kernel_spot *spot; /* NULL: not found in the sources */
    char *name;
    size_t order;
};

static int by_order(const void *pa, const void *pb) {
    const struct fact *a = pa, *b = pb;
    if (a->order != b->order) {
        return a->order < b->order ? -1 : 1;
    }
    return strcmp(a->kernel->symbol, b->kernel->symbol);
}

static json_t *triple_json(const int triple[3]) {
    return json_pack("[i, i, i]", triple[0], triple[1], triple[2]);
}

static void set_stated(json_t *json, const char *key, int value) {
    if (value >= 0) {
        json_object_set_new(json, key, json_integer(value));
    }
}

static void set_place(json_t *json, const struct kernel_spot *spot) {
    if (!spot) {
        return;
    }
    json_object_set_new(json, "file", json_clean_z(spot->file->display));
    json_object_set_new(json, "line", json_integer(spot->span.line));
    json_object_set_new(json, "column", json_integer(spot->span.column));
    if (spot->parameters) {
        json_object_set(json, "parameters", spot->parameters);
    }
}

/* Spills are in no attribute: only ptxas's log tells them. */
static void set_spills(json_t *json, const json_t *usage) {
    static const char *const keys[] = {"spill_store_bytes", "spill_load_bytes"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *value = json_object_get(usage, keys[i]);
        if (json_is_integer(value)) {
            json_object_set(json, keys[i], value);
        }
    }
}

static json_t *fact_json(const struct fact *fact, const json_t *usage) {
    const struct cubin_kernel *k = fact->kernel;
    json_t *json = json_object();
    json_object_set_new(json, "name", json_clean_z(fact->name));
    json_object_set_new(json, "symbol", json_clean_z(k->symbol));
    set_place(json, fact->spot);
    set_stated(json, "registers", k->registers);
    set_spills(json, json_object_get(usage, k->symbol));
    set_stated(json, "stack_bytes", k->stack_bytes);
    set_stated(json, "static_shared_bytes", k->static_shared_bytes);
    set_stated(json, "barriers", k->barriers);
    set_stated(json, "param_bytes", k->param_bytes);
    set_stated(json, "max_threads", k->max_threads);
    json_object_set_new(json, "code_bytes", json_integer((json_int_t)k->code_bytes));
    if (k->required_threads[0] > 0) {
        json_object_set_new(json, "required_block", triple_json(k->required_threads));
    }
    if (k->cluster[0] > 0) {
        json_object_set_new(json, "cluster", triple_json(k->cluster));
    }
    return json;
}

static void fact_init(struct fact *fact, const struct cubin_kernel *kernel,
                      const struct kernel_index *index) {
    fact->kernel = kernel;
    fact->name = kernel_name_new(kernel->symbol);
    fact->spot = kernel_index_find(index, kernel->symbol, fact->name);
    fact->order = fact->spot ? kernel_index_order(index, fact->spot) : SIZE_MAX;
}

json_t *kernel_facts_new(const struct cubin *cubin, const json_t *usage,
                         const struct source_set *sources) {
    autoptr(kernel_index_free) struct kernel_index *index = kernel_index_new(sources);
    autofree struct fact *facts = xcalloc(cubin->count + 1, sizeof *facts);
    for (size_t i = 0; i < cubin->count; i++) {
        fact_init(&facts[i], &cubin->kernels[i], index);
    }
    qsort(facts, cubin->count, sizeof *facts, by_order);
    json_t *kernels = json_array();
    for (size_t i = 0; i < cubin->count; i++) {
        json_array_append_new(kernels, fact_json(&facts[i], usage));
        free(facts[i].name);
    }
    return kernels;
}
