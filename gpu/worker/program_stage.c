#include "gpu/worker/program_stage.h"

#include "base/buf.h"
#include "base/clock.h"

#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOOK_MS = 100, /* between two looks at what it uses */
    FOLDER_MS = 500,
    DRAIN_MS = 300, /* for what it wrote last, after its end */
    PIECE = 65536,
    STATUS_BITS = 0, /* the confinement of the process that is about to start */
    STATUS_FAILED = 1,
};

static volatile sig_atomic_t current; /* the stage's process group */

static void on_term(int) {
    if (current > 0) {
        (void)kill(-(pid_t)current, SIGKILL);
    }
    _exit(0);
}

void program_stages_init(void) {
    (void)signal(SIGTERM, on_term);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    /* adopts processes that outlive their stage */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* --- the new process --- */

struct ends { /* of its pipes; -1 when closed */
    int in[2], out[2], error[2], status[2];
    int report; /* both ends of a named pipe, so that it always has a reader */
};

static bool ends_open(struct ends *e) {
    *e = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, -1};
    return !pipe2(e->in, O_CLOEXEC) && !pipe2(e->out, O_CLOEXEC) &&
           !pipe2(e->error, O_CLOEXEC) && !pipe2(e->status, O_CLOEXEC);
}

static void end_close(int *fd) {
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void ends_close(struct ends *e) {
    int *const all[] = {e->in, e->out, e->error, e->status};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        end_close(&all[i][0]);
        end_close(&all[i][1]);
    }
    end_close(&e->report);
}

/* A pipe and not a file, because the program cannot take back what it has told. */
static bool report_open(const struct program_stage *s, struct ends *e) {
    if (s->report_path && !mkfifo(s->report_path, 0600)) {
        e->report = open(s->report_path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    }
    return !s->report_path || e->report >= 0;
}

/* The system's first choice when it has no memory left. */
static void volunteer(void) {
    autofd int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "1000", 4);
    }
}

static _Noreturn void stage_exec(const struct program_stage *s, const struct ends *e,
                                 int keeper) {
    int told[2] = {STATUS_BITS, 0};
    confine_child_start(keeper);
    (void)signal(SIGPIPE, SIG_DFL);
    volunteer();
    bool ready = !chdir(s->folder) && dup2(e->in[0], 0) == 0 && dup2(e->out[1], 1) == 1 &&
                 dup2(e->error[1], 2) == 2;
    if (ready) {
        told[1] = (int)confine_self(s->rules);
        (void)!write(e->status[1], told, sizeof told);
        (void)execve(s->argv[0], (char *const *)(uintptr_t)s->argv,
                     (char *const *)(uintptr_t)s->environment);
    }
    told[0] = STATUS_FAILED;
    told[1] = errno;
    (void)!write(e->status[1], told, sizeof told);
    _exit(127);
}

/* --- listening --- */

struct listening {
    const struct program_stage *stage;
    struct program_end *end;
    struct ends ends;
    int pid, process; /* process: a descriptor that is readable when it has ended */
    size_t fed;
    bool reaped;
    size_t shared_before; /* the machine's shared memory when it began */
    uint64_t deadline_ms, look_ms; /* look_ms: at its folder */
    uint64_t kill_ms;              /* after it was asked to end; 0: it was not */
};

static void take_bytes(int *fd, struct buf *to, size_t *count) {
    char bytes[PIECE];
    ssize_t n = read(*fd, bytes, sizeof bytes);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            end_close(fd);
        }
        return;
    }
    size_t room = to->max > to->len ? to->max - to->len : 0;
    *count += (size_t)n;
    (void)buf_add(to, bytes, (size_t)n < room ? (size_t)n : room);
}

static size_t take_report(struct listening *l) {
    size_t taken = 0;
    take_bytes(&l->ends.report, l->stage->report, &taken);
    return taken;
}

static void feed(struct listening *l) {
    size_t left = l->stage->input_len - l->fed;
    ssize_t n = left ? write(l->ends.in[1], l->stage->input + l->fed, left) : 0;
    if (n > 0) {
        l->fed += (size_t)n;
    }
    if (l->fed == l->stage->input_len || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        end_close(&l->ends.in[1]);
    }
}

static void take_status(struct listening *l) {
    int told[2];
    if (read(l->ends.status[0], told, sizeof told) != sizeof told) {
        end_close(&l->ends.status[0]);
    } else if (told[0] == STATUS_BITS) {
        l->end->confinement = (unsigned)told[1];
    } else {
        l->end->failure = -told[1];
    }
}

static void stage_kill(const struct listening *l) {
    (void)kill(-l->pid, SIGKILL);
    (void)kill(l->pid, SIGKILL);
}

/* Reaps it, and processes that outlived it. */
static void reap(struct listening *l) {
    int status, pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == l->pid) {
            l->end->status = status;
            l->reaped = true;
            stage_kill(l);
            l->deadline_ms = clock_ms() + DRAIN_MS;
        }
    }
}

/* Entries take memory, too. Counts to `most`, so that a look takes no longer. */
static size_t folder_bytes(const char *folder, size_t most) {
    enum { ENTRY = 4096 };
    char *paths[] = {(char *)(uintptr_t)folder, NULL};
    size_t sum = 0;
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (const FTSENT *entry; walk && sum <= most && (entry = fts_read(walk));) {
        sum += entry->fts_info == FTS_F   ? (size_t)entry->fts_statp->st_blocks * 512 + ENTRY
               : entry->fts_info == FTS_D ? ENTRY
                                          : 0;
    }
    if (walk) {
        fts_close(walk);
    }
    return sum;
}

/* Bytes of the machine's shared memory: of all processes, resident in one or not. */
static size_t machine_shared(void) {
    struct sysinfo i;
    return sysinfo(&i) ? 0 : i.sharedram * i.mem_unit;
}

static size_t read_text(int pid, const char *name, char *text, size_t room) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, room - 1);
    text[len > 0 ? len : 0] = '\0';
    return len > 0 ? (size_t)len : 0;
}

/* Of its shared mappings, in memory or not. */
static size_t mapped_shared(int pid) {
    char path[40], line[512], how[5];
    size_t sum = 0, from, to;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%zx-%zx %4s", &from, &to, how) == 3 && how[3] == 's') {
            sum += to - from;
        }
    }
    if (f) {
        (void)fclose(f);
    }
    return sum;
}

/* Shared pages that a process lets go (MADV_DONTNEED) stay in memory and are resident no
 * more: at most as much as the machine's shared memory has grown, and as it has mapped. */
static size_t dropped_shared(const struct listening *l, size_t resident) {
    size_t now = machine_shared();
    size_t grown = now > l->shared_before ? now - l->shared_before : 0;
    if (resident + grown <= l->stage->resident_bytes) {
        return 0;
    }
    char text[256];
    unsigned long long shared = 0; /* proc(5), statm: resident files and shared memory */
    (void)read_text(l->pid, "statm", text, sizeof text);
    (void)sscanf(text, "%*s %*s %19llu", &shared);
    size_t held = (size_t)shared * (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = mapped_shared(l->pid), most = grown < mapped ? grown : mapped;
    return most > held ? most - held : 0;
}

/* Fields 20 and 24 of proc(5)'s stat; the name before them may hold anything but is
 * closed by the last ')'. */
static enum stage_limit process_limit(const struct listening *l) {
    const struct program_stage *s = l->stage;
    char text[1024];
    long threads = 0;
    unsigned long long pages = 0;
    (void)read_text(l->pid, "stat", text, sizeof text);
    const char *behind = strrchr(text, ')');
    if (!behind || sscanf(behind,
                          ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                          "%*s %*s %*s %19ld %*s %*s %*s %19llu",
                          &threads, &pages) != 2) {
        return LIMIT_NONE;
    }
    size_t bytes = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
    bool over = s->resident_bytes && (bytes > s->resident_bytes ||
                                      bytes + dropped_shared(l, bytes) > s->resident_bytes);
    return s->threads && threads > s->threads ? LIMIT_THREADS
           : over                             ? LIMIT_MEMORY
                                              : LIMIT_NONE;
}

static enum stage_limit room_limit(struct listening *l, uint64_t now) {
    const struct program_stage *s = l->stage;
    if (s->quota_folder && now >= l->look_ms) {
        l->look_ms = now + FOLDER_MS;
        if (folder_bytes(s->quota_folder, s->quota_bytes) > s->quota_bytes) {
            return LIMIT_FOLDER;
        }
    }
    return process_limit(l);
}

static enum stage_limit limit_reached(struct listening *l, uint64_t now) {
    enum stage_limit room = room_limit(l, now);
    return room ? room : now >= l->deadline_ms ? LIMIT_TIME : LIMIT_NONE;
}

/* Only a process whose time is over can say anything sensible yet. */
static void look(struct listening *l, uint64_t now) {
    if (l->reaped) {
        return;
    }
    if (!l->end->over) {
        l->end->over = limit_reached(l, now);
        if (l->end->over == LIMIT_TIME && l->stage->grace_ms) {
            l->kill_ms = now + l->stage->grace_ms;
            (void)kill(l->pid, SIGTERM);
        } else if (l->end->over) {
            stage_kill(l);
        }
    } else if (l->kill_ms && (now >= l->kill_ms || room_limit(l, now))) {
        l->kill_ms = 0;
        stage_kill(l);
    }
}

static bool is_over(const struct listening *l, uint64_t now) {
    bool silent = l->ends.out[0] < 0 && l->ends.error[0] < 0;
    return l->reaped && (silent || now >= l->deadline_ms);
}

static void listen_once(struct listening *l, uint64_t now) {
    bool told = l->end->over == LIMIT_TIME; /* it dies */
    uint64_t due =
        !told && l->deadline_ms < now + LOOK_MS ? l->deadline_ms : now + LOOK_MS;
    struct pollfd polls[] = {
        {.fd = l->ends.out[0], .events = POLLIN},
        {.fd = l->ends.error[0], .events = POLLIN},
        {.fd = l->ends.in[1], .events = POLLOUT},
        {.fd = l->ends.status[0], .events = POLLIN},
        {.fd = l->reaped ? -1 : l->process, .events = POLLIN},
        {.fd = l->ends.report, .events = POLLIN},
    };
    if (poll(polls, ARRAY_LEN(polls), due > now ? (int)(due - now) : 0) < 0) {
        return;
    }
    if (polls[0].revents) {
        take_bytes(&l->ends.out[0], l->stage->out, &l->end->out_bytes);
    }
    if (polls[1].revents) {
        take_bytes(&l->ends.error[0], l->stage->error, &l->end->error_bytes);
    }
    if (polls[2].revents) {
        feed(l);
    }
    if (polls[3].revents) {
        take_status(l);
    }
    if (polls[5].revents) {
        take_report(l);
    }
}

static void stage_listen(struct listening *l) {
    int *const ours[] = {&l->ends.in[1], &l->ends.out[0], &l->ends.error[0],
                         &l->ends.status[0]};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        (void)fcntl(*ours[i], F_SETFL, O_NONBLOCK);
    }
    for (uint64_t now = clock_ms(); !is_over(l, now); now = clock_ms()) {
        listen_once(l, now);
        reap(l);
        look(l, clock_ms());
    }
    while (l->ends.report >= 0 && take_report(l)) {
    }
    if (l->ends.status[0] >= 0) {
        take_status(l);
        take_status(l); /* both may be there still */
    }
}

bool program_killed_by(const struct program_end *end, int sig) {
    return WIFSIGNALED(end->status) && WTERMSIG(end->status) == sig;
}

void program_stage_run(const struct program_stage *stage, struct program_end *ret) {
    struct listening l = {.stage = stage, .end = ret, .shared_before = machine_shared()};
    uint64_t begun = clock_ms();
    int keeper = getpid();
    *ret = (struct program_end){0};
    if (!ends_open(&l.ends) || !report_open(stage, &l.ends) || (l.pid = fork()) < 0) {
        ret->failure = -errno;
        ends_close(&l.ends);
        return;
    }
    if (l.pid == 0) {
        stage_exec(stage, &l.ends, keeper);
    }
    (void)setpgid(l.pid, l.pid);
    current = l.pid;
    end_close(&l.ends.in[0]);
    end_close(&l.ends.out[1]);
    end_close(&l.ends.error[1]);
    end_close(&l.ends.status[1]);
    l.process = (int)syscall(SYS_pidfd_open, l.pid, 0);
    l.deadline_ms = begun + stage->wall_ms;
    stage_listen(&l);
    current = 0;
    ends_close(&l.ends);
    end_close(&l.process);
    ret->ms = (unsigned)(clock_ms() - begun);
}
