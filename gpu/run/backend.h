#pragma once
/* backend: runs kernels, on the emulator or on a CUDA device.
 *
 * A backend is opened on one compiled module, holds device memory, launches kernels one
 * after the other and reports findings. It lives in a child process of the worker and
 * knows neither JSON-RPC nor the check spec's expectations. Call from one
 * thread. */
#include "gpu/spec/spec_case.h"
#include "gpu/spec/texture.h"

struct backend;

struct backend_options {
    const char *ptx; /* of the module */
    size_t ptx_len;
    const void *cubin; /* of the same module, or NULL; a CUDA device prefers it */
    size_t cubin_len;
    const char *const *entries; /* mangled names that will be launched; NULL-terminated */
    unsigned checks;            /* enum spec_check bits */
    bool counters;
    uint64_t instructions; /* budget in lane-instructions; 0 = the default */
    uint64_t memory;       /* bytes of device memory */
    unsigned threads;      /* 0 = all CPUs */
    uint64_t seed;
    bool ideal_sums; /* of tensor cores instead of an H100's; only the emulator's */
};

enum backend_memory { /* bits */
                      BACKEND_READ_ONLY = 1,
                      BACKEND_UNINITIALIZED = 2,
                      BACKEND_OUTPUT = 4,
};

enum backend_end {
    BACKEND_DONE,
    BACKEND_FAULT, /* the kernel did something that ends it on a GPU too; see findings */
    BACKEND_DEADLOCK,
    BACKEND_BUDGET,  /* the instruction budget is used up */
    BACKEND_REFUSED, /* the launch is impossible; err says why, code CUDA's */
    BACKEND_STOPPED,
};

struct backend_launch {
    const char *entry, *label; /* the mangled name, and the name for people */
    struct case_launch shape;
    bool cooperative;
    const void *params;
    size_t param_bytes;
};

/* What to time: the launches of one trial, with their arguments in place. */
struct backend_timing {
    const struct backend_launch *launches;
    size_t count;
    const struct spec_benchmark *how;
    uint64_t until_ms; /* clock_ms at which it must end with the samples it has */
};

struct backend_class {
    const char *kind; /* "emulator", "cuda" */
    unsigned checks;  /* enum spec_check bits that it supports */
    /* -ENOTSUP with *ret_unsupported: [{"opcode", "file"?, "line"?, "count"}]. After a
     * failure *ret may be set; it then supports only trouble() and close(). */
    int (*open)(struct backend **ret, const struct backend_options *options,
                json_t **ret_unsupported, struct err *err);
    void (*close)(struct backend *b);
    const char *(*device)(const struct backend *b); /* "CPU, avx512, 8 threads" */
    int (*alloc)(struct backend *b, const char *name, uint64_t bytes, unsigned flags,
                 uint64_t *ret_address, struct err *err);
    int (*global)(struct backend *b, const char *name, uint64_t *ret_address,
                  uint64_t *ret_bytes, struct err *err);
    int (*write)(struct backend *b, uint64_t address, const void *bytes, uint64_t len,
                 struct err *err);
    int (*read)(struct backend *b, uint64_t address, void *bytes, uint64_t len,
                struct err *err);
    /* The host memory of [address, address + len), valid between launches, when several
     * threads may also write to it; NULL: there is none. The member is NULL if the
     * backend has no host memory. */
    void *(*view)(const struct backend *b, uint64_t address, uint64_t len);
    /* Whether a launch may have written to the buffer at `address`; only with a view. */
    bool (*touched)(const struct backend *b, uint64_t address);
    /* The number of unwritten bytes of an output, and the first one's offset; 0 if the
     * backend cannot know. */
    uint64_t (*unwritten)(struct backend *b, uint64_t address, uint64_t *ret_first);
    /* Whether all these bytes of an output were written. NULL: the backend cannot know
     * for so few bytes. */
    bool (*written)(struct backend *b, uint64_t address, uint64_t bytes);
    /* Returns the number of the kernel's parameters, the first `max` in ret; -ENOENT. */
    int (*params)(struct backend *b, const char *entry, struct kernel_param *ret,
                  size_t max, size_t *ret_block_bytes);
    /* Writes a CUtensorMap of the tensor at `address` to ret. The map has passed
     * tensor_map_check. -ENOTSUP. NULL: this backend has no tensor maps. */
    int (*tensor_map)(struct backend *b, const struct tensor_map *map, uint64_t address,
                      unsigned char ret[static TENSOR_MAP_BYTES], struct err *err);
    /* A texture or surface object over the buffer at `address`. It has the buffer's
     * contents at the start of a launch; surface writes are in the buffer after the
     * launch. -ENOTSUP, -ENOMEM; valid until close(). */
    int (*image)(struct backend *b, const struct texture *texture, uint64_t address,
                 uint64_t *ret_handle, struct err *err);
    enum backend_end (*launch)(struct backend *b, const struct backend_launch *launch,
                               struct err *err);
    /* Times the launches: 0 with kernel/validate's `timing` (new reference); -ETIMEDOUT;
     * if a launch that succeeded before fails: -EIO, or -EDEADLK if it does not end.
     * NULL: this backend's times are meaningless. */
    int (*time)(struct backend *b, const struct backend_timing *what, json_t **ret,
                struct err *err);
    /* The facts for the roofline: {"name", "uuid", "compute_capability", "driver", "sms",
     * "sm_clock_mhz", "memory_bytes_per_s", "l2_bytes"}, new reference; NULL without a
     * device. */
    json_t *(*device_facts)(const struct backend *b);
    void (*stop)(struct backend *b); /* async-signal-safe, any thread */
    /* CUDA's name of the last error, with a hint or NULL in *ret_hint; NULL: no error, or
     * one without a name. The member may be NULL. Valid until close(). */
    const char *(*trouble)(const struct backend *b, const char **ret_hint);
    json_t *(*findings)(const struct backend *b, uint64_t *ret_omitted); /* new */
    json_t *(*counters)(const struct backend *b); /* new, or NULL; may be NULL */
    const char *(*printed)(const struct backend *b);
    uint64_t (*spent)(const struct backend *b); /* lane-instructions */
    /* A text on what the race check left out, or NULL. The member may be NULL. */
    const char *(*unchecked)(const struct backend *b);
    /* The tensor core instruction with an H100's sums that kept the fewest bits in a
     * launch: {"kernel", "file", "line", "column"?, "related"?, "bits": of fraction}, new
     * reference; NULL: there was none. The member may be NULL. */
    json_t *(*tensor_sum)(const struct backend *b);
    /* The number of blocks of the running launch that have started, out of *ret_blocks
     * (0: unknown). From any thread between open and close. The member may be NULL. */
    uint64_t (*progress)(const struct backend *b, uint64_t *ret_blocks);
};

extern const struct backend_class backend_emulator, backend_cuda;
