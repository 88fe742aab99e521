#include "daemon/resources.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/spec/spec_schema.h"
#include "protocol/schema/schema.h"

#include <errno.h>
#include <string.h>

#define SCHEMA_PREFIX "upskilld://schema/"

struct resources {
    const struct resource_provider *list[3];
    struct resource_provider schemas;
};

static const char check_spec_uri[] = SCHEMA_PREFIX "check-spec";

static json_t *check_spec_entry(void) {
    return json_pack(
        "{s:s,s:s,s:s,s:s,s:s}", "uri", check_spec_uri, "name", "check-spec", "title",
        "Schema of a check spec", "description",
        "What kernel/validate needs to know about a run: launch, arguments, inits, "
        "expected outputs. Also for NAME.check.json.",
        "mimeType", "application/schema+json");
}

static json_t *schema_entry(const struct operation *op) {
    autofree char *uri = xasprintf(SCHEMA_PREFIX "%s", op->name);
    autofree char *title = xasprintf("Schema of %s", op->name);
    return json_pack("{s:s,s:s,s:s,s:s,s:s}", "uri", uri, "name", op->name, "title",
                     title, "description", op->summary, "mimeType",
                     "application/schema+json");
}

static int list_schemas(void *data, const char *cursor, json_t **ret, char **next,
                        struct err *err) {
    const struct operation_table *table = data;
    if (cursor) {
        return err_set(err, -EINVAL, "there is one page only");
    }
    *ret = json_array();
    *next = NULL;
    json_array_append_new(*ret, check_spec_entry());
    for (size_t i = 0; i < operation_count(table); i++) {
        json_array_append_new(*ret, schema_entry(operation_at(table, i)));
    }
    return 0;
}

static json_t *contents(const char *uri, const char *text) {
    return json_pack("{s:[{s:s,s:s,s:s}]}", "contents", "uri", uri, "mimeType",
                     "application/schema+json", "text", text);
}

static int read_schema(void *data, const char *uri, json_t **ret, struct err *err) {
    const struct operation_table *table = data;
    if (!strcmp(uri, check_spec_uri)) {
        *ret = contents(uri, spec_schema());
        return 0;
    }
    const char *name = uri + strlen(SCHEMA_PREFIX);
    const struct operation *op = strncmp(uri, SCHEMA_PREFIX, strlen(SCHEMA_PREFIX)) == 0
                                     ? operation_find(table, name)
                                     : NULL;
    if (!op) {
        return err_set(err, -ENOENT, "no such resource: %.200s", uri);
    }
    autojson *both =
        json_pack("{s:O,s:o}", "params", schema_json(operation_params(table, op)),
                  "result", json_loads(op->result_schema, 0, NULL));
    autobuf text = BUF_INIT(1u << 20);
    json_write(&text, both);
    *ret = contents(uri, text.data);
    return 0;
}

const struct resource_provider *const *
resources_new(const struct operation_table *table,
              const struct resource_provider *skills) {
    struct resources *r = xcalloc(1, sizeof *r);
    r->schemas = (struct resource_provider){
        .prefix = SCHEMA_PREFIX,
        .list = list_schemas,
        .read = read_schema,
        .data = (void *)(uintptr_t)table,
    };
    r->list[0] = skills;
    r->list[1] = &r->schemas;
    return r->list;
}

void resources_free(const struct resource_provider *const *list) {
    free((void *)(uintptr_t)list);
}
