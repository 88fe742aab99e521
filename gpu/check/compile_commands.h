#pragma once
/* compile_commands: what a build says about its files, as a JSON Compilation Database
 * (compile_commands.json) tells it: a list of {"directory", "file", "command" or
 * "arguments"}.
 *
 * Only the text and the places of its entries are kept: an entry is read when its file is
 * asked for. For one thread at a time. */
#include "base/json.h"

#include <stdbool.h>

struct root;
struct err;

#define COMPILE_COMMANDS_MAX (64u << 20)

struct compile_commands;
struct compile_commands *compile_commands_new(void);
void compile_commands_free(struct compile_commands *c); /* NULL is a no-op */

/* Makes it the database that lies at rel beneath root; one that has not changed since is
 * not read again. 0; -ENOENT: there is none; -EFBIG: too large; -EBADMSG: it is no list
 * (said again each time); -EXDEV: a link out of the root; else -errno. Nothing is found
 * in it after an error. */
int compile_commands_load(struct compile_commands *c, const struct root *root,
                          const char *rel, struct err *err);
/* After 0: what in the list is no entry. */
struct compile_commands_left {
    size_t count, first; /* first: its place, from 1 */
    const char *why;     /* of the first; borrowed */
};
const struct compile_commands_left *compile_commands_left_out(struct compile_commands *c);

/* One command. */
struct compile_command {
    char *file;    /* absolute: whose command it is */
    char *folder;  /* absolute: what relative names are meant from */
    json_t *words; /* strings; the compiler's name is gone. NULL: a quote is not closed */
};
void compile_command_finish(struct compile_command *command);

/* Does the text of a source include the header? From find, on the same thread. */
typedef bool compile_commands_includes(const char *source, const char *header,
                                       void *data);
/* Of file (absolute, normalised): its own command; else that of the first .cu file that
 * includes it; else that of the .cu file that shares most of its folders. False: none. */
bool compile_commands_find(const struct compile_commands *c, const char *file,
                           compile_commands_includes *includes, void *data,
                           struct compile_command *ret);
