#pragma once
/* clang-format off */
/* conf: what a stand-in is to be and what is to go wrong in it.
 *
 * Read once, when the library is loaded, from `<path of the library>.conf`; without the
 * file everything has its default. A word a line, `#` begins a comment:
 *
 *   devices N            how many there are (1)
 *   name TEXT            of every device ("NVIDIA H100 80GB HBM3")
 *   capability M.N       (9.0)
 *   driver N             as cuDriverGetVersion tells (13000)
 *   memory BYTES         that there seem to be (80 GiB)
 *   room BYTES           that can really be allocated (2 GiB)
 *   l2 BYTES             (50 MiB)
 *   sms N                (132)
 *   compute_mode N       (0)
 *   ecc N                (1)
 *   cubin CODE           what the load of a cubin is answered with (209)
 *   launch_us T          virtual duration of a launch (10)
 *   kernel_us NAME T     of kernels whose name contains NAME
 *   cold_us T            added after L2 was flushed (0)
 *   gap_us T             before each launch that is not in a graph (0)
 *   jitter_us T          adds 0, 1/10 … 10/10 of T to launches, in turn (0)
 *   bytes_per_us X       of copies and fills (2e6)
 *   delay_ms N M         launch N takes M real milliseconds
 *   fail F N CODE        the N-th call of function F (its symbol) returns CODE; N is 1, 2 …
 *                        or * for each; a code that is sticky stays
 *   crash F N HOW        segv, abort, exit or kill in the call; exit: with status 0,
 *                        without a word
 *   hang F N             the call never returns and only SIGKILL ends the process
 *   fault N CODE         launch N ends in CODE, later, as a kernel's error does
 *   stuck N              launch N never ends
 *   print N BYTES        launch N prints so much
 *   exit_hangs           a process that exits waits for what runs
 *   wants_socket         cuInit fails with 304 where no Unix socket can be made
 */
/* clang-format on */
#include "tests/cuda/standin.h"

enum conf_action { ACTION_FAIL, ACTION_CRASH, ACTION_HANG };
enum conf_crash { CRASH_SEGV, CRASH_ABORT, CRASH_EXIT, CRASH_KILL };

struct conf_rule { /* of a function */
    enum standin_function function;
    uint64_t nth; /* 0: every call */
    enum conf_action action;
    int value; /* code, or enum conf_crash */
};
enum launch_action { LAUNCH_DELAY, LAUNCH_FAULT, LAUNCH_STUCK, LAUNCH_PRINT };
struct launch_rule {
    uint64_t nth; /* 0: every launch */
    enum launch_action action;
    uint64_t value;
};
struct kernel_time {
    char name[64];
    double us;
};

#define CONF_MAX_RULES 64

struct conf {
    char bad[160]; /* a line that is not understood: cuInit fails and tells it */
    int devices, major, minor, driver, sms, compute_mode, ecc, cubin;
    char name[128];
    uint64_t memory, room, l2;
    double launch_us, cold_us, gap_us, jitter_us, bytes_per_us;
    bool exit_hangs, wants_socket;
    struct conf_rule rules[CONF_MAX_RULES];
    struct launch_rule launches[CONF_MAX_RULES];
    struct kernel_time times[CONF_MAX_RULES];
    unsigned rule_count, launch_count, time_count;
};
extern struct conf conf;

void conf_read(void);
/* The rule for launch number `number` (from 1) with this action; NULL. */
const struct launch_rule *conf_launch(enum launch_action action, uint64_t number);
