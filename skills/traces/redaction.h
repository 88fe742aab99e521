#pragma once
/* redaction: secrets and personal paths leave a text before it leaves the machine.
 *
 * Known token shapes, private keys, values of assignments, JSON members, flags and
 * headers whose name says secret (KEY, TOKEN, PASSWORD, SECRET …), credentials in URLs,
 * e-mail addresses, home folders (also of other people: /home/x, /Users/x, C:\Users\x),
 * the user's and the host's name. Each becomes a placeholder that keeps sense: <api-key>,
 * <private-key>, <secret>, <token>, <credentials>, <cookie>, <email>, <home>, <user>,
 * <host>. Deterministic; linear in the text; what is redacted already stays as it is.
 * Hashes, identifiers, variables ($TOKEN) and examples in angle brackets are left alone.
 */
#include <stddef.h>

struct buf;
struct redaction;

/* Learns the names of this user, home and host; extra (NULL-terminated, may be NULL):
 * further literal texts to hide, such as the values of key variables in the environment
 * (those under 6 bytes are not taken: they would hide half of every text). */
struct redaction *redaction_new(const char *const *extra);
void redaction_free(struct redaction *r);
/* Learns the names of people and hosts that a text shows in home folders and in shell
 * prompts ("ann@box:~$"), so that they are hidden where they stand alone too. Of traces
 * from elsewhere: learn from every event before applying. Not for two threads at once. */
void redaction_learn(struct redaction *r, const char *text, size_t len);
/* Append text without what must not leave; returns how many things were replaced. At
 * out's limit the rest is left out (out->full). Any number of threads. */
size_t redaction_apply(const struct redaction *r, struct buf *out, const char *text,
                       size_t len);
