#include "clients/ctl/worker_commands.h"

#include "base/err.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/texts.h"

/* daemon/status of a daemon with these flags: new reference, or NULL after the error was
 * shown. */
static json_t *worker_ask_status(const struct worker_command *command) {
    struct err err = {0};
    struct connection *connection;
    json_t *status = NULL, *error = NULL;
    struct connection_options options = {.daemon_args = command->daemon_args,
                                         .keep_stderr = command->keep_stderr};
    int rc = connection_open(&options, &connection, &err);
    if (rc == 0) {
        rc = connection_call(connection, "daemon/status", NULL, &status, &error, &err);
        connection_close(connection);
    }
    if (rc != 0) {
        terminal_error(command->terminal, "%s",
                       rc > 0 ? json_get_string(error, "message", "?") : err.msg);
    }
    json_decref(error);
    return status;
}

int worker_command_run(const struct worker_command *command) {
    const char *verb = command->count ? command->words[0] : "";
    bool pack = strcmp(verb, "pack") == 0, check = strcmp(verb, "check") == 0;
    if (command->help || !(pack || check)) {
        fputs(worker_usage, command->help ? stdout : stderr);
        return command->help ? 0 : 2;
    }
    autojson *status = worker_ask_status(command);
    if (!status) {
        return 2;
    }
    return pack ? worker_pack(command, status) : worker_check(command, status);
}
