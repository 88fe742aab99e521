#pragma once
/* backend: what runs kernels: our CPU machine here, a CUDA device elsewhere.
 *
 * A backend is opened on one compiled module, holds device memory, launches kernels one
 * after the other and tells what it noticed. It lives in a child process of the worker;
 * nothing here knows of JSON-RPC or of the check that is being made. Call from one
 * thread. */
#include "base/json.h"
#include "gpu/spec/spec_case.h"
#include "gpu/spec/texture.h"
#include "gpu/tensor/tensor_map.h"

struct backend;
struct err;

struct backend_options {
    const char *ptx; /* of the module */
    size_t ptx_len;
    const void *cubin; /* of the same module, or NULL; a CUDA device prefers it */
    size_t cubin_len;
    const char *device; /* UUID or ordinal of the CUDA device; NULL: the first visible */
    const char *const *entries; /* mangled names that will be launched; NULL-terminated */
    unsigned checks;            /* enum spec_check bits */
    bool counters;
    uint64_t instructions; /* budget in lane-instructions; 0 = the default */
    uint64_t memory;       /* bytes of device memory */
    unsigned threads;      /* 0 = all CPUs */
    uint64_t seed;
    bool ideal_sums; /* of tensor cores, else an H100's; an H100 has its own */
};

enum backend_memory { /* bits */
                      BACKEND_READ_ONLY = 1,
                      BACKEND_UNINITIALIZED = 2,
                      BACKEND_OUTPUT = 4,
};

enum backend_end {
    BACKEND_DONE,
    BACKEND_FAULT, /* the kernel did what ends it on a GPU too; findings say what */
    BACKEND_DEADLOCK,
    BACKEND_BUDGET,  /* the instruction budget is used up */
    BACKEND_REFUSED, /* the launch is impossible; err says why, code CUDA's */
    BACKEND_STOPPED,
};

struct backend_launch {
    const char *entry, *label; /* mangled, and what people call it */
    struct case_launch shape;
    bool cooperative;
    const void *params;
    size_t param_bytes;
};

/* What is timed: the launches of one trial, as they are already placed. */
struct backend_timing {
    const struct backend_launch *launches;
    size_t count;
    unsigned samples;
    bool warm;         /* L2 keeps what the sample before left; else it is flushed */
    uint64_t until_ms; /* clock_ms at which it must have ended with what it has */
};

struct backend_class {
    const char *kind; /* "emulator", "cuda" */
    unsigned checks;  /* enum spec_check bits that it can carry out */
    /* -ENOTSUP with *ret_unsupported: [{"opcode", "file"?, "line"?, "count"}]. After a
     * failure *ret may be set to something that only tells its trouble and is closed. */
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
    /* The host's own memory behind [address, address + len), between launches, which is
     * also written to there by several threads; NULL: not there. NULL: the backend has
     * none. */
    void *(*view)(const struct backend *b, uint64_t address, uint64_t len);
    /* May a launch have written to the buffer at `address`? Of a backend with a view. */
    bool (*touched)(const struct backend *b, uint64_t address);
    /* Bytes of an output that nothing wrote, and the first one's offset; 0 when the
     * backend cannot know. */
    uint64_t (*unwritten)(struct backend *b, uint64_t address, uint64_t *ret_first);
    /* Did something write all these bytes of an output? NULL: the backend cannot know of
     * so few. */
    bool (*written)(struct backend *b, uint64_t address, uint64_t bytes);
    /* Returns the number of the kernel's parameters, the first `max` in ret; -ENOENT. */
    int (*params)(struct backend *b, const char *entry, struct kernel_param *ret,
                  size_t max, size_t *ret_block_bytes);
    /* A CUtensorMap of the tensor at `address` into ret. The map keeps tensor_map_check's
     * rules already. -ENOTSUP; NULL: this backend has none. */
    int (*tensor_map)(struct backend *b, const struct tensor_map *map, uint64_t address,
                      unsigned char ret[static TENSOR_MAP_BYTES], struct err *err);
    /* A texture or surface object that shows the buffer at `address`. It is read as it is
     * when a launch begins; what a surface writes is in the buffer when the launch has
     * ended. -ENOTSUP, -ENOMEM; it lasts until the close. */
    int (*image)(struct backend *b, const struct texture *texture, uint64_t address,
                 uint64_t *ret_handle, struct err *err);
    enum backend_end (*launch)(struct backend *b, const struct backend_launch *launch,
                               struct err *err);
    /* Time the launches: 0 with kernel/validate's `timing` (new reference); -ETIMEDOUT; a
     * launch that went well before went wrong: -EIO, or -EDEADLK when it did not end.
     * NULL: this backend's time means nothing. */
    int (*time)(struct backend *b, const struct backend_timing *what, json_t **ret,
                struct err *err);
    /* What the roofline needs: {"name", "uuid", "compute_capability", "driver", "sms",
     * "sm_clock_mhz", "memory_bytes_per_s", "l2_bytes"}, new reference; NULL where there
     * is no device. */
    json_t *(*device_facts)(const struct backend *b);
    void (*stop)(struct backend *b); /* async-signal-safe, any thread */
    /* The name that CUDA has for what went wrong last, with a hint or NULL in *ret_hint;
     * NULL: nothing did, or it has none. May be NULL. Valid until the close. */
    const char *(*trouble)(const struct backend *b, const char **ret_hint);
    json_t *(*findings)(const struct backend *b, uint64_t *ret_omitted); /* new */
    json_t *(*counters)(const struct backend *b); /* new, or NULL; may be NULL */
    const char *(*printed)(const struct backend *b);
    uint64_t (*spent)(const struct backend *b); /* lane-instructions */
    /* What of the race check was left out, in words, or NULL. May be NULL. */
    const char *(*unchecked)(const struct backend *b);
    /* An instruction by which a launch added floats in a tensor core as an H100 does, one
     * that keeps the fewest bits: {"kernel", "file", "line", "column"?, "related"?,
     * "bits": of fraction}, new reference; NULL: there was none. May be NULL. */
    json_t *(*tensor_sum)(const struct backend *b);
    /* Blocks of the launch that is going on that have begun, of *ret_blocks (0: not
     * known). From any thread between open and close. May be NULL. */
    uint64_t (*progress)(const struct backend *b, uint64_t *ret_blocks);
};

extern const struct backend_class backend_emulator, backend_cuda;
