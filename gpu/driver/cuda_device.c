#include "gpu/driver/cuda_device.h"

#include "base/buf.h"
#include "base/err.h"

enum { MODE_PROHIBITED = 2, MIN_PART = 4 };

/* --- reading --- */

static int attribute(const struct cuda_api *api, const struct cuda_device *d, int what) {
    int value = 0;
    return api->device_attribute(&value, what, d->handle) == CUDA_OK ? value : 0;
}

void cuda_uuid_text(char ret[static 48], const char *kind, const unsigned char *bytes) {
    char *at = ret + sprintf(ret, "%s-", kind);
    for (int i = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        at += sprintf(at, "%s%02x", dash ? "-" : "", bytes[i]);
    }
}

static void limits_read(const struct cuda_api *api, struct cuda_device *d) {
    for (int i = 0; i < 3; i++) {
        d->max_block[i] = attribute(api, d, CUDA_DEVICE_MAX_BLOCK_X + i);
        d->max_grid[i] = attribute(api, d, CUDA_DEVICE_MAX_GRID_X + i);
    }
    d->max_threads = attribute(api, d, CUDA_DEVICE_MAX_THREADS_PER_BLOCK);
    d->shared_optin_bytes = attribute(api, d, CUDA_DEVICE_SHARED_OPTIN_BYTES);
    d->cooperative = attribute(api, d, CUDA_DEVICE_COOPERATIVE_LAUNCH) != 0;
    d->clusters = attribute(api, d, CUDA_DEVICE_CLUSTER_LAUNCH) != 0 || d->major >= 9;
}

static int device_read(const struct cuda_api *api, int ordinal, struct cuda_device *ret) {
    struct cuda_device d = {.ordinal = ordinal};
    struct cuda_uuid uuid = {{0}};
    int code = api->device_get(&d.handle, ordinal);
    code = code ? code : api->device_name(d.name, (int)sizeof d.name - 1, d.handle);
    code = code ? code : api->device_uuid(&uuid, d.handle);
    code = code ? code : api->device_memory(&d.memory_bytes, d.handle);
    code = code ? code
                : api->device_attribute(&d.major, CUDA_DEVICE_CAPABILITY_MAJOR, d.handle);
    code = code ? code
                : api->device_attribute(&d.minor, CUDA_DEVICE_CAPABILITY_MINOR, d.handle);
    if (code) {
        return code;
    }
    memcpy(d.uuid_bytes, uuid.bytes, sizeof d.uuid_bytes);
    /* A slice tells itself by its name only. */
    cuda_uuid_text(d.uuid, strstr(d.name, " MIG ") ? "MIG" : "GPU", d.uuid_bytes);
    d.sms = attribute(api, &d, CUDA_DEVICE_SM_COUNT);
    d.l2_bytes = attribute(api, &d, CUDA_DEVICE_L2_BYTES);
    d.clock_khz = attribute(api, &d, CUDA_DEVICE_CLOCK_KHZ);
    d.memory_clock_khz = attribute(api, &d, CUDA_DEVICE_MEMORY_CLOCK_KHZ);
    d.memory_bus_bits = attribute(api, &d, CUDA_DEVICE_MEMORY_BUS_BITS);
    d.compute_mode = attribute(api, &d, CUDA_DEVICE_COMPUTE_MODE);
    limits_read(api, &d);
    *ret = d;
    return CUDA_OK;
}

int cuda_devices_read(const struct cuda_api *api, struct cuda_device *ret, size_t max,
                      int *ret_code, struct err *err) {
    int count = 0, code = api->device_count(&count);
    int known = (int)(max < CUDA_MAX_DEVICES ? max : CUDA_MAX_DEVICES);
    count = count < known ? count : known;
    for (int i = 0; !code && i < count; i++) {
        code = device_read(api, i, &ret[i]);
    }
    *ret_code = code;
    return code ? err_set(err, -EIO, "the devices cannot be read: %s",
                          cuda_code_name(code))
                : count;
}

/* --- choosing --- */

static const char *without_prefix(const char *uuid) {
    return !strncasecmp(uuid, "GPU-", 4) || !strncasecmp(uuid, "MIG-", 4) ? uuid + 4
                                                                          : uuid;
}

static bool is_wanted(const struct cuda_device *d, const char *wanted) {
    char *end;
    long ordinal = strtol(wanted, &end, 10);
    const char *part = without_prefix(wanted);
    if (end != wanted && !*end && strlen(wanted) <= 3) {
        return ordinal == d->ordinal;
    }
    return strlen(part) >= MIN_PART &&
           (!strncasecmp(without_prefix(d->uuid), part, strlen(part)) ||
            strcasestr(d->name, wanted));
}

static void devices_tell(struct buf *out, const struct cuda_device *devices,
                         size_t count) {
    for (size_t i = 0; i < count; i++) {
        buf_addf(out, "%s%d %s (%s)", i ? ", " : "", devices[i].ordinal, devices[i].uuid,
                 devices[i].name);
    }
}

const struct cuda_device *cuda_device_find(const struct cuda_device *devices,
                                           size_t count, const char *wanted,
                                           struct err *err) {
    const struct cuda_device *found = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cuda_device *d = &devices[i];
        if (wanted ? is_wanted(d, wanted) : d->compute_mode != MODE_PROHIBITED) {
            found = found ? found : d;
            matches++;
        }
    }
    if (found && (!wanted || matches == 1)) {
        return found;
    }
    autobuf list = BUF_INIT(300);
    devices_tell(&list, devices, count);
    if (wanted) {
        err_set(err, -ENODEV, "%s CUDA device is called '%.64s'; there %s: %s",
                matches ? "more than one" : "no", wanted, count == 1 ? "is" : "are",
                count ? list.data : "none");
    } else {
        err_set(err, -ENODEV,
                count ? "every CUDA device is in compute mode \"prohibited\""
                      : "the driver sees no CUDA device");
    }
    return NULL;
}

/* --- telling --- */

void cuda_version_text(int version, char ret[static 16]) {
    snprintf(ret, 16, "%d.%d", version / 1000 % 1000, version % 1000 / 10);
}

static json_t *known(json_int_t value) {
    return value > 0 ? json_integer(value) : json_null();
}

/* Both edges of the memory's clock carry data. */
static json_int_t bytes_per_s(const struct cuda_device *d) {
    return (json_int_t)d->memory_clock_khz * 1000 * 2 * d->memory_bus_bits / 8;
}

json_t *cuda_device_to_json(const struct cuda_device *d) {
    static const char *const modes[] = {"default", "exclusive_thread", "prohibited",
                                        "exclusive_process"};
    bool has_mode = d->compute_mode >= 0 && d->compute_mode < 4;
    return json_pack(
        "{s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "ordinal",
        d->ordinal, "name", json_clean_z(d->name), "uuid", d->uuid, "compute_capability",
        json_sprintf("%d.%d", d->major, d->minor), "sms", known(d->sms), "memory_bytes",
        known((json_int_t)d->memory_bytes), "l2_bytes", known(d->l2_bytes),
        "sm_clock_mhz", known(d->clock_khz / 1000), "memory_clock_mhz",
        known(d->memory_clock_khz / 1000), "memory_bus_bits", known(d->memory_bus_bits),
        "memory_bytes_per_s", known(bytes_per_s(d)), "compute_mode",
        has_mode ? modes[d->compute_mode] : "unknown");
}
