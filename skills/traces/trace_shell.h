#pragma once
/* trace_shell: what a shell command line is about. Quotes are respected; nothing is
 * expanded. Linear in the command. */
#include <stdbool.h>
#include <stddef.h>

/* The words of a command as one line: ["bash","-lc",CMD] and its like is CMD, others are
 * quoted where the shell would need it. To be freed. */
char *shell_join(const char *const *words, size_t count);
/* A command line without a "bash -lc '…'" around it. To be freed. */
char *shell_unwrap(const char *command);

/* What was run, as a person would name it: "make test", "git commit", "pytest", "nvcc".
 * Of several commands it is the last that does not only look, move or print; of a
 * pipeline the first; `env`, `sudo`, `timeout 5`, `python -m`, `uv run` and so on are
 * looked through. */
struct shell_name {
    char program[64];    /* without its folder */
    char subcommand[64]; /* or the script that an interpreter ran; or "" */
};
/* False when the line names no program. */
bool shell_name_of(const char *command, struct shell_name *ret);

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
