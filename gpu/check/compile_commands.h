#pragma once
/* compile_commands: the flags of a project's files from a JSON Compilation Database
 * (compile_commands.json): a list of {"directory", "file", "command" or "arguments"}.
 * Only the text and the offsets of its entries are kept: an entry is parsed when its file
 * is requested. For one thread at a time. */
#include "base/json.h"

struct root;

#define COMPILE_COMMANDS_MAX (64u << 20)

struct compile_commands;
struct compile_commands *compile_commands_new(void);
void compile_commands_free(struct compile_commands *c); /* NULL is a no-op */

/* Loads the database at rel beneath root; an unchanged one is not read again. 0; -ENOENT:
 * there is none; -EFBIG: too large; -EBADMSG: it is not a list (reported each time);
 * -EXDEV: a link leaves the root; otherwise -errno. After an error the database is
 * empty. */
int compile_commands_load(struct compile_commands *c, const struct root *root,
                          const char *rel, struct err *err);
/* After 0: the invalid entries of the list. */
struct compile_commands_left {
    size_t count, first; /* first: its index, from 1 */
    const char *why;     /* of the first; borrowed */
};
const struct compile_commands_left *compile_commands_left_out(struct compile_commands *c);

/* One command. */
struct compile_command {
    char *file;    /* absolute: the file it compiles */
    char *folder;  /* absolute: relative names are relative to it */
    json_t *words; /* strings, without the compiler's name. NULL: a quote is not closed */
};
void compile_command_finish(struct compile_command *command);

/* Whether a source's text includes the header. Called by find, on the same thread. */
typedef bool compile_commands_includes(const char *source, const char *header,
                                       void *data);
/* The command for file (absolute, normalised): its own; otherwise that of the first .cu
 * file that includes it; otherwise that of the .cu file with the most folders in common.
 * False: none. */
bool compile_commands_find(const struct compile_commands *c, const char *file,
                           compile_commands_includes *includes, void *data,
                           struct compile_command *ret);
