#include "gpu/reference/operator.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/parts.h"
#include "gpu/reference/operator_call.h"

enum { LOAD_LEAST = 1 << 14 }; /* elements that a thread loads, or more */

static const struct operator* const families[] = {
    operators_matmul,        operators_activations,  operators_elementwise,
    operators_norms,         operators_reductions,   operators_scans,
    operators_pooling,       operators_convolutions, operators_losses,
    operators_pair_losses,   operators_attention,    operators_indexing,
    operators_ordering,      operators_shapes,       operators_quantization,
    operators_interpolation,
};

const struct operator* operator_at(size_t i) {
    for (size_t f = 0; f < ARRAY_LEN(families); f++) {
        for (const struct operator* op = families[f]; op->name; op++) {
            if (!i--) {
                return op;
            }
        }
    }
    return NULL;
}

const struct operator* operator_find(const char *name) {
    const struct operator* op;
    for (size_t i = 0; (op = operator_at(i)); i++) {
        if (!strcmp(op->name, name)) {
            return op;
        }
    }
    return NULL;
}

/* --- roles --- */

static int role_index(const struct operator_role *roles, size_t max, const char *name) {
    for (size_t i = 0; i < max && roles[i].name; i++) {
        if (!strcmp(roles[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

int operator_input(const struct operator* op, const char *name) {
    return role_index(op->inputs, OPERATOR_MAX_INPUTS, name);
}

int operator_output(const struct operator* op, const char *name) {
    return role_index(op->outputs, OPERATOR_MAX_OUTPUTS, name);
}

/* --- attributes --- */

static const char *kind_text(const struct operator_attribute *a) {
    switch (a->kind) {
    case ATTRIBUTE_INTEGER:
        return "an integer";
    case ATTRIBUTE_NUMBER:
        return "a number";
    case ATTRIBUTE_BOOL:
        return "true or false";
    case ATTRIBUTE_INTEGERS:
        return "an integer or a list of up to 8";
    default:
        return a->choices;
    }
}

static int find_choice(const char *choices, const char *word) {
    size_t len = strlen(word);
    int i = 0;
    for (const char *at = choices; at; at = strchr(at, '|'), i++) {
        at += *at == '|';
        if (!strncmp(at, word, len) && (at[len] == '|' || !at[len])) {
            return i;
        }
    }
    return -1;
}

static bool read_integers(const json_t *json, struct operator_value *ret) {
    ret->count = json_is_array(json) ? json_array_size(json) : 1;
    if (!ret->count || ret->count > OPERATOR_MAX_RANK) {
        return false;
    }
    for (size_t i = 0; i < ret->count; i++) {
        const json_t *item = json_is_array(json) ? json_array_get(json, i) : json;
        ret->ints[i] = json_integer_value(item);
        if (!json_is_integer(item)) {
            return false;
        }
    }
    return true;
}

static bool read_number(const json_t *json, struct operator_value *ret) {
    const char *word = json_string_value(json);
    ret->number = json_number_value(json);
    if (word && !strcmp(word, "Infinity")) {
        ret->number = INFINITY;
    } else if (word && !strcmp(word, "-Infinity")) {
        ret->number = -INFINITY;
    } else {
        return json_is_number(json);
    }
    return true;
}

static bool read_value(const struct operator_attribute *a, const json_t *json,
                       struct operator_value *ret) {
    switch (a->kind) {
    case ATTRIBUTE_INTEGER:
        ret->ints[0] = json_integer_value(json);
        ret->number = (double)ret->ints[0];
        ret->count = 1;
        return json_is_integer(json);
    case ATTRIBUTE_NUMBER:
        return read_number(json, ret);
    case ATTRIBUTE_BOOL:
        ret->choice = json_is_true(json);
        return json_is_boolean(json);
    case ATTRIBUTE_INTEGERS:
        return read_integers(json, ret);
    default:
        ret->choice =
            json_is_string(json) ? find_choice(a->choices, json_string_value(json)) : -1;
        return ret->choice >= 0;
    }
}

static int set_attribute(struct operator_call *c, size_t i, const json_t *json,
                         struct err *err) {
    const struct operator_attribute *a = &c->op->attributes[i];
    struct operator_value *v = &c->attributes[i];
    bool nullable = a->nullable || (a->fallback && !strcmp(a->fallback, "null"));
    if (json_is_null(json) && nullable) {
        return 0;
    }
    v->given = true;
    if (!read_value(a, json, v)) {
        return err_set(err, -EINVAL, "%s.%s: %s is expected", c->at, a->name,
                       kind_text(a));
    }
    bool ranged = a->low != 0 || a->high != 0;
    if (ranged && (v->number < a->low || v->number > a->high)) {
        return err_set(err, -EINVAL, "%s.%s: %g is not within %g and %g", c->at, a->name,
                       v->number, a->low, a->high);
    }
    return 0;
}

static int default_attribute(struct operator_call *c, size_t i, struct err *err) {
    const struct operator_attribute *a = &c->op->attributes[i];
    if (!a->fallback) {
        return err_set(err, -EINVAL, "%s.%s: '%s' needs it: %s", c->at, a->name,
                       c->op->name, kind_text(a));
    }
    autojson *value = json_loads(a->fallback, JSON_DECODE_ANY, NULL);
    return set_attribute(c, i, value, err);
}

static int attribute_index(const struct operator* op, const char *name) {
    for (int i = 0; i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        if (!strcmp(op->attributes[i].name, name)) {
            return i;
        }
    }
    return -1;
}

static bool is_reserved(const char *name) {
    return !strcmp(name, "op") || !strcmp(name, "inputs") || !strcmp(name, "outputs") ||
           !strcmp(name, "then");
}

static int unknown_attribute(const struct operator_call *c, const char *name,
                             struct err *err) {
    struct nearest_name near = {.said = name, .limit = 3};
    autobuf known = BUF_INIT(256);
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && c->op->attributes[i].name; i++) {
        buf_addf(&known, "%s%s", i ? ", " : "", c->op->attributes[i].name);
        nearest_name_try(&near, c->op->attributes[i].name);
    }
    if (operator_input(c->op, name) >= 0 || operator_output(c->op, name) >= 0) {
        return err_set(err, -EINVAL, "%s.%.64s: it belongs in \"%s\"", c->at, name,
                       operator_input(c->op, name) >= 0 ? "inputs" : "outputs");
    }
    if (strstr(" expression values files kernel ", name)) {
        return err_set(err, -EINVAL,
                       "%s.%.64s: \"op\" and \"%.64s\" both say what is expected: keep "
                       "one",
                       c->at, name, name);
    }
    autofree char *meant = near.best
                               ? xasprintf("did you mean \"%s\"?", near.best)
                               : xasprintf("it has %s", known.len ? known.data : "none");
    return err_set(err, -EINVAL, "%s.%.64s: '%s' has no attribute '%.64s'; %s", c->at,
                   name, c->op->name, name, meant);
}

static int read_attributes(struct operator_call *c, const json_t *json, struct err *err) {
    bool seen[OPERATOR_MAX_ATTRIBUTES] = {0};
    json_each_member(json, name, value) {
        int i = attribute_index(c->op, name);
        if (i < 0 && is_reserved(name)) {
            continue;
        }
        int r = i < 0 ? unknown_attribute(c, name, err)
                      : set_attribute(c, (size_t)i, value, err);
        if (r < 0) {
            return r;
        }
        seen[i] = true;
    }
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && c->op->attributes[i].name; i++) {
        int r = seen[i] ? 0 : default_attribute(c, i, err);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* --- a call --- */

int operator_call_start(struct operator_call *c, const struct operator* op,
                        const char *at, const json_t *json, struct err *err) {
    *c = (struct operator_call){.op = op, .at = at};
    return read_attributes(c, json, err);
}

void operator_call_input(struct operator_call *c, size_t role, const char *name,
                         enum tensor_type type, const void *data, const int64_t *shape,
                         size_t rank) {
    struct operator_array *a = &c->in[role];
    *a = (struct operator_array){
        .name = name, .rank = rank, .count = 1, .type = type, .data = data};
    for (size_t i = 0; i < rank; i++) {
        a->shape[i] = shape[i];
        a->count *= shape[i];
    }
}

static int check_inputs(struct operator_call *c) {
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        const struct operator_role *role = &c->op->inputs[i];
        if (role->name && !role->optional && !c->in[i].name) {
            return err_set(c->err, -EINVAL, "%s.inputs.%s: '%s' needs it", c->at,
                           role->name, c->op->name);
        }
        if (c->in[i].count > OPERATOR_MAX_ELEMENTS) {
            return err_set(c->err, -EINVAL,
                           "%s: '%s' has %lld elements, an operator takes %lld at most",
                           c->at, c->in[i].name, (long long)c->in[i].count,
                           OPERATOR_MAX_ELEMENTS);
        }
    }
    return 0;
}

int operator_call_infer(struct operator_call *c, struct err *err) {
    c->err = err;
    c->flops = c->steps = 0;
    c->by_rows = 0;
    c->streams = c->fills = false;
    int r = check_inputs(c);
    return r < 0 ? r : c->op->infer(c);
}

/* --- memory --- */

static size_t bytes_of(const struct operator_array *a) {
    return (a->count ? (size_t)a->count : 1) * sizeof *a->v;
}

/* Contents are those of whoever had it before. */
static double *memory_take(struct operator_memory *m, size_t bytes) {
    for (size_t i = 0; m && i < ARRAY_LEN(m->blocks); i++) {
        if (m->blocks[i].v && m->blocks[i].bytes == bytes) {
            return take(m->blocks[i].v);
        }
    }
    double *v = xmalloc(bytes);
    memory_advise_huge(v, bytes);
    return v;
}

static void memory_give(struct operator_memory *m, double *v, size_t bytes) {
    size_t i = 0;
    while (m && i < ARRAY_LEN(m->blocks) && m->blocks[i].v) {
        i++;
    }
    if (!m || i == ARRAY_LEN(m->blocks)) {
        free(v);
        return;
    }
    m->blocks[i].v = v;
    m->blocks[i].bytes = bytes;
}

void operator_memory_finish(struct operator_memory *m) {
    for (size_t i = 0; i < ARRAY_LEN(m->blocks); i++) {
        free(m->blocks[i].v);
    }
    *m = (struct operator_memory){0};
}

static int load_some(void *data, int64_t from, int64_t to) {
    const struct operator_array *a = data;
    tensor_load(a->type, a->data, (uint64_t)from, (size_t)(to - from), a->v + from);
    return 0;
}

static void read_input(const struct operator_call *c, struct operator_array *a) {
    if (a->name && a->data && !a->v && a->type == TENSOR_FLOAT64 &&
        (uintptr_t)a->data % sizeof *a->v == 0) {
        a->v = (double *)(uintptr_t)a->data; /* no operator writes to its inputs */
        a->lent = true;
    } else if (a->name && a->data && !a->v) {
        a->v = memory_take(c->budget->memory, bytes_of(a));
        (void)parts_run(a->count, LOAD_LEAST, load_some, a, NULL);
    }
}

static int check_budget(struct operator_call *c) {
    double elements = 0;
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        elements += (double)c->in[i].count;
    }
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
        elements += (double)c->out[i].count;
    }
    c->steps += elements;
    if (c->steps > (double)c->budget->steps) {
        return err_set(
            c->err, -ETIME,
            "%s: '%s' takes some %.3g steps, %.3g are left: give smaller sizes", c->at,
            c->op->name, c->steps, (double)c->budget->steps);
    }
    c->budget->steps -= (uint64_t)c->steps;
    return call_continue(c);
}

static void make_output(const struct operator_call *c, struct operator_array *a) {
    if (!a->lent) {
        a->v = memory_take(c->budget->memory, bytes_of(a));
    }
    if (!c->fills) {
        memset(a->v, 0, bytes_of(a));
    }
}

int operator_call_compute(struct operator_call *c, struct operator_budget *budget,
                          struct err *err) {
    c->err = err;
    c->budget = budget;
    int r = check_budget(c);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; !c->streams && i < OPERATOR_MAX_INPUTS; i++) {
        read_input(c, &c->in[i]);
    }
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS && c->out[i].name; i++) {
        make_output(c, &c->out[i]);
    }
    return c->op->compute(c);
}

void operator_call_output(struct operator_call *c, size_t output, double *v) {
    c->out[output].v = v;
    c->out[output].lent = true;
}

static void array_free(const struct operator_call *c, struct operator_array *a) {
    if (a->v && !a->lent) {
        memory_give(c->budget ? c->budget->memory : NULL, a->v, bytes_of(a));
    }
}

void operator_call_finish(struct operator_call *c) {
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        array_free(c, &c->in[i]);
    }
    for (size_t i = 0; i < OPERATOR_MAX_OUTPUTS; i++) {
        array_free(c, &c->out[i]);
    }
    *c = (struct operator_call){0};
}
