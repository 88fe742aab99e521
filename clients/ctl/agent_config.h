#pragma once
/* agent_config: how agents are told of upskilld, in their own configuration files.
 *
 * A row names an agent's files and what goes into them. Files are JSON with comments
 * (a member is put in, see jsonc.h), or TOML and YAML (a block is put at the end); taking
 * the entry out again gives the bytes from before. */
#include "base/json.h"

#include <stdbool.h>

struct err;
struct buf;

struct agent_config {
    const char *name, *title;
    const char *program; /* on PATH where the agent is installed */
    /* Files with "|" between them: the first that exists is written, else the first.
     * "~/" is the home folder, "${NAME:-…}" a variable with its default. NULL: the agent
     * has no file for that. */
    const char *user, *project;
    const char *outer; /* of JSON: the member of the root that holds servers */
    const char *entry; /* JSON, or a block of TOML or YAML; @ is the program as a text in
                          quotes, % the daemon's variables that are set */
    const char *lsp_outer, *lsp_entry; /* likewise, of language servers; or NULL */
    const char *env; /* of JSON: the member of an entry that holds variables */
};

extern const struct agent_config agent_configs[]; /* ended by one without a name */

const struct agent_config *agent_config_find(const char *name);
/* Its program or its folder is on this machine. */
bool agent_config_is_here(const struct agent_config *agent);
/* The file of a scope, absolute; NULL: the agent has none. Freed by the caller. */
char *agent_config_file(const struct agent_config *agent, bool project);

/* A folder that is the agent's alone: neither the home folder nor one that a variable of
 * the table names, nor above them. */
bool agent_config_owns(const struct agent_config *agent, const char *folder);

/* The daemon's own variables, of which those that are set go into the entry: many agents
 * start the daemon without the shell's. Ended by NULL. */
extern const char *const agent_config_variables[];

/* The text of such a file with the entry (put) or without it. *ret is NULL where nothing
 * changes and "" where nothing is left: then the file is deleted. Errors as jsonc.h has
 * them.
 */
int agent_config_put(const struct agent_config *agent, const char *text,
                     const char *program, char **ret, struct err *err);
int agent_config_take(const struct agent_config *agent, const char *text,
                      const char *program, char **ret, struct err *err);
/* What a person would add by hand. */
void agent_config_manual(const struct agent_config *agent, const char *program,
                         struct buf *out);
