#include "gpu/driver/nvml.h"

#include "base/err.h"
#include "base/find.h"
#include "gpu/driver/cuda_device.h"

#include <dlfcn.h>
#include <unistd.h>

#define LIBRARY "libnvidia-ml.so.1"
enum { SUCCESS = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0, MAX_PROCESSES = 256 };

/* Tags and names are those of nvml.h. */
typedef struct nvmlDevice_st *nvmlDevice_t;
struct nvmlProcessInfo_st { /* of _v2 and _v3 */
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

struct nvml {
    void *library;
    nvmlDevice_t device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *uuid, nvmlDevice_t *ret);
    int (*clock)(nvmlDevice_t device, int which, unsigned *ret);
    int (*reasons)(nvmlDevice_t device, unsigned long long *ret);
    int (*temperature)(nvmlDevice_t device, int sensor, unsigned *ret);
    int (*power_limit)(nvmlDevice_t device, unsigned *ret_mw);
    int (*persistence)(nvmlDevice_t device, int *ret);
    int (*processes)(nvmlDevice_t device, unsigned *count,
                     struct nvmlProcessInfo_st *ret);
};

/* The first name that the library has; NULL. */
static void *find(const struct nvml *nvml, const char *name, const char *older) {
    void *f = dlsym(nvml->library, name);
    return f || !older ? f : dlsym(nvml->library, older);
}

static void find_all(struct nvml *n) {
    /* ISO C has no cast from an object's to a function's address; POSIX says how. */
#define FIND(member, name, older) *(void **)&n->member = find(n, name, older)
    FIND(init, "nvmlInit_v2", "nvmlInit");
    FIND(shutdown, "nvmlShutdown", NULL);
    FIND(by_uuid, "nvmlDeviceGetHandleByUUID", NULL);
    FIND(clock, "nvmlDeviceGetClockInfo", NULL);
    FIND(reasons, "nvmlDeviceGetCurrentClocksEventReasons",
         "nvmlDeviceGetCurrentClocksThrottleReasons");
    FIND(temperature, "nvmlDeviceGetTemperature", NULL);
    FIND(power_limit, "nvmlDeviceGetEnforcedPowerLimit", NULL);
    FIND(persistence, "nvmlDeviceGetPersistenceMode", NULL);
    FIND(processes, "nvmlDeviceGetComputeRunningProcesses_v3",
         "nvmlDeviceGetComputeRunningProcesses_v2");
#undef FIND
}

/* A device that CUDA sees is a whole one or a slice of one. */
static int find_device(struct nvml *n, const unsigned char *uuid) {
    static const char *const kinds[] = {"GPU", "MIG"};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        char text[48];
        cuda_uuid_text(text, kinds[i], uuid);
        if (n->by_uuid(text, &n->device) == SUCCESS) {
            return 0;
        }
    }
    return -ENODEV;
}

int nvml_open(struct nvml **ret, const char *path, const unsigned char uuid[16],
              struct err *err) {
    struct nvml *n = xcalloc(1, sizeof *n);
    n->library = dlopen(path ? path : LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        free(n);
        return err_set(err, -ENOENT, "%s is not there", path ? path : LIBRARY);
    }
    find_all(n);
    int r = 0;
    if (!n->init || !n->shutdown || !n->by_uuid) {
        r = err_set(err, -ENOSYS, "%s lacks what every version has",
                    path ? path : LIBRARY);
    } else if ((r = n->init()) != SUCCESS) {
        r = err_set(err, -EIO, "NVML does not start (its code %d)", r);
    } else if (find_device(n, uuid) < 0) {
        r = err_set(err, -ENODEV, "NVML does not know the device");
        (void)n->shutdown();
    }
    if (r < 0) {
        free(n); /* the library stays: it may have started threads */
        return r;
    }
    *ret = n;
    return 0;
}

void nvml_close(struct nvml *nvml) {
    if (nvml) {
        (void)nvml->shutdown();
        free(nvml);
    }
}

/* --- the state --- */

/* Processes are told by the ids of the host's namespace: only where this one is among
 * them is it known that the others are others. */
static void read_others(struct nvml *n, struct nvml_state *ret) {
    struct nvmlProcessInfo_st list[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES;
    if (!n->processes || n->processes(n->device, &count, list) != SUCCESS ||
        count > MAX_PROCESSES) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (list[i].pid == (unsigned)getpid()) {
            ret->known |= NVML_KNOWS_OTHERS;
            ret->other_processes = count - 1;
        }
    }
}

void nvml_read(struct nvml *n, struct nvml_state *ret) {
    unsigned long long reasons = 0;
    unsigned milliwatts = 0;
    int persistence = 0;
    *ret = (struct nvml_state){0};
#define ASK(bit, member, ...)                                                            \
    ret->known |= n->member && n->member(n->device, __VA_ARGS__) == SUCCESS ? (bit) : 0u
    ASK(NVML_KNOWS_SM_CLOCK, clock, CLOCK_SM, &ret->sm_clock_mhz);
    ASK(NVML_KNOWS_MEMORY_CLOCK, clock, CLOCK_MEMORY, &ret->memory_clock_mhz);
    ASK(NVML_KNOWS_REASONS, reasons, &reasons);
    ASK(NVML_KNOWS_TEMPERATURE, temperature, SENSOR_GPU, &ret->temperature_c);
    ASK(NVML_KNOWS_POWER_LIMIT, power_limit, &milliwatts);
    ASK(NVML_KNOWS_PERSISTENCE, persistence, &persistence);
#undef ASK
    ret->reasons = reasons;
    ret->power_limit_w = milliwatts / 1e3;
    ret->persistence = persistence == 1;
    read_others(n, ret);
}

static const struct {
    uint64_t bit;
    const char *name;
    bool throttles;
} reason_names[] = {
    {0x1, "idle", false},
    {0x2, "clocks_set", false},
    {0x4, "sw_power_cap", true},
    {0x8, "hw_slowdown", true},
    {0x10, "sync_boost", false},
    {0x20, "sw_thermal_slowdown", true},
    {0x40, "hw_thermal_slowdown", true},
    {0x80, "hw_power_brake", true},
    {0x100, "display_clock", false},
};

bool nvml_reasons_throttle(uint64_t reasons) {
    return any_of(i, 0, ARRAY_LEN(reason_names),
                  reason_names[i].throttles && (reasons & reason_names[i].bit));
}

json_t *nvml_reasons_to_json(uint64_t reasons) {
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(reason_names); i++) {
        if (reasons & reason_names[i].bit) {
            json_array_append_new(list, json_string(reason_names[i].name));
            reasons &= ~reason_names[i].bit;
        }
    }
    if (reasons) {
        json_array_append_new(list, json_sprintf("0x%llx", (unsigned long long)reasons));
    }
    return list;
}
