#include "gpu/worker/cuda_room.h"

#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "gpu/worker/confine.h"

#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The loader searches the first of these by default, the others only if it is configured
 * to. */
static const char *const library_dirs[] = {
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    /* Red Hat; Kubernetes; WSL; NixOS */
    "/usr/lib64/nvidia",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
    /* Only where LD_LIBRARY_PATH says so. */
    "/usr/local/cuda/compat",
};
enum { FIRST_OTHER = 4, LAST_OTHER = 8, MAX_DIRS = 8 };

static bool holds_driver(const char *dir) {
    autofree char *path = path_join(dir, "libcuda.so.1");
    return access(path, R_OK) == 0;
}

/* Calls for each absolute folder of LD_LIBRARY_PATH that holds a driver; their number. */
static size_t path_dirs(char **ret, size_t max) {
    const char *paths = getenv("LD_LIBRARY_PATH");
    size_t count = 0;
    while (paths && *paths) {
        size_t len = strcspn(paths, ":");
        autofree char *dir = xstrndup(paths, len);
        if (dir[0] == '/' && count < max && holds_driver(dir)) {
            ret[count++] = take(dir);
        }
        paths += len + (paths[len] == ':');
    }
    return count;
}

bool cuda_room_has_driver(void) {
    const char *own = getenv("UPSKILLD_LIBCUDA");
    char *dirs[1] = {0};
    bool found = (own && *own && access(own, R_OK) == 0) ||
                 access("/proc/driver/nvidia/version", F_OK) == 0 ||
                 any_of(i, 0, ARRAY_LEN(library_dirs), holds_driver(library_dirs[i])) ||
                 path_dirs(dirs, 1) > 0;
    free(dirs[0]);
    return found;
}

/* --- environment --- */

static bool is_passed(const char *variable) {
    static const char *const prefixes[] = {
        "CUDA_VISIBLE_DEVICES=", "CUDA_DEVICE_ORDER=", "CUDA_MPS_",
        "CUDA_DISABLE_PTX_JIT=", "UPSKILLD_LIBCUDA=",  "UPSKILLD_EMULATOR_CODE="};
    return any_of(i, 0, ARRAY_LEN(prefixes),
                  !strncmp(variable, prefixes[i], strlen(prefixes[i])));
}

/* Those of LD_LIBRARY_PATH; else the first of the others, when the loader would find no
 * driver by itself. */
static size_t driver_dirs(char **ret) {
    size_t count = path_dirs(ret, MAX_DIRS), i = 0;
    while (!count && i < FIRST_OTHER && !holds_driver(library_dirs[i])) {
        i++;
    }
    for (; !count && i >= FIRST_OTHER && i <= LAST_OTHER; i++) {
        if (holds_driver(library_dirs[i])) {
            ret[count++] = xstrdup(library_dirs[i]);
        }
    }
    return count;
}

static void add_library_path(struct strings *names) {
    char *dirs[MAX_DIRS];
    size_t count = driver_dirs(dirs);
    autofree char *joined = xstrdup("");
    for (size_t i = 0; i < count; i++) {
        char *longer = xasprintf("%s%s%s", joined, *joined ? ":" : "", dirs[i]);
        free(joined);
        joined = longer;
        free(dirs[i]);
    }
    if (*joined) {
        strings_add(names, xasprintf("LD_LIBRARY_PATH=%s", joined));
    }
}

#define CONFINEMENT_VARIABLE "UPSKILLD_CUDA_CONFINEMENT"
static const char *const confinement_names[] = {"", "full", "limits"};

enum cuda_confinement cuda_room_confinement(void) {
    const char *wanted = getenv(CONFINEMENT_VARIABLE);
    size_t i = ARRAY_LEN(confinement_names);
    while (wanted && --i > 0 && strcmp(wanted, confinement_names[i]) != 0) {}
    return wanted ? (enum cuda_confinement)i : CUDA_CONFINEMENT_TRY;
}

void cuda_room_set_confinement(enum cuda_confinement confinement) {
    (void)setenv(CONFINEMENT_VARIABLE, confinement_names[confinement], 1);
}

char **cuda_room_environment(enum cuda_confinement confinement) {
    struct strings names = {0};
    strings_add(&names,
                xasprintf(CONFINEMENT_VARIABLE "=%s", confinement_names[confinement]));
    strings_add(&names, xstrdup("CUDA_MODULE_LOADING=EAGER"));
    strings_add(&names, xstrdup("CUDA_CACHE_DISABLE=1"));
    /* Memory that a trial gave back is the next one's: first touches of a gigabyte take
     * longer than all that is done with it. */
    strings_add(&names, xstrdup("GLIBC_TUNABLES=glibc.malloc.mmap_max=0:"
                                "glibc.malloc.trim_threshold=0x1000000000"));
    for (char **variable = environ; variable && *variable; variable++) {
        if (is_passed(*variable)) {
            strings_add(&names, xstrdup(*variable));
        }
    }
    add_library_path(&names);
    return names.list;
}

/* --- entering --- */

void cuda_room_make_devices(int (*init)(unsigned flags)) {
    if (access("/proc/driver/nvidia/version", F_OK) ||
        (!access("/dev/nvidiactl", F_OK) && !access("/dev/nvidia-uvm", F_OK))) {
        return;
    }
    int supervisor = getpid(), pid = fork();
    if (pid == 0) {
        confine_child_start(supervisor);
        (void)init(0);
        _exit(0);
    }
    if (pid > 0) {
        (void)waitpid(pid, NULL, 0);
    }
}

/* The folder of a path, links followed; NULL. */
static char *real_folder(const char *library) {
    autofree char *real = library ? realpath(library, NULL) : NULL;
    char *slash = real ? strrchr(real, '/') : NULL;
    return slash && slash > real ? xstrndup(real, (size_t)(slash - real)) : NULL;
}

static void add_readable(struct strings *names, const char *library) {
    static const char *const always[] = {"/proc",
                                         "/sys",
                                         "/lib",
                                         "/lib64",
                                         "/etc/ld.so.cache",
                                         "/etc/ld.so.conf",
                                         "/etc/nvidia",
                                         "/usr/share/nvidia",
                                         "/dev/urandom",
                                         "/usr/lib/os-release"};
    char *folder = real_folder(library), *dirs[MAX_DIRS];
    size_t count = path_dirs(dirs, MAX_DIRS);
    for (size_t i = 0; i < ARRAY_LEN(always); i++) {
        strings_add(names, xstrdup(always[i]));
    }
    for (size_t i = 0; i < ARRAY_LEN(library_dirs); i++) {
        strings_add(names, xstrdup(library_dirs[i]));
    }
    for (size_t i = 0; i < count; i++) {
        strings_add(names, dirs[i]);
    }
    if (folder) {
        strings_add(names, folder);
    }
}

static void add_devices(struct strings *names) {
    static const char *const patterns[] = {"/dev/nvidia*", "/dev/dxg"};
    glob_t found = {0};
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        (void)glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        strings_add(names, xstrdup(found.gl_pathv[i]));
    }
    globfree(&found);
    strings_add(names, xstrdup("/dev/null"));
    strings_add(names, xstrdup("/dev/zero"));
}

/* Threads get names in the one, devices locks in the other, which has to be there before
 * and to be ours: without it nothing is locked, and the timing says so. */
static void add_writable(struct strings *names) {
    autofree char *locks = xasprintf("/tmp/upskilld-%u", (unsigned)getuid());
    struct stat st;
    (void)mkdir(locks, 0700);
    if (!lstat(locks, &st) && S_ISDIR(st.st_mode) && st.st_uid == getuid()) {
        strings_add(names, take(locks));
    }
    strings_add(names, xstrdup("/proc/self/task"));
}

static bool has_mps(void) {
    return getenv("CUDA_MPS_PIPE_DIRECTORY") || !access("/tmp/nvidia-mps", F_OK);
}

static unsigned enter(unsigned cpu_s, const char *library,
                      const struct cuda_room_tool *tool) {
    autostrings readable = {0}, writable = {0}, devices = {0};
    add_readable(&readable, library);
    add_writable(&writable);
    add_devices(&devices);
    if (has_mps()) {
        const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
        strings_add(&writable, xstrdup(folder ? folder : "/tmp/nvidia-mps"));
    }
    if (tool) {
        strings_add(&writable, xstrdup(tool->folder));
    }
    return confine_self(&(struct confine_rules){
        .read_paths = (const char *const *)readable.list,
        .write_paths = (const char *const *)writable.list,
        .device_paths = (const char *const *)devices.list,
        .exec_paths = tool ? tool->exec_paths : NULL,
        .may_thread = true,
        .may_drive = true,
        .may_reach_mps = has_mps(),
        .may_launch = tool != NULL,
        .limits_only = cuda_room_confinement() == CUDA_CONFINEMENT_LIMITS,
        .cpu_s = cpu_s,
        .file_bytes = tool ? tool->file_bytes : 0,
    });
}

unsigned cuda_room_enter(unsigned cpu_s, const char *library) {
    return enter(cpu_s, library, NULL);
}

unsigned cuda_room_enter_tool(const struct cuda_room_tool *tool) {
    return enter(tool->cpu_s, tool->library, tool);
}
