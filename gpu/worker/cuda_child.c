#include "gpu/worker/cuda_child.h"

#include "base/clock.h"
#include "base/err.h"
#include "gpu/driver/cuda_module.h"
#include "gpu/driver/cuda_output.h"
#include "gpu/run/backend.h"
#include "gpu/run/backend_cuda.h"
#include "gpu/worker/cuda_room.h"

#include <dlfcn.h>

const struct backend_class *const cuda_child_backend = &backend_cuda;

static int driver_load(const struct cuda_api **ret, struct err *err) {
    const char *path = getenv("UPSKILLD_LIBCUDA");
    return cuda_api_load(ret, path && path[0] == '/' ? path : NULL, err);
}

/* The path of the library that contains this function; or NULL. */
static const char *library_of(const struct cuda_api *api) {
    Dl_info info;
    void *function;
    memcpy(&function, &api->init, sizeof function);
    return dladdr(function, &info) ? info.dli_fname : NULL;
}

/* Codes that a driver gives whatever it may open and call. */
static bool is_plain(int code) {
    return code == CUDA_STUB_LIBRARY || code == CUDA_DEVICE_UNAVAILABLE ||
           code == CUDA_SYSTEM_NOT_READY || code == CUDA_OK;
}

static enum cuda_child_state device_start(struct cuda_child *child,
                                          const struct cuda_api *api, struct err *err) {
    static struct cuda_context context; /* for the process's life */
    uint64_t now = clock_ms();
    uint64_t left = child->deadline_ms > now ? child->deadline_ms - now : 0;
    int r = cuda_context_open(&context, api, child->device, now + left / 2, err);
    child->refused = r < 0 && !is_plain(context.code);
    if (r < 0 || (child->ptx &&
                  (cuda_target_check(&context.device, child->ptx, err) < 0 ||
                   cuda_version_check(context.driver_version, child->ptx, err) < 0))) {
        return CUDA_CHILD_UNUSABLE;
    }
    if (cuda_output_start(err) < 0) {
        return CUDA_CHILD_UNUSABLE;
    }
    context.deadline_ms = child->deadline_ms;
    backend_cuda_use(&context);
    return CUDA_CHILD_READY;
}

enum cuda_child_state cuda_child_start(struct cuda_child *child, struct err *err) {
    const struct cuda_api *api;
    int r = driver_load(&api, err);
    if (r < 0) {
        return r == -ENOENT ? CUDA_CHILD_NO_DRIVER : CUDA_CHILD_UNUSABLE;
    }
    if (!child->is_confined) {
        cuda_room_make_devices(api->init);
        child->confinement = cuda_room_enter(child->cpu_s, library_of(api));
    }
    return device_start(child, api, err);
}

/* --- devices --- */

static json_t *devices_failed(json_t *answer, int code, const char *message) {
    const char *hint = code ? cuda_code_hint(code) : "";
    json_object_set_new(answer, "error",
                        json_pack("{s:s, s:o, s:s*}", "code",
                                  code ? cuda_code_name(code) : "no_gpu", "message",
                                  json_clean_z(message), "hint", *hint ? hint : NULL));
    return answer;
}

json_t *cuda_child_devices(void) {
    static struct cuda_device devices[CUDA_MAX_DEVICES];
    json_t *list = json_array(), *answer = json_pack("{s:o}", "devices", list);
    const struct cuda_api *api;
    struct err err = {0};
    char version[16];
    int number = 0, code = 0;
    if (driver_load(&api, &err) < 0) {
        return devices_failed(answer, 0, err.msg);
    }
    (void)api->driver_version(&number);
    cuda_version_text(number, version);
    json_object_set_new(answer, "driver", json_string(version));
    code = api->init(0);
    if (code) {
        err_set(&err, -EIO, "the driver does not start: %s", cuda_code_name(code));
        return devices_failed(answer, code, err.msg);
    }
    int count = cuda_devices_read(api, devices, CUDA_MAX_DEVICES, &code, &err);
    if (count < 0) {
        return devices_failed(answer, code, err.msg);
    }
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, cuda_device_to_json(&devices[i]));
    }
    return answer;
}
