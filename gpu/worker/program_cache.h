#pragma once
/* program_cache: compiled programs by the digest of their inputs, beneath
 * $XDG_CACHE_HOME/upskilld/programs. Bounded; the least recently used are deleted first.
 * Several workers may use it at once: an entry appears as a whole or not at all. */
#include "base/hash.h"
#include "base/json.h"

#define PROGRAM_CACHE_BYTES (256u << 20)

/* Copies the program to `path`. *ret_findings: its compiler's warnings, a new reference.
 * False: it is not cached. */
bool program_cache_take(const char key[static HASH_HEX_SIZE], const char *path,
                        json_t **ret_findings);
void program_cache_put(const char key[static HASH_HEX_SIZE], const char *path,
                       const json_t *findings);
