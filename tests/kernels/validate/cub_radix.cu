// Keys and their places sorted inside a block by cub.
#include <cub/block/block_radix_sort.cuh>

extern "C" __global__ void sort_pairs(const unsigned *in, unsigned *keys, int *from, int n) {
    using Sort = cub::BlockRadixSort<unsigned, 64, 4, int>;
    __shared__ typename Sort::TempStorage temp;
    unsigned key[4];
    int place[4];
    for (int k = 0; k < 4; k++) {
        int i = threadIdx.x * 4 + k;
        key[k] = i < n ? in[i] : 0xffffffffu;
        place[k] = i;
    }
    Sort(temp).Sort(key, place);
    for (int k = 0; k < 4; k++) {
        int i = threadIdx.x * 4 + k;
        if (i < n) {
            keys[i] = key[k];
            from[i] = place[k];
        }
    }
}
