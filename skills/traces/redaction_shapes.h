#pragma once
/* redaction_shapes: secrets that are known by how they look: tokens by their prefixes,
 * JSON web tokens, blocks of private keys. Part of redaction_secrets. */
#include "skills/traces/redaction_secrets.h"

enum secret_alphabet {
    SECRET_ALNUM,  /* letters and digits */
    SECRET_WORD,   /* and '_' '-' */
    SECRET_DOTTED, /* and '.' '/' '+' '=' */
    SECRET_UPPER,  /* capitals and digits */
};

/* How many characters of the alphabet stand at s[at]. */
size_t secret_run(enum secret_alphabet alphabet, const char *s, size_t len, size_t at);
bool secret_starts(const char *s, size_t len, size_t at, const char *word);

bool secret_shape_at(const char *s, size_t len, size_t at, struct secret *ret);
