/* The workers of a pool in daemon/status. */
#include "gpu/pool/pool_internal.h"
#include "base/find.h"

/* "idle" has ended or was never started, "failed" could not be started and rests. */
static const char *state_name(const struct slot *slot) {
    return slot_is_ready(slot)                     ? "ready"
           : slot->link                            ? "starting"
           : slot->failures && slot->last_error[0] ? "failed"
                                                   : "idle";
}

static void add_text(json_t *status, const char *key, const char *text) {
    if (text && *text) {
        json_object_set_new(status, key, json_clean_z(text));
    }
}

static void add_greeting(json_t *status, const struct slot *slot) {
    if (!slot->hello) {
        return;
    }
    add_text(status, "host", json_get_string(slot->hello, "host", ""));
    json_object_set_new(status, "greeted_ms", json_integer(slot->greeted_ms));
    json_object_set(status, "hello", slot->hello);
    json_object_set_new(status, "cuda", json_boolean(slot_has_driver(slot)));
    json_object_set(status, "gpus", slot->devices); /* NULL: it is not set */
}

static json_t *slot_status(const struct slot *slot) {
    json_t *argv = json_array();
    for (char **arg = slot->argv; *arg; arg++) {
        json_array_append_new(argv, json_clean_z(*arg));
    }
    json_t *status =
        json_pack("{s:o, s:o, s:b, s:s, s:i, s:i, s:i}", "name", json_clean_z(slot->name),
                  "argv", argv, "local", (int)slot->local, "state", state_name(slot),
                  "running", (int)slot->running, "parallel", (int)slot->parallel,
                  "queued", (int)slot->pool->queued);
    if (slot->link) {
        json_object_set_new(status, "pid", json_integer(worker_link_pid(slot->link)));
    }
    add_greeting(status, slot);
    if (slot->link && !slot_is_ready(slot)) {
        add_text(status, "says", worker_link_words(slot->link));
    }
    add_text(status, "last_error", slot->last_error);
    return status;
}

json_t *pool_status(const struct pool *pool) {
    return json_list(i, 0, pool->slot_count, slot_status(&pool->slots[i]));
}
