#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *x) {
    auto block = cg::this_thread_block();
    auto t = cg::tiled_partition<33>(block);
    x[0] = t.size();
}
