#pragma once
/* roofline: a lower bound of a kernel's time.
 *
 * The bound for a case follows from the bytes that must move (every input read once,
 * every output written once) and, if known, the arithmetic. It is a bound and not a
 * prediction: a kernel that needs only part of its inputs can be faster, and data in the
 * L2 cache is not limited by DRAM. roofline_judge therefore calls a time impossible only
 * by a far weaker bound. Pure. */
#include "gpu/spec/spec_case.h"

/* The data and arithmetic of one case. */
struct roofline_work {
    uint64_t read_bytes;    /* all inputs, including in-out buffers */
    uint64_t written_bytes; /* all outputs, including in-out buffers */
    /* of these, the ones that are only outputs: they were poisoned, so all of them are
     * known to be written */
    uint64_t forced_bytes;
    uint64_t bytes; /* that must move in all: the first two, or the spec's figure */
    double flops;   /* 0 = unknown */
    /* of the arithmetic: the spec's, otherwise the type of the narrowest input (floats
     * before integers) */
    enum tensor_type type;
};

struct roofline_device {
    char name[64];            /* "H100 SXM", otherwise the device's own name */
    double bytes_per_s;       /* DRAM; 0 = unknown */
    double store_bytes_per_s; /* from all multiprocessors to the L2 cache; 0 = unknown */
    double flops_per_s[TENSOR_TYPES]; /* dense, on the fastest unit; 0 = unknown */
    uint64_t l2_bytes;
    const char *source; /* of the figures, as text */
};

/* flops: from an operator reference, or 0; the spec's own figure takes precedence.
 * -EINVAL: an expression of the spec's roofline has no value for this case. */
int roofline_work_of(struct roofline_work *ret, const struct spec_case *c, double flops,
                     struct err *err);
/* facts: backend_class.device_facts; NULL means an H100 SXM. Known names use a table's
 * figures, others those derived from their attributes. */
void roofline_device_of(struct roofline_device *ret, const json_t *facts);

enum roofline_speed {
    ROOFLINE_POSSIBLE,
    /* with a cold cache, faster than DRAM can deliver the inputs and take the outputs
     * that exceed the L2 cache */
    ROOFLINE_SUSPICIOUS,
    /* faster than the outputs can leave the multiprocessors (64 bytes per clock each), or
     * less than ROOFLINE_FLOOR_S */
    ROOFLINE_IMPOSSIBLE,
};
/* No kernel starts and ends in less: consecutive empty ones take more than a
 * microsecond. */
#define ROOFLINE_FLOOR_S 0.5e-6
enum roofline_speed roofline_judge(const struct roofline_work *work,
                                   const struct roofline_device *device,
                                   double measured_s, bool cold);

/* kernel/validate's "roofline": {"device", "bound": "memory|compute", "limit_us",
 * "percent"? (of the limit that was reached), "method": "measured|bound", "bytes",
 * "flops"?, "source"}. measured_s <= 0: only the bound. NULL if nothing is known. */
json_t *roofline_to_json(const struct roofline_work *work,
                         const struct roofline_device *device, double measured_s);
