#pragma once
/* host_guesses: instantiations whose types nothing in sight tells. Part of host_code.
 *
 * Host code often launches a template kernel from within a macro that dispatches on a
 * tensor's type and is defined elsewhere: which types it means is not known, but one of
 * them is enough to compile the kernel. So one is tried; when it does not compile, that
 * need not be the source's fault, and others can be tried, or none. */
#include <stdbool.h>
#include <stddef.h>

struct source_set;

/* In an expression, what stands for a type that is to be guessed. Sources that hold these
 * characters are not looked into. */
#define GUESS_FLOATING "\1"
#define GUESS_INTEGRAL "\2"
bool host_guess_is(const char *expression);
/* Whether a text holds such a character. */
bool host_guess_spoils(const char *text, size_t len);

struct host_guess {
    size_t file;           /* of the sources */
    char *expression;      /* "ns::k<\1, 4>" */
    size_t offset;         /* of what asked for it */
    size_t line, from, to; /* room for it: from its line on, else in what was blanked */
};
struct host_guesses {
    struct host_guess *list;
    size_t count;
    struct guessless {
        size_t file, len;
        char *text; /* of the file, without any */
    } * files;
    size_t file_count;
    const char *half; /* how these sources can name it; NULL: they cannot */
};
/* A copy of one, for the file that is the next to be kept. */
void host_guesses_add(struct host_guesses *g, const struct host_guess *guess);
/* Keeps the text of a file, without any guesses yet, when some were added for it. */
void host_guesses_keep_file(struct host_guesses *g, size_t file, const char *text,
                            size_t len);
void host_guesses_finish(struct host_guesses *g);
/* A file's text without any guesses, borrowed; NULL: it has none. */
char *host_guesses_text(const struct host_guesses *g, size_t file);

/* How many choices of types there are; 0 without guesses. */
unsigned host_guesses_choices(const struct host_guesses *g);
#define HOST_GUESSES_NONE 1000u
/* Puts the instantiations of a choice into the sources' texts, in place of those that are
 * there; HOST_GUESSES_NONE has none. Those without room are left out of the first choice,
 * 0; another choice that cannot be written in full is none, and false is returned. */
bool host_guesses_write(const struct host_guesses *g, struct source_set *sources,
                        unsigned choice);
/* "ns::k<float, 4>", malloc'ed; NULL when there is no such choice. */
char *host_guess_text(const struct host_guesses *g, const char *expression,
                      unsigned choice);
