/* Copies and fills. */
#include "base/mem.h"
#include "tests/cuda/device_memory.h"
#include "tests/cuda/output.h"
#include "tests/cuda/stream.h"

#include <string.h>

/* Checked when it was asked; what it names cannot be freed before it is done. */
int transfer_run(const struct task *op) {
    uint8_t *to = op->to ? device_bytes_at(op->to, op->len) : op->host;
    const uint8_t *from = op->from ? device_bytes_at(op->from, op->len) : op->bytes;
    if (!to || (op->kind != OP_SET && !from)) {
        return CUDA_ILLEGAL_ADDRESS;
    }
    if (op->kind != OP_SET) {
        memmove(to, from, op->len);
    } else if (op->width == 1) {
        memset(to, (int)op->value, op->len);
    } else {
        for (size_t k = 0; k < op->len; k += sizeof op->value) {
            memcpy(to + k, &op->value, sizeof op->value);
        }
    }
    return CUDA_OK;
}

static struct task *transfer_new(enum task_kind kind, cuda_address to, cuda_address from,
                                 size_t len) {
    struct task *op = task_new(kind);
    op->to = to;
    op->from = from;
    op->len = len;
    return op;
}

/* From pageable memory: read before the call returns. */
int cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t bytes,
                         cuda_stream_ref stream) {
    ENTER(cuMemcpyHtoDAsync_v2, NEED_CONTEXT);
    if (bytes == 0) {
        return CUDA_OK;
    }
    if (!from || !device_bytes_at(to, bytes)) {
        return CUDA_INVALID_VALUE;
    }
    struct task *op = transfer_new(OP_COPY_IN, to, 0, bytes);
    op->bytes = xmalloc(bytes);
    memcpy(op->bytes, from, bytes);
    return stream_put(stream, op, NULL);
}

/* To pageable memory: returns when it is there, and so waits for what runs before it. */
int cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t bytes,
                         cuda_stream_ref stream) {
    ENTER(cuMemcpyDtoHAsync_v2, NEED_CONTEXT);
    if (bytes == 0) {
        return CUDA_OK;
    }
    if (!to || !device_bytes_at(from, bytes)) {
        return CUDA_INVALID_VALUE;
    }
    struct task *op = transfer_new(OP_COPY_OUT, 0, from, bytes);
    uint64_t number;
    op->host = to;
    int code = stream_put(stream, op, &number);
    return code ? code : tasks_wait(number);
}

int cuMemcpyDtoDAsync_v2(cuda_address to, cuda_address from, size_t bytes,
                         cuda_stream_ref stream) {
    ENTER(cuMemcpyDtoDAsync_v2, NEED_CONTEXT);
    if (bytes == 0) {
        return CUDA_OK;
    }
    if (!device_bytes_at(to, bytes) || !device_bytes_at(from, bytes)) {
        return CUDA_INVALID_VALUE;
    }
    return stream_put(stream, transfer_new(OP_COPY, to, from, bytes), NULL);
}

static int fill(cuda_address to, unsigned value, unsigned width, size_t count,
                cuda_stream_ref stream) {
    if (count == 0) {
        return CUDA_OK;
    }
    if (count > SIZE_MAX / width || to % width || !device_bytes_at(to, count * width)) {
        return CUDA_INVALID_VALUE;
    }
    struct task *op = transfer_new(OP_SET, to, 0, count * width);
    op->value = value;
    op->width = width;
    return stream_put(stream, op, NULL);
}

int cuMemsetD8Async(cuda_address to, unsigned char value, size_t count,
                    cuda_stream_ref stream) {
    ENTER(cuMemsetD8Async, NEED_CONTEXT);
    return fill(to, value, 1, count, stream);
}

int cuMemsetD32Async(cuda_address to, unsigned value, size_t count,
                     cuda_stream_ref stream) {
    ENTER(cuMemsetD32Async, NEED_CONTEXT);
    return fill(to, value, 4, count, stream);
}
