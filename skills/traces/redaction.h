#pragma once
/* redaction: secrets and personal paths leave a text before it leaves the machine.
 *
 * Taken off, wherever it stands:
 * - tokens by their shape, private keys (also cut off, also in base64), digests of
 * passwords (redaction_shapes.c); credentials in URLs and in user:secret@host;
 * - values of assignments, JSON, YAML, TOML, INI and XML members, flags and headers whose
 *   name says secret, lines of .pgpass (redaction_names.c);
 * - what some hundred commands take as secret by short flags, as arguments or by standard
 *   input, also inside bash -c '…', ssh host '…', docker exec (redaction_commands.h);
 * - what a sentence says a password, token or login is (redaction_prose.c);
 * - words that chance wrote, and near a word such as "token" hexadecimal ones too
 *   (redaction_random.c);
 * - e-mail addresses, home folders (/home/x, /Users/x, C:\Users\x), the user's and the
 *   host's name.
 * Each becomes a placeholder that keeps sense: <api-key>, <private-key>, <secret>,
 * <token>, <credentials>, <cookie>, <email>, <home>, <user>, <host>.
 *
 * Left alone: hashes, identifiers, mangled names, variables ($TOKEN), examples in angle
 * brackets. What nothing around it gives away cannot be known: a word of a dictionary
 * under a name that says nothing.
 *
 * Deterministic. One pass; the time grows with the text alone, since what is looked at
 * around a place is bounded (COMMAND_BYTES, a header's line 2 KiB, a private key 16 KiB).
 * What is redacted already stays as it is. */
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct redaction;

/* Learns the names of this user, home and host; extra (NULL-terminated, may be NULL):
 * further literal texts to hide, such as the values of key variables in the environment
 * (those under 6 bytes are not taken: they would hide half of every text). */
struct redaction *redaction_new(const char *const *extra);
void redaction_free(struct redaction *r);
/* Learns the names of people and hosts that a text shows in home folders and in shell
 * prompts ("ann@box:~$"), and the secrets in it that are no plain words, so that they are
 * hidden where they stand alone too. Of traces: learn from every event before applying.
 * Not for two threads at once. */
void redaction_learn(struct redaction *r, const char *text, size_t len);
/* Append text without what must not leave; returns how many things were replaced. At
 * out's limit the rest is left out (out->full). Any number of threads. */
size_t redaction_apply(const struct redaction *r, struct buf *out, const char *text,
                       size_t len);
/* Every secret in its turn, until `found` says false; what is personal counts for none.
 */
void redaction_find(const struct redaction *r, const char *text, size_t len,
                    bool (*found)(size_t start, size_t end, void *data), void *data);
