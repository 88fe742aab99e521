#include "gpu/worker/zygote.h"

#include "base/err.h"
#include "base/fd_channel.h"
#include "gpu/compile/compile.h"
#include "gpu/compile/toolkit.h"
#include "gpu/worker/compile_child.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/nvrtc.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct zygote {
    int supervisor; /* pid */
    int socket;
    struct nvrtc *nvrtc;
    const struct toolkit *toolkit;
    char version[32];
    char *precompiled; /* NULL in the plain zygote */
};

/* --- packets --- */

int zygote_send(int socket, enum zygote_request request, int fd) {
    return fd_parcel_send(socket, request, &fd, 1);
}

/* The next request: its kind, or 0 when the supervisor is gone. */
static int request_receive(int socket, int *ret_fd) {
    int fds[FD_PARCEL_MAX];
    uint64_t kind = 0;
    if (fd_parcel_receive(socket, true, &kind, fds) != 1) {
        return 0;
    }
    *ret_fd = fds[0];
    return (int)kind;
}

int zygote_receive_pid(int socket, int *ret_pid) {
    ssize_t n = recv(socket, ret_pid, sizeof *ret_pid, MSG_DONTWAIT);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EPIPE;
    }
    return n == sizeof *ret_pid ? 0 : -EPIPE;
}

int zygote_receive_hello(int socket, struct zygote_hello *ret) {
    ssize_t n = recv(socket, ret, sizeof *ret, MSG_DONTWAIT);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EPIPE;
    }
    ret->text[sizeof ret->text - 1] = '\0';
    return n == sizeof *ret ? 0 : -EPIPE;
}

static void hello_send(const struct zygote *z, int status, const char *text) {
    struct zygote_hello hello = {.status = status};
    snprintf(hello.text, sizeof hello.text, "%s", text);
    (void)send(z->socket, &hello, sizeof hello, MSG_NOSIGNAL);
}

/* --- forking --- */

/* A sibling instead of a child. The C library's fork cannot do this; its fork handlers
 * are not needed in a process with one thread. */
static int clone_sibling(void) {
    return (int)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

enum { MAX_INHERITED = 4096 }; /* where close_range is missing */

/* Nothing of the supervisor's may be open in a zygote: its pipes, for one, would never
 * end. */
static void close_others(int *socket) {
    *socket = dup2(*socket, 3);
    (void)fcntl(*socket, F_SETFD, FD_CLOEXEC);
    if (syscall(SYS_close_range, 4u, ~0u, 0u)) {
        for (int fd = 4; fd < MAX_INHERITED; fd++) {
            close(fd);
        }
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        for (int fd = 0; fd < 3; fd++) {
            (void)dup2(null, fd);
        }
        close(null);
    }
}

enum { MAX_TOUCHED = 32u << 20 };

/* After a fork every first write to a page costs a fault, some 10 ms in a compile. A
 * child is forked ahead of its job and takes these faults while it waits: the heap, and
 * the compiler's data. */
static void touch_memory(void) {
#ifdef MADV_POPULATE_WRITE
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        void *start, *end;
        char access[8];
        if (sscanf(line, "%p-%p %7s", &start, &end, access) == 3 &&
            !strncmp(access, "rw-p", 4) && (char *)end - (char *)start <= MAX_TOUCHED &&
            !strstr(line, "[stack]")) {
            (void)madvise(start, (size_t)((char *)end - (char *)start),
                          MADV_POPULATE_WRITE);
        }
    }
    if (maps) {
        fclose(maps);
    }
#endif
}

_Noreturn static void child_run(const struct zygote *z, int socket) {
    close(z->socket);
    touch_memory();
    const struct compile_room room = {
        .nvrtc = z->nvrtc,
        .toolkit = z->toolkit,
        .version = z->version,
        .precompiled = z->precompiled,
    };
    compile_child_run(&room, z->supervisor, socket);
}

_Noreturn static void prefix_run(const struct zygote *plain, int socket);

_Noreturn static void serve(const struct zygote *z) {
    for (;;) {
        int fd = -1;
        int kind = request_receive(z->socket, &fd);
        if (!kind) {
            _exit(0);
        }
        int pid = clone_sibling();
        if (pid == 0) {
            if (kind == ZYGOTE_PREFIX && !z->precompiled) {
                prefix_run(z, fd);
            }
            child_run(z, fd);
        }
        close(fd);
        pid = pid < 0 ? -errno : pid;
        if (send(z->socket, &pid, sizeof pid, MSG_NOSIGNAL) != sizeof pid) {
            _exit(0);
        }
    }
}

/* --- the plain zygote --- */

/* "…release 13.0, V13.0.88": only the PTX's head has the complete version. */
static void version_read(struct zygote *z, const char *ptx) {
    const char *v = ptx ? strstr(ptx, ", V") : NULL;
    size_t len = v ? strspn(v + 3, "0123456789.") : 0;
    if (len && len < sizeof z->version) {
        snprintf(z->version, sizeof z->version, "%.*s", (int)len, v + 3);
    } else {
        int major, minor;
        nvrtc_version(z->nvrtc, &major, &minor);
        snprintf(z->version, sizeof z->version, "%d.%d", major, minor);
    }
}

/* A first small compile sets up what every later one finds ready. */
static int warm_up(struct zygote *z, struct err *err) {
    static const char *const argv[] = {"--gpu-architecture=sm_90a", "--std=c++17"};
    const struct nvrtc_input in = {
        .text = "__global__ void warm_up(float *x) { x[threadIdx.x] *= 2; }\n",
        .name = "warm_up.cu",
        .argv = argv,
        .argc = 2,
    };
    struct nvrtc_output out;
    nvrtc_compile(z->nvrtc, &in, &out);
    int r = 0;
    if (out.code != NVRTC_OK) {
        r = err_set(err, -EIO, "the CUDA compiler does not work: %s %.300s", out.message,
                    out.log);
    } else {
        version_read(z, out.ptx);
    }
    nvrtc_output_finish(&out);
    return r;
}

/* The first toolkit whose compiler works: its index, or a negative errno. */
static int compiler_find(struct zygote *z, const struct toolkit *toolkits, size_t count,
                         struct err *err) {
    int r = err_set(err, -ENOENT, "no CUDA compiler was found");
    for (size_t i = 0; i < count; i++) {
        r = nvrtc_open(&toolkits[i], &z->nvrtc, err);
        if (!r) {
            z->toolkit = &toolkits[i];
            r = warm_up(z, err);
        }
        if (!r) {
            return (int)i;
        }
    }
    return r;
}

_Noreturn void zygote_run(const struct toolkit *toolkits, size_t count, int supervisor,
                          int socket) {
    struct zygote z = {.supervisor = supervisor, .socket = socket};
    struct err err = {0};
    confine_child_start(supervisor);
    close_others(&z.socket);
    int r = compiler_find(&z, toolkits, count, &err);
    if (r < 0) {
        hello_send(&z, r, err.msg);
        _exit(1);
    }
    /* Memory that the warm-up freed would be copied in every child, page by page. */
    malloc_trim(0);
    hello_send(&z, 0, z.version);
    serve(&z);
}

/* --- a prefix zygote --- */

enum { PRECOMPILED_FD = 9 };
#define MAX_PRECOMPILED (1u << 30) /* bytes of the file; 227 MB is a lot */

/* The parent gets the confinement of its children before it reads the prefix, except that
 * it may fork and use the folder of their jobs. */
static void prefix_confine(const struct zygote *z, const struct compile_job *job,
                           const char *folder) {
    const char *read_paths[8] = {z->toolkit->library_dir};
    size_t count = 1;
    for (char **dir = z->toolkit->include_dirs; *dir && count + 1 < ARRAY_LEN(read_paths);
         dir++) {
        read_paths[count++] = *dir;
    }
    confine_self(&(struct confine_rules){
        .read_paths = read_paths,
        .write_paths = (const char *const[]){folder, NULL},
        .may_fork = true,
        .cpu_s = job->limits.cpu_s,
        .memory_bytes = job->limits.memory_bytes,
        .file_bytes = MAX_PRECOMPILED,
    });
}

/* The limit was for making the header; a parent lives on. */
static void cpu_limit_lift(void) {
    struct rlimit now;
    if (!getrlimit(RLIMIT_CPU, &now)) {
        now.rlim_cur = now.rlim_max;
        (void)setrlimit(RLIMIT_CPU, &now);
    }
}

/* The file stays open and loses its name, so it is gone with the last process using it.
 */
static int precompiled_keep(struct zygote *z, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    (void)unlink(path);
    if (fd < 0 || dup2(fd, PRECOMPILED_FD) < 0) {
        return -errno;
    }
    close(fd);
    z->precompiled = xasprintf("/proc/self/fd/%d", PRECOMPILED_FD);
    return 0;
}

static int precompile(struct zygote *z, const struct compile_job *job, const char *folder,
                      struct err *err) {
    autofree char *path = xasprintf("%s/prefix.%d.pch", folder, (int)getpid());
    autofree char *create = xasprintf("-create-pch=%s", path);
    autofree char *text = xasprintf("%s\n;", job->prefix);
    const char *const extra[] = {create, "--pch-messages=false", NULL};
    const struct compile_room room = {.nvrtc = z->nvrtc, .toolkit = z->toolkit};
    struct nvrtc_output out;
    compile_unit(&room, job, text, extra, &out);
    int r = 0;
    if (out.code != NVRTC_OK || !out.precompiled) {
        (void)unlink(path);
        r = err_set(err, -ENOTSUP, "no precompiled header could be made: %s",
                    out.message);
    } else {
        r = precompiled_keep(z, path);
    }
    nvrtc_output_finish(&out);
    return r;
}

static int prefix_job_take(int socket, struct compile_job *ret, char **ret_folder) {
    autofree char *text = xmalloc(ZYGOTE_MAX_PREFIX_JOB + 1);
    struct err err;
    ssize_t n = recv(socket, text, ZYGOTE_MAX_PREFIX_JOB, 0);
    if (n <= 0) {
        return -EPIPE;
    }
    text[n] = '\0';
    autojson *json = json_parse(text, (size_t)n, &err);
    const char *folder = json_get_string(json, "folder", NULL);
    if (!folder || compile_job_from_json(ret, json_object_get(json, "job"), &err) < 0) {
        return -EINVAL;
    }
    *ret_folder = xstrdup(folder);
    return ret->prefix ? source_set_add(&ret->sources, "prefix.cu", NULL, ";", 1, NULL)
                       : -EINVAL;
}

_Noreturn static void prefix_run(const struct zygote *plain, int socket) {
    struct zygote z = *plain;
    struct compile_job job;
    struct err err = {0};
    char *folder;
    confine_child_start(z.supervisor);
    z.socket = socket;
    close(plain->socket);
    int r = prefix_job_take(socket, &job, &folder);
    if (!r && chdir(folder)) { /* no header may be found beside where the worker began */
        r = err_set(&err, -errno, "the folder of the jobs is gone");
    }
    if (!r) {
        /* The front end writes a temporary file while it makes a precompiled header. */
        (void)setenv("TMPDIR", folder, 1);
        prefix_confine(&z, &job, folder);
        r = precompile(&z, &job, folder, &err);
    }
    if (r < 0) {
        hello_send(&z, r, err.msg);
        _exit(1);
    }
    cpu_limit_lift();
    malloc_trim(0);
    hello_send(&z, 0, z.version);
    serve(&z);
}
