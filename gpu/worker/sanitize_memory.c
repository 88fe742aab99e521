#include "gpu/worker/sanitize_memory.h"

#include <unistd.h>

bool sanitize_key(int request, char ret[static HASH_HEX_SIZE]) {
    autofree char *text = xmalloc(SANITIZE_MAX_REQUEST + 1);
    ssize_t n = pread(request, text, SANITIZE_MAX_REQUEST + 1, 0);
    if (n < 0 || n > SANITIZE_MAX_REQUEST) {
        return false;
    }
    hash_bytes_hex(text, (size_t)n, ret);
    return true;
}

json_t *sanitize_recall(const struct sanitize_memory *m, const char *key) {
    for (size_t i = 0; i < SANITIZE_REMEMBERED; i++) {
        if (m->entries[i].report && !strcmp(m->entries[i].key, key)) {
            json_t *report = json_deep_copy(m->entries[i].report);
            json_object_set_new(report, "remembered", json_true());
            return report;
        }
    }
    return NULL;
}

static bool is_whole(const json_t *report) {
    const json_t *tools = json_object_get(report, "tools");
    json_each(tools, i, tool) {
        const char *outcome = json_get_string(tool, "outcome", "");
        if (strcmp(outcome, "clean") != 0 && strcmp(outcome, "findings") != 0) {
            return false;
        }
    }
    return json_array_size(tools) > 0;
}

void sanitize_remember(struct sanitize_memory *m, const char *key, const json_t *report) {
    if (!is_whole(report)) {
        return;
    }
    size_t at = m->next++ % SANITIZE_REMEMBERED;
    json_decref(m->entries[at].report);
    m->entries[at].report = json_deep_copy(report);
    snprintf(m->entries[at].key, HASH_HEX_SIZE, "%s", key);
}

void sanitize_memory_finish(struct sanitize_memory *m) {
    for (size_t i = 0; i < SANITIZE_REMEMBERED; i++) {
        json_decref(m->entries[i].report);
    }
    *m = (struct sanitize_memory){.next = 0};
}
