#pragma once
/* redaction: removes secrets and personal paths from a text before it leaves the machine.
 *
 * Removed everywhere:
 * - tokens by their shape, private keys (also cut off, also in base64), digests of
 * passwords (redaction_shapes.c); credentials in URLs and in user:secret@host;
 * - values of assignments, JSON, YAML, TOML, INI and XML members, flags and headers whose
 *   name means secret, lines of .pgpass (redaction_names.c);
 * - the second part of a login (basicAuth("ann", "…")), what a password's command prints,
 *   the part of an address behind "token" (redaction_pairs.c);
 * - secrets passed to some hundred commands by short flags, as arguments or by standard
 *   input, also inside bash -c '…', ssh host '…', docker exec (redaction_commands.h);
 * - passwords, tokens and logins that a sentence names (redaction_prose.c);
 * - random words, and near a word such as "token" hexadecimal ones too
 *   (redaction_random.c);
 * - e-mail addresses, home folders (/home/x, /Users/x, C:\Users\x), the user's and the
 *   host's name.
 * Each becomes a placeholder that keeps the meaning: <api-key>, <private-key>, <secret>,
 * <token>, <credentials>, <cookie>, <email>, <home>, <user>, <host>.
 *
 * Not removed: hashes, identifiers, mangled names, variables ($TOKEN), examples in angle
 * brackets. A secret without any context cannot be recognised, such as a dictionary word
 * under a meaningless name.
 *
 * Deterministic. One pass; the time is linear in the text, because the context of a place
 * is bounded (COMMAND_BYTES, a header's line 2 KiB, a private key 16 KiB).
 * Redacted text stays unchanged when redacted again. */
#include "base/mem.h"

struct redaction;

/* Learns the names of this user, home and host; extra (NULL-terminated, may be NULL):
 * further literal texts to hide, such as the values of key variables in the environment
 * (those under 6 bytes are ignored, because they would match too often). */
struct redaction *redaction_new(const char *const *extra);
void redaction_free(struct redaction *r);
/* Learns the names of people and hosts in home folders and shell prompts ("ann@box:~$")
 * of a text, and its secrets that are no plain words, so that they are hidden without
 * context too. For traces, learn from every event before applying. Not for two threads
 * at once. */
void redaction_learn(struct redaction *r, const char *text, size_t len);
/* Appends the redacted text; returns the number of replacements. At
 * out's limit the rest is left out (out->full). Any number of threads. */
size_t redaction_apply(const struct redaction *r, struct buf *out, const char *text,
                       size_t len);
/* Calls `found` for every secret (not for personal data) until it returns false. */
void redaction_find(const struct redaction *r, const char *text, size_t len,
                    bool (*found)(size_t start, size_t end, void *data), void *data);
