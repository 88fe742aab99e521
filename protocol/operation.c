#define LOG_MODULE "operation"
#include "protocol/operation.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "base/log.h"
#include "protocol/schema/schema.h"

struct entry {
    const struct operation *op;
    struct schema *params; /* NULL: nobody has asked for it yet */
    bool withheld;         /* as a tool */
};

struct operation_table {
    struct entry *entries;
    size_t count;
    struct operation_table *next; /* all tables of the process */
};

static struct operation_table *all_tables;

struct operation_table *operation_table_new(void) {
    struct operation_table *t = xcalloc(1, sizeof *t);
    t->next = all_tables;
    all_tables = t;
    return t;
}

void operation_table_free(struct operation_table *t) {
    if (!t) {
        return;
    }
    struct operation_table **at = &all_tables;
    while (*at != t) {
        at = &(*at)->next;
    }
    *at = t->next;
    for (size_t i = 0; i < t->count; i++) {
        schema_free(t->entries[i].params);
    }
    free(t->entries);
    free(t);
}

static int check_names(const struct operation_table *t, const struct operation *op,
                       struct err *err) {
    if (operation_find(t, op->name)) {
        return err_set(err, -EEXIST, "%s: the name is used twice", op->name);
    }
    if (op->tool && operation_find_tool(t, op->tool)) {
        return err_set(err, -EEXIST, "%s: the tool %s is used twice", op->name, op->tool);
    }
    return 0;
}

int operation_table_add(struct operation_table *t, const struct operation *ops,
                        size_t count, struct err *err) {
    t->entries = xreallocarray(t->entries, t->count + count, sizeof *t->entries);
    for (size_t i = 0; i < count; i++) {
        int rc = check_names(t, &ops[i], err);
        if (rc < 0) {
            return rc;
        }
        t->entries[t->count++] = (struct entry){.op = &ops[i]};
    }
    return 0;
}

size_t operation_count(const struct operation_table *t) {
    return t->count;
}

const struct operation *operation_at(const struct operation_table *t, size_t i) {
    return i < t->count ? t->entries[i].op : NULL;
}

const struct operation *operation_find(const struct operation_table *t,
                                       const char *name) {
    size_t at = first_of(i, 0, t->count, strcmp(t->entries[i].op->name, name) == 0);
    return at < t->count ? t->entries[at].op : NULL;
}

static struct entry *tool_entry(const struct operation_table *t, const char *tool) {
    for (size_t i = 0; i < t->count; i++) {
        const struct operation *op = t->entries[i].op;
        if (op->tool && strcmp(op->tool, tool) == 0) {
            return &t->entries[i];
        }
    }
    return NULL;
}

const struct operation *operation_find_tool(const struct operation_table *t,
                                            const char *tool) {
    const struct entry *e = tool_entry(t, tool);
    return e && !e->withheld ? e->op : NULL;
}

const char *operation_tool(const struct operation_table *t, const struct operation *op) {
    return op->tool && operation_find_tool(t, op->tool) == op ? op->tool : NULL;
}

static int refuse_tool(const struct operation_table *t, const char *name,
                       struct err *err) {
    autobuf names = BUF_INIT(400);
    for (size_t i = 0; i < t->count; i++) {
        if (t->entries[i].op->tool) {
            buf_addf(&names, "%s%s", names.len ? ", " : "", t->entries[i].op->tool);
        }
    }
    return err_set(err, -EINVAL, "tools: there is no tool \"%.64s\", but %s", name,
                   names.data);
}

int operation_table_offer(struct operation_table *t, const json_t *tools,
                          struct err *err) {
    for (size_t i = 0; i < t->count; i++) {
        t->entries[i].withheld = true;
    }
    json_each(tools, i, name) {
        struct entry *e = tool_entry(t, json_string_value(name));
        if (!e) {
            return refuse_tool(t, json_string_value(name), err);
        }
        e->withheld = false;
    }
    return 0;
}

/* Compiling all schemas at the start would cost more than the rest of it. */
static const struct schema *entry_params(struct entry *e) {
    struct err err = {0};
    if (!e->params && schema_new(e->op->params_schema, &e->params, &err) < 0) {
        log_error("%s: %s", e->op->name, err.msg);
        abort(); /* a test compiles the schemas of all operations */
    }
    return e->params;
}

const struct schema *operation_params(const struct operation_table *t,
                                      const struct operation *op) {
    for (const struct operation_table *at = t ? t : all_tables; at;
         at = t ? NULL : at->next) {
        for (size_t i = 0; i < at->count; i++) {
            if (at->entries[i].op == op) {
                return entry_params(&at->entries[i]);
            }
        }
    }
    return NULL;
}

/* --- OpenRPC --- */

static json_t *flag_names(unsigned flags) {
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {{OPERATION_READ_ONLY, "read-only"},
                 {OPERATION_LONG, "long"},
                 {OPERATION_OPEN_WORLD, "open-world"},
                 {OPERATION_DESTRUCTIVE, "destructive"},
                 {OPERATION_IDEMPOTENT, "idempotent"}};
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (flags & names[i].flag) {
            json_array_append_new(list, json_string(names[i].name));
        }
    }
    return list;
}

/* OpenRPC's params are named one by one; ours are one object schema, whose members they
 * are. */
static json_t *discover_params(const json_t *schema) {
    json_t *params = json_array();
    const json_t *required = json_object_get(schema, "required");
    json_each_member(json_object_get(schema, "properties"), name, property) {
        bool is_needed =
            json_any(required, needed, strcmp(json_string_value(needed), name) == 0);
        json_array_append_new(
            params, json_pack("{s:s,s:o*,s:O}", "name", name, "required",
                              is_needed ? json_true() : NULL, "schema", property));
    }
    return params;
}

static json_t *discover_examples(const struct operation *op) {
    json_t *params = json_array();
    autojson *values = json_loads(op->example, 0, NULL);
    json_each_member(values, name, value) {
        json_array_append_new(params,
                              json_pack("{s:s,s:O}", "name", name, "value", value));
    }
    return json_pack("[{s:s,s:o}]", "name", op->name, "params", params);
}

static json_t *discover_method(struct entry *e) {
    const struct operation *op = e->op;
    const json_t *params = schema_json(entry_params(e));
    json_t *result =
        op->result_schema ? json_loads(op->result_schema, 0, NULL) : json_object();
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:{s:s,s:o},s:o*,s:s*,s:o,s:O}", "name",
                     op->name, "summary", op->title, "description", op->summary,
                     "paramStructure", "by-name", "params", discover_params(params),
                     "result", "name", "result", "schema", result, "examples",
                     op->example ? discover_examples(op) : NULL, "x-tool", op->tool,
                     "x-flags", flag_names(op->flags), "x-params", params);
}

json_t *operation_table_discover(const struct operation_table *t) {
    json_t *methods = json_list(i, 0, t->count, discover_method(&t->entries[i]));
    return json_pack("{s:s,s:{s:s,s:s},s:o}", "openrpc", "1.3.2", "info", "title",
                     "upskilld", "version", UPSKILLD_VERSION, "methods", methods);
}
