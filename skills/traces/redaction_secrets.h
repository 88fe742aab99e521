#pragma once
/* redaction_secrets: the parts of redaction, each of which finds one kind of secret at a
 * place of a text. All are bounded: what they look at around the place does not grow with
 * the text. */
#include <stdbool.h>
#include <stddef.h>

struct secret {
    size_t start, end;       /* of what is replaced */
    const char *placeholder; /* by this */
    bool personal;           /* a name, a folder, an address: no secret */
};

/* --- by name (redaction_names.c) --- */

enum naming {
    NAMES_NOTHING,
    NAMES_KEY,    /* any key: only what is surely random */
    NAMES_CODE,   /* pin, otp: digits, or base32 */
    NAMES_TOKEN,  /* api key, token …: what has letters and digits */
    NAMES_SECRET, /* password …: whatever is no code */
    NAMES_HEADER, /* the rest of the line */
    NAMES_COOKIE,
};
enum naming secret_naming(const char *name, size_t len);
/* A name begins at s[at], and its value is secret: NAME=…, "name": …, --name …, header:
 * …, <name>…</name>. */
bool secret_named(const char *s, size_t len, size_t at, struct secret *ret);
/* An option that takes a login in any program: -u USER:SECRET, --login USER%SECRET; or -p
 * with a password glued to it. */
bool secret_option(const char *s, size_t len, size_t at, struct secret *ret);
/* A line that is one of a file which holds secrets (.pgpass). */
bool secret_line(const char *s, size_t len, size_t at, struct secret *ret);

/* --- by its own look (redaction_shapes.c, redaction_random.c) --- */

bool secret_shape(const char *s, size_t len, size_t at, struct secret *ret);
/* s[at] is the ':' of "://": credentials before the host. */
bool secret_in_url(const char *s, size_t len, size_t at, struct secret *ret);
/* The end of a private key whose beginning is missing; not before low. */
bool secret_key_end(const char *s, size_t len, size_t at, size_t low, struct secret *ret);
/* A word that chance wrote. told: words before it speak of a secret. */
bool secret_random(const char *s, size_t len, size_t at, bool told, struct secret *ret);

/* --- by what a sentence says (redaction_prose.c) --- */

/* The length of a noun such as "password" at s[at], 0: none. */
size_t secret_noun(const char *s, size_t len, size_t at);
/* What the sentence around the noun at s[at] says the secret is; not before low. */
bool secret_said(const char *s, size_t len, size_t at, size_t low, struct secret *ret);

/* --- what they share (redaction_values.c) --- */

enum secret_alphabet {
    SECRET_ALNUM,  /* letters and digits */
    SECRET_WORD,   /* and '_' '-' */
    SECRET_DOTTED, /* and '.' '/' '+' '=' */
    SECRET_UPPER,  /* capitals and digits */
};
bool secret_is_of(enum secret_alphabet alphabet, char c);
/* How many characters of the alphabet stand at s[at]. */
size_t secret_run(enum secret_alphabet alphabet, const char *s, size_t len, size_t at);
/* The n bytes at s are one of the words, in any case; the list ends with NULL. */
bool secret_is_any(const char *s, size_t n, const char *const *words);
bool secret_starts(const char *s, size_t len, size_t at, const char *word);
size_t secret_blanks(const char *s, size_t len, size_t at); /* the place behind them */

/* The length of the end of a line at s[at], also as JSON writes it ("\\n"); 0: none. */
size_t secret_newline(const char *s, size_t len, size_t at);
bool secret_begins_line(const char *s, size_t at);

struct secret_mix {
    bool lower, upper, digit, other; /* other: neither those nor of base64 */
};
struct secret_mix secret_mix(const char *s, size_t n);
/* Written down to be replaced: a variable, a call, a type, an example, a path. */
bool secret_is_example(const char *s, size_t n);
/* Nobody writes it by chance where a secret is: digits among letters, signs, Cases. */
bool secret_is_odd(const char *s, size_t n);
/* Made of words, as names in programs are: "kFP8BlockScaling". */
bool secret_is_words(const char *s, size_t n);
