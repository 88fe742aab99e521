/* Rule: more static shared memory than a block gets unasked. */
#include "gpu/lint/lint.h"

#define MAX_STATIC_SHARED 49152 /* bytes per block: CUDA C++ Programming Guide */

/* ptxas rejects this for every target but sm_90a, whose cubins then hold what CUDA
 * documents as not launchable without the opt-in that only dynamic shared memory has. */
void lint_static_shared(const struct lint_kernel *k) {
    if (k->shared > MAX_STATIC_SHARED) {
        lint_report(k, "static_shared_too_large", FINDING_WARNING,
                    "%s declares %d bytes of static shared memory, more than the %d a "
                    "block gets by default: make it dynamic (extern __shared__) and raise "
                    "cudaFuncAttributeMaxDynamicSharedMemorySize, or the launch can fail",
                    k->name, k->shared, MAX_STATIC_SHARED);
    }
}
