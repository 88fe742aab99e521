#pragma once
/* trace_shell: unwraps shell command lines, and finds the files they write. Quotes are
 * respected; nothing is expanded. Linear in the command. */
#include "base/mem.h"

/* The words of a command as one line: ["bash","-lc",CMD] and the like give CMD; other
 * words are quoted where the shell requires it. Freed by the caller. */
char *shell_join(const char *const *words, size_t count);
/* What follows the last slash, unless nothing does. */
const char *shell_base_name(const char *path);
/* A command line without a wrapping "bash -lc '…'". Freed by the caller. */
char *shell_unwrap(const char *command);

/* A here-document: the start of its first line, its text, and the line that ends it. */
struct shell_document {
    size_t line, body, end;
};
/* The next one from *at on, which moves past it; false: no more. */
bool shell_next_document(const char *command, size_t *at, struct shell_document *ret);

/* A file written from a here-document (cat > FILE <<'EOF' …, tee). */
struct shell_file {
    char *path;
    const char *text; /* points into the command */
    size_t len;
    bool appends;
};
/* The next one from *at on; false: no more. The caller frees path. */
bool shell_next_file(const char *command, size_t *at, struct shell_file *ret);
