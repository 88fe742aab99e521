#pragma once
/* host_guesses: instantiations with unknown types. Part of host_code.
 *
 * Host code often launches a template kernel from within a macro that dispatches on a
 * tensor's type and is defined elsewhere. The types are unknown, but one of them is
 * enough to compile the kernel, so one is tried. If that does not compile, the source may
 * still be correct; others can be tried, or none. */
#include "base/mem.h"

struct source_set;

/* Placeholders in an expression for a type to guess. Sources that contain these
 * characters are not examined. */
#define GUESS_FLOATING "\1"
#define GUESS_INTEGRAL "\2"
bool host_guess_is(const char *expression);
/* Whether a text holds such a character. */
bool host_guess_spoils(const char *text, size_t len);

struct host_guess {
    size_t file;           /* of the source set */
    char *expression;      /* "ns::k<\1, 4>" */
    size_t offset;         /* of the request */
    size_t line, from, to; /* room for it: from its line on, otherwise in blanked text */
};
struct host_guesses {
    struct host_guess *list;
    size_t count;
    struct guessless {
        size_t file, len;
        char *text; /* of the file, without guesses */
    } * files;
    size_t file_count;
    const char *half; /* the name of half in these sources; NULL: they have none */
};
/* Adds a copy of the guess, for the file that is kept next. */
void host_guesses_add(struct host_guesses *g, const struct host_guess *guess);
/* Keeps the text of a file without guesses, if some were added for it. */
void host_guesses_keep_file(struct host_guesses *g, size_t file, const char *text,
                            size_t len);
void host_guesses_finish(struct host_guesses *g);
/* A file's text without guesses, borrowed; NULL: it has none. */
char *host_guesses_text(const struct host_guesses *g, size_t file);

/* The number of choices of types; 0 without guesses. */
unsigned host_guesses_choices(const struct host_guesses *g);
#define HOST_GUESSES_NONE 1000u
/* Writes the instantiations of a choice into the sources' texts, replacing earlier ones;
 * HOST_GUESSES_NONE writes none. Choice 0 leaves out those without room; any other choice
 * that cannot be written completely writes nothing and returns false. */
bool host_guesses_write(const struct host_guesses *g, struct source_set *sources,
                        unsigned choice);
/* "ns::k<float, 4>", malloc'ed; NULL if there is no such choice. */
char *host_guess_text(const struct host_guesses *g, const char *expression,
                      unsigned choice);
