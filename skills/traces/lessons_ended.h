#pragma once
/* lessons_ended: an error that edits ended, and the hunks of these edits. */
#include "skills/traces/lessons_internal.h"

#define MAX_HUNKS 48u   /* between an error and its end */
#define MAX_NAMES 48u   /* of an error */

struct error_name {
    const char *at;
    size_t len;
    bool code; /* spelt as only code is */
    bool quoted;
    bool compound; /* several words with joints */
};

/* What an error says: its line, and the lines behind that explain it. */
struct error_words {
    char *block, *phrases; /* phrases: letters and digits, small, single blanks between */
    const char *quote_end; /* of the line itself, in block */
    struct error_name names[MAX_NAMES];
    size_t count;
};

struct hunk {
    size_t step;
    char *text;    /* lines "-old" and "+new" */
    char *differs; /* the names that one side has more often, a blank behind each */
    char *ties;    /* those of them that the error says in code */
    size_t from, to; /* lines of the old file, 1-based; 0: unknown */
    unsigned score;
    bool tied, quoted, compound;
    bool refused; /* by what its line calls */
};

struct ending {
    const struct steps *s;
    const struct lesson_reader *r;
    const json_t *names, *written; /* that the project declares; those that the session wrote */
    bool tries; /* the run was to try something out: a script of the session's own */
    size_t at, gone, success;
    const struct lesson_error *error;
    struct error_words said;
    char *around; /* of the output, what belongs to the error */
    struct hunk hunks[MAX_HUNKS];
    size_t count;
    size_t unknown; /* an edit of which nobody knows what it changed; 0: none */
};

/* A script within the command line that was typed anew soon, most of its lines kept. */
bool lesson_is_retyped(const struct lesson_step *failed, const struct lesson_step *later);
/* The hunks between the error and its end. False: there are none, or too many
 * (lessons_hunks.c). */
bool ending_list_hunks(struct ending *e);
/* What the error says (lessons_ties.c). */
void ending_read_said(struct ending *e);
/* It says names of code that the project declares, or so many that they are its data. */
bool ending_is_about_own(const struct ending *e);
/* The hunk is of a script for trying out, and the error says a name of what it tried. */
bool ending_misuses(const struct ending *e, const struct hunk *h);
/* Few lines, of which those that go say where. */
bool hunk_is_short(const struct hunk *h);
/* The hunk that says most of what the error says. NULL: several do, or it would not help others. */
const struct hunk *ending_choose(struct ending *e);
