#include "gpu/worker/validate_child.h"

#include "base/buf.h"
#include "base/file.h"
#include "gpu/run/foresight.h"
#include "gpu/run/run_save.h"
#include "gpu/run/validate_result.h"
#include "gpu/run/validate_run.h"
#include "gpu/worker/child_io.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/cuda_child.h"
#include "gpu/worker/cuda_room.h"
#include "gpu/worker/driver_trial.h"
#include "gpu/worker/validation.h"

#include <unistd.h>

enum { EARLIER_MS = 600 }; /* before the supervisor would kill it */

/* --- time --- */

static unsigned time_for(unsigned wall_ms) {
    return wall_ms > 2 * EARLIER_MS ? wall_ms - EARLIER_MS : wall_ms / 2 + 1;
}

/* --- which backend --- */

struct choice {
    const struct backend_class *backend; /* NULL: a device was asked for, there is none */
    unsigned confinement;
    enum cuda_child_state state;
    bool tried_cuda, refused;
    bool named;     /* the request names a device */
    struct err why; /* it is not CUDA */
};

/* arena: it may write to the memory for saved arrays. */
static unsigned confine_for_emulator(const struct validate_limits *limits, bool arena) {
    return confine_self(&(struct confine_rules){
        .may_thread = true,
        .cpu_s = limits->cpu_s,
        .memory_bytes = limits->memory_bytes,
        .file_bytes = arena ? run_arena_bytes() : 1,
    });
}

/* A process that was confined for a driver which turned out to be of no use can be
 * confined further for the emulator. */
static void choose(struct choice *ret, const json_t *request,
                   const struct validate_limits *limits, bool arena,
                   uint64_t deadline_ms) {
    const json_t *spec = json_object_get(request, "spec");
    const char *wanted = json_get_string(spec, "backend", "auto");
    *ret = (struct choice){.state = CUDA_CHILD_NO_DRIVER};
    if (strcmp(wanted, "emulator") != 0) {
        struct cuda_child child = {
            .device = json_get_string(spec, "device", NULL),
            .ptx = strcmp(wanted, "cuda") != 0 ? json_get_string(request, "ptx", NULL)
                                               : NULL, /* its load says it better */
            .cpu_s = limits->cpu_s,
            .deadline_ms = deadline_ms,
        };
        ret->tried_cuda = true;
        ret->named = child.device != NULL;
        ret->state = cuda_child_start(&child, &ret->why);
        ret->confinement = child.confinement;
        ret->refused = child.refused && cuda_room_confinement() == CUDA_CONFINEMENT_TRY;
    }
    if (ret->refused) {
        return;
    }
    if (ret->state == CUDA_CHILD_READY) {
        ret->backend = cuda_child_backend;
    } else if (strcmp(wanted, "cuda") != 0) {
        ret->confinement = confine_for_emulator(limits, arena);
        ret->backend = &backend_emulator;
    }
}

/* The emulator in a device's place is never silent: where a driver is there, or the
 * request names a device, the result says what is missing. */
static void tell_choice(const struct choice *choice, json_t *answer) {
    json_t *backend = json_object_get(answer, "backend");
    if (!backend) {
        backend = json_pack("{s:s}", "kind", choice->backend->kind);
        json_object_set_new(answer, "backend", backend);
    }
    if (choice->tried_cuda && choice->state != CUDA_CHILD_READY &&
        (choice->named || choice->state == CUDA_CHILD_UNUSABLE)) {
        json_object_set_new(backend, "fallback", json_clean_z(choice->why.msg));
    }
    json_object_set_new(answer, "confinement", confinement_to_json(choice->confinement));
}

static json_t *no_gpu(const struct choice *choice) {
    json_t *answer =
        validate_not_run("error", "run", "no_gpu", choice->why.msg,
                         choice->state == CUDA_CHILD_NO_DRIVER
                             ? "install NVIDIA's driver, configure a worker on a machine "
                               "that has a GPU, or omit \"backend\""
                             : "check nvidia-smi and CUDA_VISIBLE_DEVICES, or omit "
                               "\"backend\" and \"device\"");
    json_object_set_new(answer, "confinement", confinement_to_json(choice->confinement));
    return answer;
}

/* One line each, before the answer. */
static void send_note(const json_t *note, void *data) {
    autobuf line = BUF_INIT(VALIDATION_MAX_NOTE);
    if (json_write(&line, note) == 0 && buf_addc(&line, '\n') == 0) {
        (void)file_write_all(*(const int *)data, line.data, line.len);
    }
}

static json_t *validate(struct child_job *job, int socket, bool *ret_on_device) {
    struct validate_limits limits;
    struct choice choice;
    autojson *request = child_job_request(job, job->head);
    const struct spec_files files = {job->files, job->file_count};
    (void)memory_here(); /* while files can be read */
    validate_limits_read(&limits, json_object_get(request, "limits"));
    choose(&choice, request, &limits, job->arena >= 0,
           validate_stop_after(time_for(limits.wall_ms)));
    *ret_on_device = choice.refused || choice.state == CUDA_CHILD_READY;
    if (choice.refused) {
        return json_pack("{s:o}", "driver_refused", json_clean_z(choice.why.msg));
    }
    if (!choice.backend) {
        return no_gpu(&choice);
    }
    struct run_notes *notes = run_notes_new(send_note, &socket, job->arena);
    json_t *answer = validate_run(request, &files, choice.backend, notes);
    run_notes_free(notes);
    tell_choice(&choice, answer);
    return answer;
}

_Noreturn void validate_child_run(int supervisor, int socket) {
    struct child_job job;
    bool on_device = false;
    confine_child_start(supervisor);
    if (!child_job_take(&job, socket)) {
        _exit(VALIDATE_CHILD_BAD_JOB);
    }
    json_t *answer = json_get_bool(job.head, "devices", 0) ? cuda_child_devices()
                     : json_get_bool(job.head, "trial", 0)
                         ? driver_trial()
                         : validate(&job, socket, &on_device);
    if (!child_answer(socket, answer, on_device)) {
        _exit(VALIDATE_CHILD_BAD_JOB);
    }
    /* A driver may take seconds to let go of a kernel that runs: the answer need not wait
     * for it. Its threads must not see what exit() takes apart. */
    close(socket);
    _exit(0);
}
