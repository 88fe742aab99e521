#pragma once
/* sanitize_memory: what compute-sanitizer said of kernels that come again.
 *
 * Each of its tools takes about a second, a validation without them a third of one, and
 * an agent validates the same kernel again and again. The same kernel, spec and checks,
 * whatever the seed, get the same report, if every tool came to its end in it. */
#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { SANITIZE_REMEMBERED = 32, SANITIZE_MAX_REQUEST = 4 << 20 /* bytes of text */ };

struct sanitize_memory {
    struct {
        char key[HASH_HEX_SIZE];
        json_t *report;
    } entries[SANITIZE_REMEMBERED];
    size_t next;
};

/* Of what came attached to a `validate` request: all of it but seed and limits. False:
 * too long to be kept. */
bool sanitize_key(int request, char ret[static HASH_HEX_SIZE]);
/* A new reference with "remembered": true; NULL. */
json_t *sanitize_recall(const struct sanitize_memory *m, const char *key);
/* Not stolen; left when a tool did not finish. */
void sanitize_remember(struct sanitize_memory *m, const char *key, const json_t *report);
void sanitize_memory_finish(struct sanitize_memory *m);
