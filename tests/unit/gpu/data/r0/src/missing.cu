#include <nope/thing.h>
__global__ void k() {}
