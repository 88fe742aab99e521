#pragma once
/* shell: a prompt on a live daemon.
 *
 * A line that starts with '{' or '[' is sent as it is; `METHOD [JSON]` becomes a request
 * with the next id. Every message is shown both ways (→ sent, ← received). `.help`,
 * `.quit`. At a terminal lines have a history (line_editor.h). Works with piped input
 * too: it then waits for the answers before it ends. */
struct terminal;
/* Returns an exit status. */
int shell_run(const struct terminal *t, const char *const *daemon_args);
