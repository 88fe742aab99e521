#pragma once
/* help: what upskillctl can be asked, from the daemon's own table and the few commands
 * that are the client's own. All but help_meant write to standard output. */
#include "base/json.h"
#include "clients/ctl/terminal.h"

/* Every command, and what stands behind all of them. */
void help_all(const struct terminal *t, const json_t *discover);
/* One command: usage, options with what their schemas say, an example. */
void help_method(const struct terminal *t, const json_t *method);
/* "upskillctl skill check NAME|FOLDER [options]". Freed by the caller. */
char *help_usage(const json_t *method);
/* What the words name: a command with its options, a group such as "skill" with its
 * commands, or a command of the client's own. False when they name nothing; then nothing
 * is written. */
bool help_words(const struct terminal *t, const json_t *discover, const char **words,
                int count);
/* The command that somebody meant whose words name none: "kernel check" for "kernel
 * chek", "check". NULL when there is nothing near. Freed by the caller. */
char *help_meant(const json_t *discover, const char **words, int count);
/* A text of the daemon's for people: "skill/list shows all" becomes "upskillctl skill
 * list shows all", and "`base_url`", a parameter of the method that was asked,
 * "--base-url". Either may be NULL: then such names stay. Freed by the caller. */
char *help_hint(const json_t *discover, const json_t *asked, const char *hint);
/* The same in place for every "hint" within a result; of a "reason", the parameters. */
void help_hints(const json_t *discover, const json_t *asked, json_t *value);
