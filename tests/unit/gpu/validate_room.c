#include "validate_room.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/validate/kernel_validate.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HELLO "{\"toolkits\":[{\"major\":13}]}"
enum { PATIENCE_MS = 60000 };

void validate_room_open(struct validate_room *r, const char *compile,
                        const char *validate) {
    *r = (struct validate_room){0};
    snprintf(r->log, sizeof r->log, "/tmp/kernel-validate-%d", (int)getpid());
    unlink(r->log);
    signal(SIGPIPE, SIG_IGN);
    autofree char *answers =
        xasprintf("{\"compile\":[%s],\"validate\":[%s]}", compile, validate);
    const char *program = getenv("FAKE_WORKER");
    const char *words[] = {
        program ? program : "fake_worker", "plain", r->log, HELLO, "{}", answers, NULL};
    check_room_open_as(&r->base, words);
    r->table = operation_table_new();
    struct err err = {0};
    cr_assert_eq(operation_table_add(r->table, validate_operations,
                                     validate_operation_count, &err),
                 0, "%s", err.msg);
}

void validate_room_close(struct validate_room *r) {
    check_room_close(&r->base);
    operation_table_free(r->table);
    unlink(r->log);
}

void validate_room_told(struct call *call, void *data) {
    struct validate_room *r = data;
    const struct call_progress *p = call_progress(call);
    if (r->tellings < MAX_TOLD && p) {
        struct told *told = &r->told[r->tellings++];
        *told = (struct told){.done = p->done, .total = p->total};
        snprintf(told->message, sizeof told->message, "%s", p->message ? p->message : "");
    }
    if (r->tellings == r->cancel_at) {
        call_cancel(call);
    }
}

static void on_end(struct call *call, void *data) {
    (void)call;
    ((struct validate_room *)data)->ends++;
}

struct call *validate_room_begin(struct validate_room *r, json_t *params) {
    r->tellings = 0;
    r->ends = 0;
    struct call *call =
        call_start(operation_find(r->table, "kernel/validate"), params, &r->base.origin);
    r->view =
        (struct call_view){.progress = validate_room_told, .end = on_end, .data = r};
    call_attach(call, &r->view);
    return call;
}

void validate_room_wait(struct validate_room *r, struct call *call) {
    uint64_t end = clock_ms() + PATIENCE_MS;
    while (!r->ends && clock_ms() < end) {
        uv_run(&r->base.loop, UV_RUN_ONCE);
    }
    cr_assert_eq(r->ends, 1, "no end within a minute");
    cr_assert(call_ended(call));
}

json_t *validate_room_run(struct validate_room *r, json_t *params) {
    struct call *call = validate_room_begin(r, params);
    validate_room_wait(r, call);
    const struct call_failure *f = call_failure(call);
    cr_assert_eq(call_state(call), CALL_SUCCEEDED, "%s", f ? f->message : "cancelled");
    json_t *result = json_deep_copy(call_result(call));
    call_unref(call);
    return result;
}

void validate_room_refuses(struct validate_room *r, json_t *params, enum call_fault fault,
                           const char *reason, const char *words) {
    struct call *call = validate_room_begin(r, params);
    validate_room_wait(r, call);
    const struct call_failure *f = call_failure(call);
    cr_assert_not_null(f, "%s: state %d", reason, (int)call_state(call));
    cr_expect_str_eq(f->reason, reason, "%s: %s", reason, f->message);
    cr_expect_eq(f->fault, fault, "%s: %d", reason, (int)f->fault);
    cr_expect(strstr(f->message, words), "%s: %s", reason, f->message);
    call_unref(call);
}

json_t *validate_room_params(const char *more) {
    autofree char *text = xasprintf(
        "{\"source\":\"extern \\\"C\\\" __global__ void k(float *x, int n) {}\","
        "\"kernel\":\"k\",\"sizes\":[{\"n\":4},{\"n\":5}],"
        "\"launch\":{\"grid\":[1],\"block\":[32,2,1],\"shared_bytes\":1024},"
        "\"args\":[{\"name\":\"x\",\"type\":\"float32\",\"shape\":[\"n\"],\"output\":"
        "true},{\"name\":\"n\",\"type\":\"int32\",\"value\":\"n\"}]%s}",
        more);
    json_t *params = json_loads(text, 0, NULL);
    cr_assert_not_null(params, "%s", text);
    return params;
}

json_t *validate_room_asked(const struct validate_room *r, const char *method, size_t n) {
    FILE *log = fopen(r->log, "re");
    char *line = NULL;
    size_t size = 0;
    json_t *found = NULL;
    while (log && !found && getline(&line, &size, log) > 0) {
        autojson *request = json_loads(line, 0, NULL);
        if (!strcmp(json_get_string(request, "method", ""), method) && n-- == 0) {
            found = json_incref(json_object_get(request, "params"));
        }
    }
    if (log) {
        fclose(log);
    }
    free(line);
    return found;
}
