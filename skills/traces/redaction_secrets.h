#pragma once
/* redaction_secrets: the parts of redaction; each finds one kind of secret at a position
 * of a text. All look at a bounded range around the position. */
#include "base/mem.h"

struct secret {
    size_t start, end;       /* the replaced range */
    const char *placeholder; /* its replacement */
    bool personal;           /* a name, a folder or an address rather than a secret */
};

/* --- by name (redaction_names.c) --- */

enum naming {
    NAMES_NOTHING,
    NAMES_KEY,    /* any key: only a certainly random value */
    NAMES_CODE,   /* pin, otp: digits, or base32 */
    NAMES_TOKEN,  /* api key, token …: a value with letters and digits */
    NAMES_SECRET, /* password …: any value that is not code */
    NAMES_HEADER, /* the rest of the line */
    NAMES_COOKIE,
};
enum naming secret_naming(const char *name, size_t len);
/* Whether the n bytes at s end with a word, in any case. */
bool secret_has_end(const char *s, size_t n, const char *tail);
/* Whether a name with a secret value begins at s[at]: NAME=…, "name": …, --name …,
 * header: …, <name>…</name>. */
bool secret_named(const char *s, size_t len, size_t at, struct secret *ret);
/* An option that means a login in any program: -u USER:SECRET, --login USER%SECRET; or -p
 * with a password glued to it. */
bool secret_option(const char *s, size_t len, size_t at, struct secret *ret);
/* A line of a file that holds secrets (.pgpass). */
bool secret_line(const char *s, size_t len, size_t at, struct secret *ret);

/* --- by what stands beside it (redaction_pairs.c) --- */

/* The length of a word that may be a name. */
size_t secret_name(const char *s, size_t len, size_t at);
/* Two literals of a login, whose name of n bytes is at s[at]: basicAuth("ann", "SECRET"), auth=("ann", "SECRET"). */
bool secret_of_login(const char *s, size_t len, size_t at, size_t n, struct secret *ret);
/* --password-command "echo SECRET" */
bool secret_of_command(const char *s, size_t len, size_t at, size_t n,
                       struct secret *ret);
/* s[at] is the '/' before the secret part of an address: https://host/t/SECRET/x */
bool secret_in_path(const char *s, size_t len, size_t at, struct secret *ret);

/* --- by its form (redaction_shapes.c, redaction_random.c) --- */

bool secret_shape(const char *s, size_t len, size_t at, struct secret *ret);
/* s[at] is the ':' of "://": credentials before the host. */
bool secret_in_url(const char *s, size_t len, size_t at, struct secret *ret);
/* The end of a private key whose beginning is missing; does not search before low. */
bool secret_key_end(const char *s, size_t len, size_t at, size_t low, struct secret *ret);
/* A random word. told: the words before it are about a secret. */
bool secret_random(const char *s, size_t len, size_t at, bool told, struct secret *ret);

/* --- by the sentence around it (redaction_prose.c) --- */

/* The length of a noun such as "password" at s[at], 0: none. */
size_t secret_noun(const char *s, size_t len, size_t at);
/* The secret that the sentence around the noun at s[at] states; does not search before
 * low. */
bool secret_said(const char *s, size_t len, size_t at, size_t low, struct secret *ret);

/* --- shared functions (redaction_values.c) --- */

enum secret_alphabet {
    SECRET_ALNUM,  /* letters and digits */
    SECRET_WORD,   /* and '_' '-' */
    SECRET_DOTTED, /* and '.' '/' '+' '=' */
    SECRET_UPPER,  /* capitals and digits */
};
bool secret_is_of(enum secret_alphabet alphabet, char c);
/* The number of characters of the alphabet from s[at] on. */
size_t secret_run(enum secret_alphabet alphabet, const char *s, size_t len, size_t at);
/* Whether the n bytes at s are one of the words, in any case; the list ends with NULL. */
bool secret_is_any(const char *s, size_t n, const char *const *words);
bool secret_starts(const char *s, size_t len, size_t at, const char *word);
size_t secret_blanks(const char *s, size_t len, size_t at); /* the position after them */

/* The length of a line ending at s[at], also as JSON writes it ("\\n"); 0: none. */
size_t secret_newline(const char *s, size_t len, size_t at);
bool secret_begins_line(const char *s, size_t at);

struct secret_mix {
    bool lower, upper, digit, other; /* other: neither those nor a character of base64 */
};
struct secret_mix secret_mix(const char *s, size_t n);
/* Whether it is a stand-in for a secret: a variable, a call, a type, an example, a
 * path. */
bool secret_is_example(const char *s, size_t n);
/* Whether it looks unlike a word: digits among letters, punctuation, mixed case. */
bool secret_is_odd(const char *s, size_t n);
/* Whether it consists of words, as names in programs do: "kFP8BlockScaling". */
bool secret_is_words(const char *s, size_t n);
