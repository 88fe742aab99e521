/* upskilld-worker: compiles for the daemon, here or at the far end of ssh, srun or
 * kubectl. */
#include "base/fd_channel.h"
#include "base/file.h"
#include "gpu/compile/compile.h"
#include "gpu/worker/program_child.h"
#include "gpu/worker/sanitize_child.h"
#include "gpu/worker/validate_child.h"
#include "gpu/worker/worker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Moves the protocol to other descriptors, so that code that prints cannot break it:
 * standard input becomes /dev/null and standard output becomes standard error. */
static int stdio_move(int *ret_in, int *ret_out) {
    int opened = file_open_standard();
    if (opened < 0) {
        return opened;
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    *ret_in = fcntl(0, F_DUPFD_CLOEXEC, 10);
    *ret_out = fcntl(1, F_DUPFD_CLOEXEC, 10);
    if (null < 0 || *ret_in < 0 || *ret_out < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0) {
        return -errno;
    }
    return 0;
}

/* The daemon's socket for descriptors; -1: it gave none. Nobody else gets it. */
static int channel_take(void) {
    bool given = getenv(COMPILE_CHANNEL_NAME) != NULL;
    int type = 0;
    socklen_t size = sizeof type;
    (void)unsetenv(COMPILE_CHANNEL_NAME);
    given = given &&
            !getsockopt(FD_CHANNEL_INHERITED, SOL_SOCKET, SO_TYPE, &type, &size) &&
            type == SOCK_SEQPACKET;
    return given && !fcntl(FD_CHANNEL_INHERITED, F_SETFD, FD_CLOEXEC)
               ? FD_CHANNEL_INHERITED
               : -1;
}

static const char usage[] =
    "usage: upskilld-worker [--version]\n"
    "\n"
    "Compiles CUDA sources for upskilld: requests come in on standard input, answers "
    "leave\n"
    "on standard output, as JSON-RPC with one message per line. The daemon starts it.\n";

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        puts("upskilld-worker " UPSKILLD_VERSION);
        return 0;
    }
    if (argc == 4 && !strcmp(argv[1], VALIDATE_CHILD_ARGUMENT)) {
        validate_child_run(atoi(argv[3]), atoi(argv[2]));
    }
    if (argc == 4 && !strcmp(argv[1], SANITIZE_CHILD_ARGUMENT)) {
        sanitize_child_run(atoi(argv[3]), atoi(argv[2]));
    }
    if (argc == 4 && !strcmp(argv[1], PROGRAM_CHILD_ARGUMENT)) {
        program_child_run(atoi(argv[3]), atoi(argv[2]));
    }
    if (argc == 4 && !strcmp(argv[1], SANITIZED_RUN_ARGUMENT)) {
        sanitized_child_run(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
    }
    if (argc > 1) {
        fputs(usage, strcmp(argv[1], "--help") ? stderr : stdout);
        return strcmp(argv[1], "--help") ? 2 : 0;
    }
    int in = -1, out = -1, channel = channel_take();
    int r = stdio_move(&in, &out);
    if (r < 0) {
        fprintf(stderr, "upskilld-worker: standard input and output: %s\n", strerror(-r));
        return 1;
    }
    return worker_run(in, out, channel);
}
