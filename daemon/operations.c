#include "daemon/operations.h"

#include "base/buf.h"
#include "base/err.h"
#include "daemon/job_cancel.operation.h"
#include "daemon/job_list.operation.h"
#include "daemon/job_status.operation.h"
#include "daemon/jobs.h"
#include "daemon/prompts.h"
#include "daemon/skill_serving.h"
#include "gpu/draft/kernel_init.h"
#include "gpu/editor/cuda_document.h"
#include "gpu/editor/spec_document.h"
#include "gpu/program/kernel_run.h"
#include "gpu/spec/spec_schema.h"
#include "gpu/validate/kernel_validate.h"
#include "protocol/schema/schema.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/finding/find_operation.h"
#include "skills/generation/generation.h"
#include "skills/runs/run_operations.h"
#include "skills/skills.h"
#include "skills/triggers/trigger_operation.h"

#define CANCEL_WAIT_S 10 /* for a job that must stop something first */

/* --- job/status --- */

static struct jobs *jobs_of(const struct call *call) {
    return call_lent(call_origin(call), JOBS_LENT);
}

struct job_wait {
    struct call *call; /* the one that waits */
    struct call *job;  /* the watched one; a reference */
    struct call_view view;
    uv_timer_t timer;
    const char *id; /* in call's params */
    bool cancels;   /* the call is job/cancel, which tells the state alone */
};

static void wait_closed(uv_handle_t *handle) {
    struct job_wait *w = container_of(handle, struct job_wait, timer);
    call_unref(w->job);
    call_unref(w->call);
    free(w);
}

/* status is stolen; NULL if the job is unknown or forgotten. */
static void reply_status(struct call *call, json_t *status, const char *id) {
    if (status) {
        call_reply(call, status);
    } else {
        call_fail(call, CALL_NOT_FOUND, "unknown_job", "job/list shows all jobs",
                  "no job has the id %.64s", id);
    }
}

static void reply_state(struct call *call, const char *id, const char *state) {
    call_reply(call, json_pack("{s:s,s:s}", "job", id, "state", state));
}

static void wait_end(struct job_wait *w) {
    call_detach(w->job, &w->view);
    call_on_cancel(w->call, NULL, NULL);
    if (w->cancels) {
        reply_state(w->call, w->id, call_state_name(call_state(w->job)));
    } else {
        reply_status(w->call, jobs_status(jobs_of(w->call), w->id, NULL), w->id);
    }
    uv_close((uv_handle_t *)&w->timer, wait_closed);
}

static void wait_over(uv_timer_t *timer) {
    wait_end(container_of(timer, struct job_wait, timer));
}

/* The view is called while the job changes hands; answer from the timer, which is due
 * now. */
static void job_ended(struct call *, void *data) {
    struct job_wait *w = data;
    uv_timer_start(&w->timer, wait_over, 0, 0);
}

static void job_progressed(struct call *job, void *data) {
    if (call_state(job) == CALL_INPUT_REQUIRED) {
        job_ended(job, data);
    }
}

static void wait_cancelled(struct call *call, void *data) {
    struct job_wait *w = data;
    call_detach(w->job, &w->view);
    call_stopped(call);
    uv_close((uv_handle_t *)&w->timer, wait_closed);
}

static void wait_start(struct call *call, struct call *job, const char *id,
                       unsigned seconds, bool cancels) {
    struct job_wait *w = xcalloc(1, sizeof *w);
    w->cancels = cancels;
    w->call = call_ref(call);
    w->job = call_ref(job);
    w->id = id;
    w->view = (struct call_view){.progress = job_progressed, .end = job_ended, .data = w};
    uv_timer_init(call_origin(call)->loop, &w->timer);
    uv_timer_start(&w->timer, wait_over, 1000ull * seconds, 0);
    call_on_cancel(call, wait_cancelled, w);
    call_attach(job, &w->view);
}

static void job_status_start(struct call *call, const json_t *params) {
    const char *id = json_get_string(params, "job", "");
    struct call *live = NULL;
    json_t *status = jobs_status(jobs_of(call), id, &live);
    unsigned seconds = (unsigned)json_get_integer(params, "wait_s", 0);
    if (live && call_state(live) == CALL_RUNNING && seconds) {
        json_decref(status);
        wait_start(call, live, id, seconds, false);
    } else {
        reply_status(call, status, id);
    }
}

/* --- job/cancel, job/list --- */

static void job_cancel_start(struct call *call, const json_t *params) {
    const char *id = json_get_string(params, "job", "");
    struct call *live = NULL;
    autojson *status = jobs_status(jobs_of(call), id, &live);
    if (!status) {
        reply_status(call, NULL, id);
        return;
    }
    const char *state = json_get_string(status, "state", "");
    if (!live &&
        (strcmp(state, "running") == 0 || strcmp(state, "input_required") == 0)) {
        call_fail(call, CALL_REFUSED, "other_daemon", "cancel it where it was started",
                  "the job runs in another upskilld");
        return;
    }
    if (!live) {
        reply_state(call, id, state);
        return;
    }
    call_ref(live);
    call_cancel(live);
    if (call_ended(live)) {
        reply_state(call, id, call_state_name(call_state(live)));
    } else {
        wait_start(call, live, id, CANCEL_WAIT_S, true);
    }
    call_unref(live);
}

static void job_list_start(struct call *call, const json_t *params) {
    json_t *list = jobs_list(jobs_of(call), json_get_string(params, "state", NULL),
                             (unsigned)json_get_integer(params, "limit", 50));
    call_reply(call, json_pack("{s:o}", "jobs", list));
}

static const struct operation job_operations[] = {
    {JOB_STATUS_OPERATION, .start = job_status_start},
    {JOB_CANCEL_OPERATION, .start = job_cancel_start},
    {JOB_LIST_OPERATION, .start = job_list_start},
};

/* --- resources: what the daemon itself offers to read over MCP ---
 *
 * upskilld://schema/<operation> is the full JSON Schema of an operation's params and
 * result; the tools' own schemas are kept short for models. upskilld://schema/check-spec
 * is that of a check spec, whole. */

#define SCHEMA_PREFIX "upskilld://schema/"

/* This and the skills. */
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

static const struct resource_provider *const *
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

/* --- the tables --- */

static const struct document_kind *const kinds[] = {
    &cuda_document_kind, &spec_document_kind, &skill_document_kind,
    &build_toml_document_kind, NULL};
static const struct document_kinds document_kinds = {.list = kinds};

static int add_operations(struct operation_table *ops, const struct operation *status,
                          struct err *err) {
    const struct {
        const struct operation *list;
        size_t count;
    } all[] = {{gpu_operations, gpu_operation_count},
               {validate_operations, validate_operation_count},
               {program_operations, program_operation_count},
               {init_operations, init_operation_count},
               {find_operations, find_operation_count},
               {skills_operations, skills_operation_count},
               {run_operations, run_operation_count},
               {evaluation_operations, evaluation_operation_count},
               {trigger_operations, trigger_operation_count},
               {generate_operations, generate_operation_count},
               {job_operations, ARRAY_LEN(job_operations)},
               {status, 1}};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(all); i++) {
        rc = operation_table_add(ops, all[i].list, all[i].count, err);
    }
    return rc;
}

int tables_init(struct face_tables *tables, const struct skill_serving *serving,
                const struct operation *status, const json_t *tools, struct err *err) {
    struct operation_table *ops = operation_table_new();
    int rc = add_operations(ops, status, err);
    rc = rc == 0 && tools ? operation_table_offer(ops, tools, err) : rc;
    if (rc < 0) {
        operation_table_free(ops);
        return rc;
    }
    const struct extension **extensions = xcalloc(2, sizeof *extensions);
    extensions[0] = skill_serving_extension(serving);
    *tables = (struct face_tables){
        .operations = ops,
        .kinds = &document_kinds,
        .resources = resources_new(ops, skill_serving_resources(serving)),
        .prompts = prompts_new(serving),
        .extensions = extensions,
    };
    return 0;
}

void tables_finish(struct face_tables *tables) {
    free((void *)(uintptr_t)tables->resources);
    prompts_free(tables->prompts);
    free((void *)(uintptr_t)tables->extensions);
    operation_table_free((struct operation_table *)(uintptr_t)tables->operations);
}
