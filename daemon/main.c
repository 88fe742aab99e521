/* upskilld: the command line, then the loop. */
#include "base/err.h"
#include "base/stdio_link.h"
#include "daemon/daemon.h"
#include "daemon/texts.h"

#include <signal.h>
#include <unistd.h>

static int complain(const struct err *err) {
    fprintf(stderr, "upskilld: %s\n", err->msg);
    return 2;
}

/* Who starts it by hand should not wait for a prompt. */
static void greet_person(void) {
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        fputs("upskilld speaks JSON-RPC, one message a line, with agents and editors; "
              "people use upskillctl.\nCtrl-D ends it, upskilld --help shows more.\n",
              stderr);
    }
}

int main(int argc, char **argv) {
    struct config config;
    enum config_action action;
    struct err err = {0};
    if (config_load(&config, argc, argv, &action, &err) < 0) {
        return complain(&err);
    }
    if (action != CONFIG_RUN) {
        fputs(action == CONFIG_HELP ? config_help : "upskilld " UPSKILLD_VERSION "\n",
              stdout);
        config_finish(&config);
        return 0;
    }
    log_shown = config.log_level;
    /* exceeding a limit on file sizes is an error of the write */
    signal(SIGXFSZ, SIG_IGN);
    greet_person();
    int in, out, rc = stdio_claim(&in, &out);
    if (rc < 0) {
        fprintf(stderr, "upskilld: standard input or output: %s\n", strerror(-rc));
        return 2;
    }
    rc = daemon_run(&config, in, out, &err);
    config_finish(&config);
    return rc < 0 ? complain(&err) : rc;
}
