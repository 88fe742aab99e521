#pragma once
/* sanitize_memory: remembers the reports of compute-sanitizer for kernels that are
 * validated again.
 *
 * Each of its tools takes about a second, a validation without them a third of one, and
 * an agent validates the same kernel many times. The same kernel, spec and checks get the
 * same report, whatever the seed, if every tool finished. */
#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"

enum { SANITIZE_REMEMBERED = 32, SANITIZE_MAX_REQUEST = 4 << 20 /* bytes of text */ };

struct sanitize_memory {
    struct {
        char key[HASH_HEX_SIZE];
        json_t *report;
    } entries[SANITIZE_REMEMBERED];
    size_t next;
};

/* Hashes the attachment of a `validate` request, except seed and limits. False: it is too
 * long to be remembered. */
bool sanitize_key(int request, char ret[static HASH_HEX_SIZE]);
/* A new reference with "remembered": true; NULL: none. */
json_t *sanitize_recall(const struct sanitize_memory *m, const char *key);
/* Not stolen; ignored if a tool did not finish. */
void sanitize_remember(struct sanitize_memory *m, const char *key, const json_t *report);
void sanitize_memory_finish(struct sanitize_memory *m);
