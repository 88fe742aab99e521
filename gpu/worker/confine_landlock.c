/* Landlock: a process keeps the files that its rules name, and no others. */
#include "gpu/worker/confine_internal.h"

#include "base/mem.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's interface, spelled out so that old headers do. */
struct landlock_rules {
    uint64_t fs;
    uint64_t net;    /* from ABI 4 */
    uint64_t scoped; /* from ABI 6 */
};
struct landlock_beneath {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

enum { LANDLOCK_VERSION_FLAG = 1, LANDLOCK_BENEATH = 1 };

#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_REMOVE_DIR (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_DIR (1ull << 7)
#define FS_MAKE_REG (1ull << 8)
#define FS_MAKE_SOCK (1ull << 9)
#define FS_MAKE_FIFO (1ull << 10)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL (1ull << 15) /* from ABI 5 */
#define FS_READ (FS_READ_FILE | FS_READ_DIR)
#define FS_DEVICE (FS_READ | FS_WRITE_FILE | FS_IOCTL)
#define FS_WRITE                                                                         \
    (FS_READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |            \
     FS_MAKE_REG | FS_TRUNCATE)

int landlock_abi(void) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);
    return abi < 0 ? 0 : (int)abi;
}

/* Everything that the ABI version can forbid. */
static struct landlock_rules landlock_all(int abi, size_t *ret_size) {
    static const int fs_bits[] = {0, 13, 14, 15, 15, 16};
    struct landlock_rules all = {.fs = (1ull << fs_bits[abi < 5 ? abi : 5]) - 1};
    *ret_size = offsetof(struct landlock_rules, net);
    if (abi >= 4) {
        all.net = 3; /* bind and connect TCP */
        *ret_size = offsetof(struct landlock_rules, scoped);
    }
    if (abi >= 6) {
        all.scoped = 3; /* abstract sockets, signals to processes outside */
        *ret_size = sizeof all;
    }
    return all;
}

/* A rule on a file, as opposed to a folder, may name only what one does with files. */
#define FS_OF_FILES (FS_EXECUTE | FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL)

static void landlock_allow(int ruleset, const char *const *paths, uint64_t access) {
    for (; paths && *paths; paths++) {
        struct stat st;
        autofd int fd = open(*paths, O_PATH | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st)) {
            continue;
        }
        struct landlock_beneath rule = {
            .access = S_ISDIR(st.st_mode) ? access : access & FS_OF_FILES,
            .fd = fd,
        };
        (void)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_BENEATH, &rule, 0);
    }
}

bool landlock_apply(const struct confine_rules *rules) {
    int abi = landlock_abi();
    if (abi < 1) {
        return false;
    }
    size_t size;
    struct landlock_rules all = landlock_all(abi, &size);
    autofd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
    if (ruleset < 0) {
        return false;
    }
    landlock_allow(ruleset, rules->read_paths, FS_READ);
    uint64_t make = rules->may_launch ? FS_MAKE_FIFO | FS_MAKE_SOCK : 0;
    landlock_allow(ruleset, rules->write_paths, (FS_WRITE | make) & all.fs);
    landlock_allow(ruleset, rules->exec_paths, FS_READ | FS_EXECUTE);
    landlock_allow(ruleset, rules->device_paths, FS_DEVICE & all.fs);
    return !syscall(SYS_landlock_restrict_self, ruleset, 0);
}
