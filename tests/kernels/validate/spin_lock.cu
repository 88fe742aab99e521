// A lock that every lane of every warp takes: needs progress inside a warp.
extern "C" __global__ void locked_count(int *lock, int *count, int rounds) {
    for (int k = 0; k < rounds; k++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                volatile int *c = count;
                *c = *c + 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}

// The holder spins in place: forward progress without a branch out.
extern "C" __global__ void ticket_lock(int *next, int *serving, int *order) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine)
        ;
    order[mine] = mine * 3;
    __threadfence();
    atomicAdd(serving, 1);
}
