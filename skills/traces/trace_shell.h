#pragma once
/* trace_shell: a shell command line without its wrapping, and the files it writes. Quotes
 * are respected; nothing is expanded. Linear in the command. */
#include <stdbool.h>
#include <stddef.h>

/* The words of a command as one line: ["bash","-lc",CMD] and its like is CMD, others are
 * quoted where the shell would need it. To be freed. */
char *shell_join(const char *const *words, size_t count);
/* A command line without a "bash -lc '…'" around it. To be freed. */
char *shell_unwrap(const char *command);

/* A here-document: its first line's beginning, its text, and the line that ends it. */
struct shell_document {
    size_t line, body, end;
};
/* The next one from *at on, which is behind it then; false: no more. */
bool shell_next_document(const char *command, size_t *at, struct shell_document *ret);

/* A file that the command line writes from a here-document (cat > FILE <<'EOF' …, tee).
 */
struct shell_file {
    char *path;
    const char *text; /* points into the command */
    size_t len;
    bool appends;
};
/* The next one from *at on; false: no more. path is to be freed. */
bool shell_next_file(const char *command, size_t *at, struct shell_file *ret);
