#pragma once
/* roofline: what no kernel can be faster than.
 *
 * A lower bound of a case's time from the bytes that must move (every input read once,
 * every output written once) and, where somebody knows it, the arithmetic. It is a bound
 * on a figure, not a prediction: a kernel that reads only part of its inputs can be below
 * it, and data in the L2 cache are not bound by DRAM. Pure. */
#include "base/json.h"
#include "gpu/validate/check_case.h"

/* What a case must move and compute. */
struct roofline_work {
    uint64_t read_bytes;    /* buffers that are inputs, in-and-outs included */
    uint64_t written_bytes; /* outputs, in-and-outs included */
    uint64_t forced_bytes;  /* of these the ones that are outputs only: proved to be
                               written whole, because they were poisoned */
    double flops;           /* 0 = unknown */
    enum tensor_type type;  /* the arithmetic's, of the widest float buffer */
};

struct roofline_device {
    char name[64];                    /* "H100 SXM", else what the device calls itself */
    double bytes_per_s;               /* DRAM; 0 = unknown */
    double l2_bytes_per_s;            /* what all multiprocessors together can write */
    double flops_per_s[TENSOR_TYPES]; /* dense, the fastest unit for the type; 0 =
                                         unknown */
    uint64_t l2_bytes;
    const char *source; /* of the figures, in words */
};

/* flops: from an operator reference, or 0. */
void roofline_work_of(struct roofline_work *ret, const struct check_case *c,
                      double flops);
/* facts: backend_class.device_facts; NULL stands for an H100 SXM. Known names take a
 * table's figures, others those that their attributes give. */
void roofline_device_of(struct roofline_device *ret, const json_t *facts);
/* Seconds no kernel of this work takes less than, and which of the two is the limit. */
double roofline_limit_s(const struct roofline_work *work,
                        const struct roofline_device *device, bool *ret_compute_bound);

enum roofline_speed {
    ROOFLINE_POSSIBLE,
    ROOFLINE_SUSPICIOUS, /* cold, yet faster than DRAM could deliver the inputs */
    ROOFLINE_IMPOSSIBLE, /* faster than the outputs can leave the multiprocessors, or than
                            a launch takes */
};
enum roofline_speed roofline_judge(const struct roofline_work *work,
                                   const struct roofline_device *device,
                                   double measured_s, bool cold);

/* kernel/validate's "roofline": {"device", "bound": "memory|compute", "limit_us",
 * "percent"? (of the limit reached), "method": "measured|bound", "bytes", "flops"?,
 * "source"}; measured_s <= 0: bound only. NULL where neither figure is known. */
json_t *roofline_to_json(const struct roofline_work *work,
                         const struct roofline_device *device, double measured_s);
