/* install_faults: installs that are killed, raced, starved and shut out.
 *
 * The property is always the same: whoever looks finds the old skill or the new one, each
 * file of it, and the next install finds nothing in its way. What a skill must look like
 * is in install_versions.c, file by file; nothing of the installer is used to judge it.
 *
 * usage: install_faults [--all]   (TAP on standard output)
 *
 * --all kills 1,000 installs at random moments and each kind of change at every system
 * call: a minute and a half of one processor. Without it fewer die, and of the system
 * calls each STRIDE-th, which share TEST_DRAW says. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/format/skill.h"
#include "skills/install/agents.h"
#include "skills/install/install.h"
#include "tests/e2e/install_versions.h"
#include "tests/unit/skills/install_clean.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRIDE 11   /* odd: both the entry to a call and the return from it */

static char top[64], root[80];
static struct agents agents;
static struct skill versions[2];
static unsigned dice = 20260101;
static int test_count, failures, stride = 1, first_call;

static unsigned roll(unsigned below) {
    dice = dice * 1664525 + 1013904223;
    return (dice >> 8) % below;
}

static void say(bool ok, const char *what, const char *detail) {
    printf("%sok %d - %s%s%s\n", ok ? "" : "not ", ++test_count, what,
           detail[0] ? ": " : "", detail);
    fflush(stdout);
    failures += !ok;
}

static void die(const char *what) {
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}

static void write_version(const char *folder, int version, const char *name) {
    struct err err = {0};
    if (version_write(folder, version, name, &err) < 0) {
        die(err.msg);
    }
}

/* --- doing it --- */

static const char *const claude[] = {"claude-code", NULL};

static char *folder_of(const char *project) {
    return xasprintf("%s/.claude/skills", project);
}

/* The outcome's first letter, 'c' for a conflict, 'x' for any other refusal. */
static int letter_of(json_t *results) {
    const json_t *first = json_array_get(results, 0);
    const char *outcome = json_get_string(first, "outcome", "?");
    const char *reason = json_get_string(first, "reason", "");
    int letter = strcmp(outcome, "refused") != 0 ? outcome[1] /* in.. up.. un.. re.. */
                 : strncmp(reason, "conflict", 8) == 0       ? 'C'
                 : strncmp(reason, "no_space", 8) == 0       ? 'S'
                 : strncmp(reason, "not_writable", 12) == 0  ? 'W'
                 : strncmp(reason, "not_installed", 13) == 0 ? 'N'
                                                             : 'X';
    if (letter == 'X' || letter == 'C') {
        printf("# %s\n", reason);
    }
    if (outcome[0] == 'u' && outcome[1] == 'n') {
        letter = '=';
    }
    json_decref(results);
    return letter;
}

static int do_install(const struct skill *skill, const char *project) {
    struct install_request request = {
        .skill = skill, .agents = claude, .scope = "project", .root = project};
    return letter_of(install_skill(&agents, &request));
}

static int do_uninstall(const char *project) {
    struct install_request request = {
        .name = "demo", .agents = claude, .scope = "project", .root = project};
    return letter_of(uninstall_skill(&agents, &request));
}

enum action { INSTALL_FIRST, INSTALL_SECOND, UNINSTALL };

static int act(enum action action, const char *project) {
    return action == UNINSTALL ? do_uninstall(project)
                               : do_install(&versions[action], project);
}

/* As file systems without exchange have it. */
static void forbid_exchange(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ARRAY_LEN(filter), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        _exit(99);
    }
}

static pid_t start(enum action action, const char *project, bool exchange) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!exchange) {
            forbid_exchange();
        }
        _exit(act(action, project));
    }
    return pid;
}

/* The exit code, or -1 when it was killed. */
static int end(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void sleep_us(unsigned us) {
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L},
              NULL);
}

static unsigned now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned)(t.tv_sec * 1000000 + t.tv_nsec / 1000);
}

/* --- tests --- */

/* The shortest of some: what else the machine does is no part of an install. */
static unsigned install_duration(const char *project) {
    unsigned shortest = UINT_MAX;
    for (int i = 0; i < 20; i++) {
        unsigned begin = now_us();
        end(start(i % 2 ? INSTALL_FIRST : INSTALL_SECOND, project, true));
        unsigned took = now_us() - begin;
        shortest = took < shortest ? took : shortest;
    }
    return shortest;
}

/* Killed at random moments, some after the end: never mixed, never missing. */
static void test_random_kills(int kills) {
    autofree char *folder = folder_of(root), *target = path_join(folder, "demo");
    int killed = 0, seen[4] = {0}, refused = 0;
    act(INSTALL_FIRST, root);
    unsigned mean = install_duration(root), least = mean / 8;
    for (int i = 0; i < kills; i++) {
        pid_t pid = start(i % 2 ? INSTALL_FIRST : INSTALL_SECOND, root, true);
        sleep_us(roll(mean + mean / 4));
        kill(pid, SIGKILL);
        int code = end(pid);
        killed += code < 0;
        mean = code < 0       ? mean + mean / 32 + 1
               : mean > least ? mean - mean / 16
                              : mean; /* other work comes and goes */
        refused += code == 'C' || code == 'X';
        seen[state_of(target) + 1]++;
    }
    install_clean(folder);
    int left = count_leftovers(folder);
    char detail[200];
    snprintf(
        detail, sizeof detail,
        "%d installs of %u us, %d killed; old or new %d, missing %d, mixed %d, refused "
        "%d, leftovers %d",
        kills, mean, killed, seen[1] + seen[2], seen[0], seen[3], refused, left);
    say(!seen[0] && !seen[3] && !refused && !left && killed > kills / 4 && killed < kills,
        "installs killed at random moments leave the old skill or the new one", detail);
}

/* Let the child run to its n-th system call and kill it there; false when it ended. */
static bool kill_at_call(pid_t pid, int n) {
    int status;
    waitpid(pid, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
    for (int i = 0; i < n; i++) {
        if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0 || waitpid(pid, &status, 0) < 0 ||
            !WIFSTOPPED(status)) {
            return false;
        }
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return true;
}

static pid_t start_traced(enum action action, bool exchange) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!exchange) {
            forbid_exchange();
        }
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) {
            _exit(98);
        }
        raise(SIGSTOP);
        _exit(act(action, root));
    }
    return pid;
}

/* From a known state, stops before and after system calls: every one, or a share. */
static void test_every_call(const char *what, enum action before, enum action action,
                            bool exchange) {
    autofree char *folder = folder_of(root), *target = path_join(folder, "demo");
    int missing = 0, mixed = 0, odd = 0, n = first_call, left = 0, kills = -1;
    bool may_miss = before == UNINSTALL || action == UNINSTALL;
    for (bool killed = true; killed; n += stride, kills++) {
        int code = end(start(before, root, exchange));
        odd += code == 'C' || code == 'X';
        killed = kill_at_call(start_traced(action, exchange), n);
        enum state at_once = state_of(target);
        install_clean(folder);
        enum state state = state_of(target);
        missing += state == MISSING || (exchange && at_once == MISSING);
        mixed += state == MIXED || at_once == MIXED;
        left += count_leftovers(folder);
    }
    char detail[200];
    snprintf(detail, sizeof detail,
             "%d kills in some %d calls; missing %d, mixed %d, refused %d, leftovers %d",
             kills, n / 2, missing, mixed, odd, left);
    say((may_miss || !missing) && !mixed && !odd && !left && n > 100, what, detail);
}

/* Let the child run to its first such system call, save a file of the skill as an editor
 * would, and let it end: the outcome's letter. */
static int edit_at_call(pid_t pid, long number, const char *file) {
    struct __ptrace_syscall_info info;
    int status;
    waitpid(pid, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
    do {
        if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0 || waitpid(pid, &status, 0) < 0 ||
            !WIFSTOPPED(status)) {
            return -1;
        }
        ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
    } while (info.op != PTRACE_SYSCALL_INFO_ENTRY ||
             info.entry.nr != (unsigned long)number);
    FILE *f = fopen(file, "a");
    fputs("An edit of the last moment.\n", f);
    fclose(f);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return end(pid);
}

/* What a person saves between the judgement and the exchange is not lost. */
static void test_edit_in_between(void) {
    autofree char *folder = folder_of(root), *file = path_join(folder, "demo/SKILL.md");
    static const struct {
        enum action action;
        long call;
        bool exchange;
    } cases[] = {{INSTALL_SECOND, SYS_renameat2, true},
                 {INSTALL_SECOND, SYS_renameat2, false},
                 {UNINSTALL, SYS_renameat, true}};
    int kept = 0;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stat before, after;
        act(UNINSTALL, root);
        act(INSTALL_FIRST, root);
        stat(file, &before);
        int code = edit_at_call(start_traced(cases[i].action, cases[i].exchange),
                                cases[i].call, file);
        kept += code == 'C' && stat(file, &after) == 0 &&
                after.st_size > before.st_size && after.st_ino == before.st_ino &&
                !count_leftovers(folder);
        autofree char *target = path_join(folder, "demo");
        write_version(target, 0, "demo");
    }
    char detail[40];
    snprintf(detail, sizeof detail, "%d of 3 edits kept", kept);
    say(kept == 3, "an edit in the last moment is a conflict and is kept", detail);
}

/* Several processes at the same skill. */
static void test_races(void) {
    autofree char *folder = folder_of(root), *target = path_join(folder, "demo");
    int bad = 0;
    for (int round = 0; round < 30; round++) {
        pid_t pids[4];
        for (int i = 0; i < 4; i++) {
            pids[i] = start((i + round) % 2 ? INSTALL_FIRST : INSTALL_SECOND, root, true);
        }
        for (int i = 0; i < 4; i++) {
            int code = end(pids[i]);
            bad += code != 'n' && code != 'p' && code != '=';
        }
        enum state state = state_of(target);
        bad += state != FIRST && state != SECOND;
    }
    bad += count_leftovers(folder);
    bad += do_uninstall(root) != 'e'; /* the record agrees with what lies there */
    say(!bad, "four processes that install at once all succeed, and one skill is whole",
        "");
}

static void install_many(int process, int count, const char *project) {
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "skill-%d-%d", process, i);
        autofree char *folder = xasprintf("%s/many/%s", top, name);
        struct skill skill = {0};
        write_version(folder, 0, name);
        if (skill_open(&skill, folder, true, NULL) < 0 ||
            do_install(&skill, project) != 'n') {
            _exit(1);
        }
        skill_finish(&skill);
    }
    _exit(0);
}

/* Several processes with skills of their own: no entry of the record is lost. */
static void test_record(void) {
    autofree char *project = xasprintf("%s/busy", top), *folder = folder_of(project);
    mkdir(project, 0755);
    pid_t pids[4];
    int bad = 0;
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            install_many(i, 10, project);
        }
    }
    for (int i = 0; i < 4; i++) {
        bad += end(pids[i]) != 0;
    }
    autofree char *path = path_join(folder, ".upskilld-lock.json");
    autojson *record = json_load_file(path, 0, NULL);
    size_t entries = json_object_size(json_object_get(record, "skills"));
    char detail[60];
    snprintf(detail, sizeof detail, "%zu of 40 entries, %d processes failed", entries,
             bad);
    say(!bad && entries == 40, "installs of many skills at once are all recorded",
        detail);
}

/* A reader by path never finds the skill missing while it is replaced. */
static void test_reader(void) {
    autofree char *folder = folder_of(root);
    autofree char *path = xasprintf("%s/demo/SKILL.md", folder);
    act(INSTALL_FIRST, root);
    fflush(stdout);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 200; i++) {
            act(i % 2 ? INSTALL_FIRST : INSTALL_SECOND, root);
        }
        _exit(0);
    }
    int looks = 0, missed = 0;
    while (waitpid(writer, NULL, WNOHANG) == 0) {
        for (int i = 0; i < 50; i++, looks++) {
            missed += access(path, R_OK) < 0;
        }
        sleep_us(100);
    }
    char detail[80];
    snprintf(detail, sizeof detail, "%d looks during 200 updates, %d missed", looks,
             missed);
    say(!missed && looks > 1000, "a reader never finds the skill missing", detail);
}

/* On a file system of its own, in a mount namespace of its own. */
static int on_small_disk(void) {
    autofree char *disk = xasprintf("%s/disk", top), *folder = folder_of(disk);
    autofree char *target = path_join(folder, "demo");
    if (mkdir(disk, 0755) < 0 || unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", disk, "tmpfs", 0, "size=280k,mode=755") < 0) {
        return 77;
    }
    /* One version fits, two beside each other do not. */
    if (do_install(&versions[0], disk) != 'n' || do_install(&versions[1], disk) != 'S' ||
        state_of(target) != FIRST || count_leftovers(folder)) {
        return 1;
    }
    if (mount("none", disk, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0) {
        return 77;
    }
    if (do_install(&versions[1], disk) != 'W' || do_uninstall(disk) != 'W' ||
        state_of(target) != FIRST) {
        return 2;
    }
    if (mount("none", disk, NULL, MS_REMOUNT, "size=2m") < 0) {
        return 77;
    }
    return do_install(&versions[1], disk) == 'p' && state_of(target) == SECOND ? 0 : 3;
}

static void test_full_and_read_only(void) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int code = on_small_disk();
        fflush(stdout);
        _exit(code);
    }
    int code = end(pid);
    char detail[32];
    snprintf(detail, sizeof detail, "stage %d", code);
    say(code == 0 || code == 77,
        code == 77
            ? "a full and a read-only disk # SKIP mounting is not allowed here"
            : "a full and a read-only disk keep the old skill and have their reasons",
        code == 0 || code == 77 ? "" : detail);
}

static void set_up(void) {
    struct err err = {0};
    /* Memory by default: a killed process needs no disk to be a killed process, and some
     * 6,000 installs would spend minutes in fsync. TMPDIR chooses another place. */
    const char *tmp = getenv("TMPDIR");
    tmp = tmp ? tmp : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(top, sizeof top, "%.40s/install-faults-XXXXXX", tmp);
    if (!mkdtemp(top)) {
        die(top);
    }
    snprintf(root, sizeof root, "%s/project", top);
    mkdir(root, 0755);
    setenv("HOME", top, 1);
    for (int i = 0; i < 2; i++) {
        autofree char *folder = xasprintf("%s/source-%d/demo", top, i);
        write_version(folder, i, "demo");
        if (skill_open(&versions[i], folder, true, &err) < 0) {
            die(err.msg);
        }
    }
    if (agents_load(&agents, &err) < 0) {
        die(err.msg);
    }
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    int kills = all ? 1000 : 300;
    set_up();
    printf("1..10\n");
    if (!all) {
        stride = STRIDE;
        first_call = atoi(getenv("TEST_DRAW") ? getenv("TEST_DRAW") : "1") % STRIDE;
        printf("# system calls %d, %d, ...; --all kills at each\n", first_call,
               first_call + STRIDE);
    }
    test_random_kills(kills);
    test_every_call("an update killed at system calls is old or new", INSTALL_FIRST,
                    INSTALL_SECOND, true);
    test_every_call("a first install killed at system calls is nothing or all", UNINSTALL,
                    INSTALL_FIRST, true);
    test_every_call("an uninstall killed at system calls is all or nothing",
                    INSTALL_FIRST, UNINSTALL, true);
    test_every_call("an update without exchange is old or new once it is cleaned",
                    INSTALL_FIRST, INSTALL_SECOND, false);
    test_edit_in_between();
    test_races();
    test_record();
    test_reader();
    test_full_and_read_only();
    for (int i = 0; i < 2; i++) {
        skill_finish(&versions[i]);
    }
    agents_finish(&agents);
    dir_remove(top, NULL);
    return failures != 0;
}
