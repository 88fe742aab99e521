#pragma once
/* roofline: what no kernel can be faster than.
 *
 * A lower bound of a case's time from the bytes that must move (every input read once,
 * every output written once) and, where somebody knows it, the arithmetic. It bounds a
 * figure and predicts none: a kernel that needs only part of its inputs can be below it,
 * and what lies in the L2 cache is not bound by DRAM. roofline_judge therefore calls a
 * time impossible by a far weaker bound. Pure. */
#include "base/json.h"
#include "gpu/spec/spec_case.h"

/* What one case must move and compute. */
struct roofline_work {
    uint64_t read_bytes;    /* buffers that are inputs, in-and-outs included */
    uint64_t written_bytes; /* outputs, in-and-outs included */
    uint64_t forced_bytes; /* of these the ones that are outputs only: they were poisoned,
                              so it is known that all of them are written */
    uint64_t bytes; /* what must move in all: the first two, or what the spec says */
    double flops;   /* 0 = unknown */
    enum tensor_type type; /* of the arithmetic: the spec's, else that of the narrowest
                              input (floats before integers) */
};

struct roofline_device {
    char name[64];            /* "H100 SXM", else what the device calls itself */
    double bytes_per_s;       /* DRAM; 0 = unknown */
    double store_bytes_per_s; /* of all multiprocessors into the L2 cache; 0 = unknown */
    double flops_per_s[TENSOR_TYPES]; /* dense, by the fastest unit; 0 = unknown */
    uint64_t l2_bytes;
    const char *source; /* of the figures, in words */
};

/* flops: from an operator reference, or 0; the spec's own figure goes first. -EINVAL: an
 * expression of the spec's roofline has no value for this case. */
int roofline_work_of(struct roofline_work *ret, const struct spec_case *c, double flops,
                     struct err *err);
/* facts: backend_class.device_facts; NULL stands for an H100 SXM. Known names take a
 * table's figures, others those that their attributes give. */
void roofline_device_of(struct roofline_device *ret, const json_t *facts);

enum roofline_speed {
    ROOFLINE_POSSIBLE,
    ROOFLINE_SUSPICIOUS, /* cold, yet faster than DRAM can deliver the inputs, and take
                            the outputs that the L2 cache cannot hold */
    ROOFLINE_IMPOSSIBLE, /* faster than the outputs leave the multiprocessors (64 bytes a
                            clock each), or than ROOFLINE_FLOOR_S */
};
/* No kernel begins and ends in less: consecutive empty ones take more than a microsecond.
 */
#define ROOFLINE_FLOOR_S 0.5e-6
enum roofline_speed roofline_judge(const struct roofline_work *work,
                                   const struct roofline_device *device,
                                   double measured_s, bool cold);

/* kernel/validate's "roofline": {"device", "bound": "memory|compute", "limit_us",
 * "percent"? (of the limit that was reached), "method": "measured|bound", "bytes",
 * "flops"?, "source"}. measured_s <= 0: the bound alone. NULL where nothing is known. */
json_t *roofline_to_json(const struct roofline_work *work,
                         const struct roofline_device *device, double measured_s);
