#pragma once
/* sanitized_run: the launches that a tool like compute-sanitizer watches.
 *
 * The kernel under test alone, without its reference and without a comparison: both were
 * made before, in a process of their own. The first trial of a few of the smallest cases
 * (the odd sizes that a spec gets besides among them), for a tool makes a launch ten to a
 * hundred times as long. */
#include "base/json.h"

struct backend_class;
struct spec_files;

enum { SANITIZED_MAX_CASES = 4 };
/* The bytes of all buffers; the smallest case may exceed it. */
#define SANITIZED_MAX_BYTES (64u << 20)

/* request: validate_run.h's. {"cases": carried out to some end, "of": chosen, "seeds":
 * theirs, "error"?: why not all}; a kernel that ends in a fault is the tool's to tell.
 * Begins no case after clock_ms is until_ms. New reference. */
json_t *sanitized_run(const json_t *request, const struct spec_files *files,
                      const struct backend_class *backend, uint64_t until_ms);
