#pragma once
/* shell: a prompt for a running daemon.
 *
 * A line that starts with '{' or '[' is sent unchanged; `METHOD [JSON]` becomes a request
 * with the next id. Every message is shown (→ sent, ← received). `.help`, `.quit`. At a
 * terminal, lines have a history (line_editor.h). With piped input it waits for the
 * answers before it ends. */
struct terminal;
/* Returns an exit status. */
int shell_run(const struct terminal *t, const char *const *daemon_args);
