#pragma once
/* agents: where each coding agent looks for skills; a table that users can extend.
 *
 * $XDG_CONFIG_HOME/upskilld/agents.yaml adds rows or replaces built-in ones:
 *   - {name: my-agent, project: .my/skills, user: ~/.my/skills, detect: ~/.my, reads:
 * [.agents/skills]} */
#include "base/json.h"

struct agent {
    char *name;    /* "claude-code" */
    char *title;   /* "Claude Code" */
    char *project; /* relative to the project root, or NULL */
    char *user;    /* absolute, variables expanded, or NULL */
    char *detect;  /* absolute; it exists when the agent is installed; or NULL */
    char **reads;  /* further folders it reads, as given; NULL-terminated */
};
struct agents {
    struct agent *list;
    size_t count;
};
/* Built-in rows and the user's. An invalid user file is an error that names line and
 * key. */
int agents_load(struct agents *ret, struct err *err);
void agents_builtin(struct agents *ret); /* without the user's */
void agents_finish(struct agents *a);
const struct agent *agents_find(const struct agents *a, const char *name);
/* The agent that was probably meant by an unknown word ("claude", "Gemini CLI",
 * "curser"), or NULL. */
const struct agent *agents_meant(const struct agents *a, const char *word);
/* Returns -EINVAL with a message for an unknown word: the agent that was probably meant,
 * or the list of agents. */
int agents_unknown(const struct agents *a, const char *word, struct err *err);
bool agent_is_installed(const struct agent *a);
/* The folder for a scope ("project" beneath root, "user"); NULL if the agent has none. */
char *agent_folder(const struct agent *a, const char *scope, const char *root);
