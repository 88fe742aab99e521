#pragma once
/* redaction_secrets: secrets by their shape and by the names they are given. */
#include <stdbool.h>
#include <stddef.h>

struct secret {
    size_t start, end;       /* of what is replaced */
    const char *placeholder; /* by this */
};
/* Something secret begins at the word that begins at s[at]: a token, "-----BEGIN …", or a
 * name whose value is one. */
bool secret_at(const char *s, size_t len, size_t at, struct secret *ret);
/* s[at] is the ':' of "://": credentials before the host. */
bool secret_in_url(const char *s, size_t len, size_t at, struct secret *ret);
