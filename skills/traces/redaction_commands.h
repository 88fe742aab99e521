#pragma once
/* redaction_commands: secrets on command lines.
 *
 * A command is recognised by its name anywhere: after a prompt, sudo, env or a pipe, in
 * bash -c '…', ssh host '…', docker exec …, in JSON. Its words are read as a shell reads
 * them, up to the end of the command or of the surrounding quotes, at most COMMAND_WORDS
 * words and COMMAND_BYTES bytes. */
#include "skills/traces/redaction_secrets.h"

#define COMMAND_WORDS 64u
#define COMMAND_BYTES 2048u

// clang-format off
/* One way in which commands take secrets (redaction_commands.txt): their names; a word that must follow ("":
 * none); and what is secret, in words of a small language:
 *   -p       the value of this option: the next word, or glued (-pX, -p=X, --pass=X, /p:X);
 *            several letters, or none of - and /: the next word, or behind = or :
 *   -p+ -p.  glued alone; never glued
 *   -u: -U% -u, 1/ -b=   of USER:SECRET the part behind the sign
 *   -pass~pass:          of a value that begins so, the rest
 *   !-h      an option whose value is not a secret, and not an argument either
 *   2, 1+    the second argument behind the word that must follow; the first and all others
 *   $        the last argument, when it is not a plain word
 *   1'       the first argument, when it is quoted
 *   ?        the word behind one that names a secret (config set api_key X1)
 *   *=       of each argument NAME=SECRET the value
 *   <, <:    what comes by standard input: a here-string, a here-document, or what the
 *            command before the pipe prints; of USER:SECRET the part behind the sign
 *   <--opt   the same where this word is among the arguments
 *   1r       the first argument, when it ends with a key's "\\r"
 *   | |<     prints its arguments; a here-document alone
 *   &        first: its words go on over the ends of lines */
// clang-format on
struct secret_command {
    const char *names, *word, *takes;
};

/* A quote and the number of backslashes before it; mark 0: none. */
struct secret_quote {
    char mark;
    size_t slashes;
};
#define COMMAND_SECRETS 16u
/* The secrets among the arguments of a command whose name begins at s[at], in the order
 * of the text; around: the quotes around the command. Returns their number. */
size_t secrets_of_command(const char *s, size_t len, size_t at,
                          struct secret_quote around, struct secret ret[COMMAND_SECRETS]);
