#include "tests/unit/gpu/machine_room.h"

#include "base/buf.h"
#include "base/err.h"

#include <criterion/criterion.h>
#include <string.h>

struct machine_room *room_new(const char *body, const struct machine_config *config) {
    struct machine_room *r = xcalloc(1, sizeof *r);
    autobuf text = BUF_INIT(1 << 20);
    if (strncmp(body, ".version", 8) != 0) {
        buf_adds(&text, ".version 9.0\n.target sm_90a\n.address_size 64\n");
    }
    buf_adds(&text, body);
    struct err err = {0};
    if (ptx_module_read(&r->module, text.data, text.len, &err)) {
        cr_assert_fail("the module is not read: %s", err.msg);
    }
    if (config) {
        r->config = *config;
    } else {
        r->config =
            (struct machine_config){.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
    }
    json_t *unsupported = NULL;
    if (machine_new(&r->machine, r->module, NULL, &r->config, &unsupported, &err)) {
        char *list = unsupported ? json_dumps(unsupported, 0) : NULL;
        cr_assert_fail("no machine: %s %s", err.msg, list ? list : "");
    }
    return r;
}

void room_free(struct machine_room *r) {
    machine_free(r->machine);
    ptx_module_free(r->module);
    free(r);
}

static void add_param(struct machine_room *r, const void *v, size_t bytes) {
    size_t at = (r->param_bytes + bytes - 1) / bytes * bytes;
    memcpy(r->params + at, v, bytes);
    r->param_bytes = at + bytes;
}

void *room_buffer(struct machine_room *r, const char *name, uint64_t bytes,
                  unsigned flags) {
    unsigned k = r->buffers++;
    struct err err = {0};
    if (machine_alloc(r->machine, name, bytes, flags, &r->address[k], &r->host[k],
                      &err)) {
        cr_assert_fail("no buffer: %s", err.msg);
    }
    add_param(r, &r->address[k], 8);
    return r->host[k];
}

void room_u32(struct machine_room *r, uint32_t v) {
    add_param(r, &v, sizeof v);
}

void room_u64(struct machine_room *r, uint64_t v) {
    add_param(r, &v, sizeof v);
}

enum machine_end room_launch(struct machine_room *r, uint32_t blocks, uint32_t threads) {
    struct machine_launch launch = {.entry = "k",
                                    .grid = {blocks, 1, 1},
                                    .block = {threads, 1, 1},
                                    .params = r->params,
                                    .param_bytes = r->param_bytes};
    struct err err = {0};
    r->end = machine_launch(r->machine, &launch, &err);
    snprintf(r->refused, sizeof r->refused, "%s", err.msg);
    return r->end;
}

long room_found(struct machine_room *r, const char *code, json_t **ret_first) {
    json_t *list = machine_findings(r->machine, NULL), *item;
    size_t k;
    long count = 0;
    json_array_foreach(list, k, item) {
        if (strcmp(json_get_string(item, "code", ""), code) == 0) {
            if (count == 0 && ret_first) {
                *ret_first = json_incref(item);
            }
            count += (long)json_get_integer(item, "count", 0);
        }
    }
    json_decref(list);
    return count;
}

char *room_findings(struct machine_room *r) {
    json_t *list = machine_findings(r->machine, NULL);
    char *text = json_dumps(list, JSON_INDENT(1));
    json_decref(list);
    return text;
}
