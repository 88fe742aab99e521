#pragma once
/* help: upskillctl's commands, from the daemon's own table and the few commands that the
 * client itself has. All functions except help_meant write to standard output. */
#include "clients/ctl/terminal.h"

/* All commands, and the options that all of them have. */
void help_all(const struct terminal *t, const json_t *discover);
/* One command: usage, options with their schemas' descriptions, an example. */
void help_method(const struct terminal *t, const json_t *method);
/* "upskillctl skill check NAME|FOLDER [options]". Freed by the caller. */
char *help_usage(const json_t *method);
/* "worker pack|check …": the client's own command of this number; NULL: there are fewer. */
const char *help_own_usage(size_t number);
/* Help for words: a command with its options, a group such as "skill" with its commands,
 * or a command of the client itself. False if they name nothing; then nothing is
 * written. */
bool help_words(const struct terminal *t, const json_t *discover, const char **words,
                int count);
/* The command that was probably meant by words that name none: "kernel check" for "kernel
 * chek" or "check". NULL if nothing is near. Freed by the caller. */
char *help_meant(const json_t *discover, const char **words, int count);
/* Rewrites a text from the daemon for people: "skill/list shows all" becomes "upskillctl
 * skill list shows all", and "`base_url`", a parameter of the called method,
 * "--base-url". If discover or asked is NULL, such names stay. Freed by the caller. */
char *help_hint(const json_t *discover, const json_t *asked, const char *hint);
/* The same in place for every "hint" within a result; in a "reason", only the
 * parameters. */
void help_hints(const json_t *discover, const json_t *asked, json_t *value);
