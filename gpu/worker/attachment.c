/* What came with a request: a daemon on this machine sends descriptors, one elsewhere
 * bytes. */
#include "gpu/worker/worker_internal.h"

#include "base/mem.h"
#include "base/sealed.h"

#include <string.h>
#include <unistd.h>

static size_t bytes_take(struct rpc_call *call, int *ret_fd) {
    autobuf bytes = rpc_call_take_attached(call);
    *ret_fd = bytes.len ? bytes_seal(bytes.data, bytes.len) : -1;
    return *ret_fd >= 0;
}

bool attachment_take(struct worker *w, struct rpc_call *call, struct attachment *ret) {
    const json_t *params = rpc_call_params(call);
    json_int_t parcel = json_get_integer(params, "parcel", 0);
    size_t files = json_array_size(json_object_get(params, "file_bytes"));
    int fds[FD_PARCEL_MAX];
    size_t count = parcel ? fd_channel_take(&w->channel, (uint64_t)parcel, fds)
                          : bytes_take(call, fds);
    *ret = (struct attachment){.fds = xcalloc(count ? count : 1, sizeof *fds),
                               .count = count};
    memcpy(ret->fds, fds, count * sizeof *fds);
    if (count && json_is_object(params) && (!parcel || count == 1 + files)) {
        return true;
    }
    attachment_finish(ret);
    rpc_error(call, parcel ? RPC_INTERNAL_ERROR : RPC_INVALID_PARAMS, NULL,
              "what belongs to this request did not come with it");
    return false;
}

void attachment_finish(struct attachment *a) {
    for (size_t i = 0; i < a->count; i++) {
        close(a->fds[i]);
    }
    free(a->fds);
    *a = (struct attachment){0};
}
