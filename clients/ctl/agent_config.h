#pragma once
/* agent_config: registers upskilld in agents' own configuration files.
 *
 * A row names an agent's files and what goes into them. Files are JSON with comments
 * (a member is put in, see jsonc.h), or TOML and YAML (a block is put at the end). What
 * is written says what the text said before, and the entry: both are parsed and compared.
 * Likewise, what is taken out is an entry as setup writes one (its program may have
 * another path, its variables other values), and taking it out gives the bytes from
 * before. Where that cannot be had, nothing is changed. */
#include "base/json.h"

struct agent_config {
    const char *name, *title;
    const char *program; /* on PATH where the agent is installed */
    /* Files with "|" between them, all of which the agent reads. "~/" is the home folder,
     * "${NAME:-…}" a variable with its default. NULL: the agent has no file for that. */
    const char *user, *project;
    const char *outer; /* the member of the root that holds servers */
    const char *entry; /* JSON, or a block of TOML or YAML; @ is the program as a text in
                          quotes, % the daemon's variables that are set */
    const char *lsp_outer, *lsp_entry; /* likewise, of language servers; or NULL */
    const char *env;  /* the member of an entry that holds variables */
    const char *head; /* what a new file of TOML or YAML begins with, or NULL */
};

extern const struct agent_config agent_configs[]; /* ended by one without a name */

const struct agent_config *agent_config_find(const char *name);
/* Its program, its file, or a folder with something of its own is on this machine. */
bool agent_config_is_here(const struct agent_config *agent);
/* The n-th file of a scope, absolute for the user's; NULL: it has no more. Freed by the
 * caller. */
char *agent_config_file(const struct agent_config *agent, bool project, int n);

/* The daemon's own variables, of which those that are set go into the entry: many agents
 * start the daemon without the shell's. Ended by NULL. */
extern const char *const agent_config_variables[];

/* The text of such a file with the entry, or without it. text: NULL where there is no
 * file. *ret is NULL where nothing has to change, else freed by the caller. *ret_gone:
 * nothing is left of a file that setup has made, which is to be deleted. -EEXIST: what
 * is there stays as it is, such as another entry of that name; others: the text, or its
 * form, is not understood. */
int agent_config_put(const struct agent_config *agent, const char *text,
                     const char *program, char **ret, struct err *err);
int agent_config_take(const struct agent_config *agent, const char *text, char **ret,
                      bool *ret_gone, struct err *err);
/* The line of an entry of our name; 0: the text has none. */
int agent_config_line(const struct agent_config *agent, const char *text);
/* What is added to such a text, or what a person would add by hand. */
void agent_config_manual(const struct agent_config *agent, const char *text,
                         const char *program, struct buf *out);
