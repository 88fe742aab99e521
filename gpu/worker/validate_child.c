#include "gpu/worker/validate_child.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "gpu/validate/validate_run.h"
#include "gpu/worker/child_io.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/validation.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { EARLIER_MS = 300 }; /* before the supervisor would kill it */

static void on_alarm(int sig) {
    (void)sig;
    validate_stop();
}

static void alarm_set(unsigned wall_ms) {
    unsigned ms = wall_ms > 2 * EARLIER_MS ? wall_ms - EARLIER_MS : wall_ms / 2 + 1;
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval timer = {
        .it_value = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

_Noreturn void validate_child_run(int supervisor, int socket) {
    autobuf text = BUF_INIT(VALIDATION_MAX_REQUEST);
    struct err err;
    confine_child_start(supervisor);
    if (!child_take(socket, &text)) {
        _exit(VALIDATE_CHILD_BAD_JOB);
    }
    autojson *request = json_parse(text.data, text.len, &err);
    buf_finish(&text);
    struct validate_limits limits;
    validate_limits_read(&limits, json_object_get(request, "limits"));
    alarm_set(limits.wall_ms);
    unsigned confinement = confine_self(&(struct confine_rules){
        .may_thread = true,
        .cpu_s = limits.cpu_s,
        .memory_bytes = limits.memory_bytes,
        .file_bytes = 1,
    });
    autojson *answer = validate_run(request, &backend_emulator);
    json_object_set_new(answer, "confinement", confinement_to_json(confinement));
    autobuf out = BUF_INIT(VALIDATION_MAX_ANSWER);
    if (json_write(&out, answer) < 0) {
        _exit(VALIDATE_CHILD_BAD_JOB);
    }
    (void)file_write_all(socket, out.data, out.len);
    _exit(0);
}
