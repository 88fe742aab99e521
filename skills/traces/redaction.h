#pragma once
/* redaction: secrets and personal paths leave a text before it leaves the machine.
 *
 * Known token shapes (the table of safety_patterns.c and more), private keys, values of
 * assignments whose name says secret (KEY, TOKEN, PASSWORD, SECRET …), Authorization
 * headers, credentials in URLs, e-mail addresses, the home folder, the user's and the
 * host's name. Each becomes a placeholder that keeps sense: <api-key>, <home>, <user>,
 * <host>, <email>. Deterministic. Linear in the text. */
#include <stddef.h>

struct buf;
struct redaction;

/* Learns the names of this user, home and host; extra (NULL-terminated, may be NULL):
 * further literal texts to hide, such as the values of key variables in the environment. */
struct redaction *redaction_new(const char *const *extra);
void redaction_free(struct redaction *r);
/* Append text without what must not leave; returns how many things were replaced. */
size_t redaction_apply(const struct redaction *r, struct buf *out, const char *text,
                       size_t len);
