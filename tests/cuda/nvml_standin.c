/* A stand-in of libnvidia-ml: what `<path of the library>.conf` says of clocks and of
 * what holds them down, for the devices of the stand-in of libcuda.
 *
 *   sm_clock MHZ (1980)   memory_clock MHZ (2619)   temperature C (41)
 *   power_limit MW (700000)   reasons BITS (0)   persistence 0|1 (1)
 *   others N              other processes on the device (0)
 *   hidden                this process is not among those that are told
 *   later N MHZ BITS      from the N-th reading of the SM clock on: clock and reasons
 *   fail FUNCTION CODE    each call of it
 *   hang FUNCTION         it never returns
 * Codes and layouts are those of nvml.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_FOUND = 6,
    TOO_SMALL = 7
};

typedef struct nvmlDevice_st *nvmlDevice_t;
struct nvmlProcessInfo_st {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

static struct {
    unsigned sm_clock, memory_clock, temperature, power_limit, persistence, others;
    unsigned long long reasons, later_reasons;
    unsigned later, later_clock, readings;
    int hidden, users;
    char failing[64], hanging[64];
    int code;
} nvml = {.sm_clock = 1980,
          .memory_clock = 2619,
          .temperature = 41,
          .power_limit = 700000,
          .persistence = 1};

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *ret);
EXPORT int nvmlDeviceGetClockInfo(nvmlDevice_t device, int which, unsigned *ret);
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                  unsigned long long *ret);
EXPORT int nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *ret);
EXPORT int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned *ret);
EXPORT int nvmlDeviceGetPersistenceMode(nvmlDevice_t device, int *ret);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                                   struct nvmlProcessInfo_st *ret);

static int line_read(const char *line) {
    static const struct {
        const char *format;
        unsigned *value;
    } values[] = {
        {"sm_clock %u", &nvml.sm_clock},       {"memory_clock %u", &nvml.memory_clock},
        {"temperature %u", &nvml.temperature}, {"power_limit %u", &nvml.power_limit},
        {"persistence %u", &nvml.persistence}, {"others %u", &nvml.others}};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        if (sscanf(line, values[k].format, values[k].value) == 1) {
            return 1;
        }
    }
#pragma GCC diagnostic pop
    if (strcmp(line, "hidden") == 0) {
        nvml.hidden = 1;
        return 1;
    }
    return sscanf(line, "reasons %lli", (long long *)&nvml.reasons) == 1 ||
           sscanf(line, "later %u %u %lli", &nvml.later, &nvml.later_clock,
                  (long long *)&nvml.later_reasons) == 3 ||
           sscanf(line, "fail %63s %d", nvml.failing, &nvml.code) == 2 ||
           sscanf(line, "hang %63s", nvml.hanging) == 1;
}

__attribute__((constructor)) static void conf_read(void) {
    char path[4096], line[256];
    Dl_info info;
    if (!dladdr(&nvml, &info) || !info.dli_fname) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s.conf", info.dli_fname);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        if (*line && !line_read(line)) {
            (void)fprintf(stderr, "libnvidia-ml stand-in: not understood: %s\n", line);
            abort();
        }
    }
    if (f) {
        (void)fclose(f);
    }
}

static int enter(const char *function, const void *device) {
    if (strcmp(function, nvml.hanging) == 0) {
        for (;;) {
            (void)pause();
        }
    }
    if (strcmp(function, nvml.failing) == 0) {
        return nvml.code;
    }
    return !nvml.users                     ? UNINITIALIZED
           : device == (const void *)&nvml ? SUCCESS
                                           : INVALID_ARGUMENT;
}

int nvmlInit_v2(void) {
    nvml.users++;
    int code = enter(__func__, &nvml);
    nvml.users -= code != SUCCESS;
    return code;
}

int nvmlShutdown(void) {
    int code = enter(__func__, &nvml);
    nvml.users -= code == SUCCESS;
    return code;
}

/* GPU-5d5d5d5d-…-5d5d5d5d5dNN, as the stand-in of libcuda calls them. */
int nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *ret) {
    int code = enter(__func__, &nvml);
    static const char first[] = "GPU-5d5d5d5d-5d5d-5d5d-5d5d-5d5d5d5d5d";
    if (code == SUCCESS && strncmp(uuid, first, sizeof first - 1) != 0) {
        return NOT_FOUND;
    }
    *ret = code == SUCCESS ? (nvmlDevice_t)(void *)&nvml : NULL;
    return code;
}

int nvmlDeviceGetClockInfo(nvmlDevice_t device, int which, unsigned *ret) {
    int code = enter(__func__, device);
    if (which == 1) {
        nvml.readings++;
    }
    int late = nvml.later && nvml.readings >= nvml.later;
    *ret = which == 2 ? nvml.memory_clock : late ? nvml.later_clock : nvml.sm_clock;
    return code;
}

int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *ret) {
    int code = enter(__func__, device);
    int late = nvml.later && nvml.readings >= nvml.later;
    *ret = late ? nvml.later_reasons : nvml.reasons;
    return code;
}

int nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *ret) {
    int code = enter(__func__, device);
    *ret = nvml.temperature;
    return sensor ? INVALID_ARGUMENT : code;
}

int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned *ret) {
    int code = enter(__func__, device);
    *ret = nvml.power_limit;
    return code;
}

int nvmlDeviceGetPersistenceMode(nvmlDevice_t device, int *ret) {
    int code = enter(__func__, device);
    *ret = (int)nvml.persistence;
    return code;
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                            struct nvmlProcessInfo_st *ret) {
    int code = enter(__func__, device);
    unsigned all = nvml.others + (nvml.hidden ? 0 : 1);
    if (code == SUCCESS && *count < all) {
        *count = all;
        return TOO_SMALL;
    }
    for (unsigned k = 0; k < all && code == SUCCESS; k++) {
        ret[k] = (struct nvmlProcessInfo_st){.pid = 1000000 + k};
    }
    if (code == SUCCESS && !nvml.hidden) {
        ret[all - 1].pid = (unsigned)getpid();
    }
    *count = all;
    return code;
}
