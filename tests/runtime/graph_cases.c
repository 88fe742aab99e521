/* graph_cases: nodes of graphs that allocate, free, or are executed as kernels decide. */
#include "cases.h"

#include <stdint.h>
#include <string.h>

int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMallocAsync(void **, size_t, void *);
int cudaFreeAsync(void *, void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemset(void *, int, size_t);
int cudaMemsetAsync(void *, int, size_t, void *);
int cudaStreamCreate(void **);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaStreamSynchronize(void *);
int cudaDeviceSynchronize(void);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaGraphAddDependencies(void *, void **, void **, const void *, size_t);
int cudaGraphAddChildGraphNode(void **, void *, void **, size_t, void *);
int cudaStreamBeginCapture(void *, int);
int cudaStreamBeginCaptureToGraph(void *, void *, void **, const void *, size_t, int);
int cudaStreamEndCapture(void *, void **);
int cudaStreamGetCaptureInfo(void *, int *, uint64_t *, void **, void ***, const void **,
                             size_t *);
int cudaStreamUpdateCaptureDependencies(void *, void **, const void *, size_t, unsigned);
int cudaGraphCreate(void **, unsigned);
int cudaGraphInstantiate(void **, void *, uint64_t);
int cudaGraphLaunch(void *, void *);
int cudaGraphDestroy(void *);
int cudaGraphExecUpdate(void *, void *, void *);
int cudaGraphExecDestroy(void *);
int cudaGraphAddMemFreeNode(void **, void *, void **, size_t, void *);
int cudaGraphConditionalHandleCreate(uint64_t *, void *, unsigned, unsigned);
int cudaDeviceGetGraphMemAttribute(int, int, uint64_t *);
int cudaDeviceGraphMemTrim(int);

enum { IN = 1, OUT = 2, ON_DEVICE = 3 };
enum { TYPE_KERNEL = 0, TYPE_ALLOCATE = 10, TYPE_FREE = 11, TYPE_CONDITIONAL = 13 };
enum { COND_IF, COND_WHILE, COND_SWITCH };

/* cudaGraphNodeParams: what is used here of its union. */
struct node_params {
    int type, reserved[3];
    union {
        int64_t pad[29];
        struct {
            const void *function;
            unsigned grid[3], block[3], shared;
            void **params, **extra;
        } kernel;
        struct {
            int type, handles, location, device;
            int64_t more[9];
            const void *access;
            size_t accesses, bytes;
            void *address;
        } allocation;
        void *freed;
        struct {
            uint64_t handle;
            int type;
            unsigned size;
            void **bodies;
        } conditional;
    } of;
    int64_t last;
};
int cudaGraphAddNode(void **, void *, void **, const void *, size_t,
                     struct node_params *);

#define AT_ITS_CALL static inline __attribute__((always_inline)) /* which findings name */

AT_ITS_CALL int kernel_node(void **ret, void *graph, void *behind, const void *kernel,
                       void **params) {
    struct node_params p = {.type = TYPE_KERNEL,
                            .of.kernel = {.function = kernel,
                                          .grid = {1, 1, 1},
                                          .block = {1, 1, 1},
                                          .params = params}};
    return cudaGraphAddNode(ret, graph, &behind, NULL, behind ? 1 : 0, &p);
}

/* ---- order ---- */

/* CUDA C++ Programming Guide, "Graph Structure": a node may be scheduled any time once the
 * nodes on which it depends are complete; so only dependencies order two nodes. */
#define FLOATS 256

static struct {
    float *a, *b, *c, *d;
    void *one, *two, *event; /* two does not wait for the default stream */
} room;

static int room_make(void) {
    float **all[] = {&room.a, &room.b, &room.c, &room.d};
    for (int k = 0; k < 4; k++) {
        FINE(cudaMalloc((void **)all[k], FLOATS * sizeof(float)));
        FINE(cudaMemset(*all[k], 0, FLOATS * sizeof(float)));
    }
    FINE(cudaStreamCreate(&room.one));
    FINE(cudaStreamCreateWithFlags(&room.two, 1));
    FINE(cudaEventCreate(&room.event));
    return cudaDeviceSynchronize();
}

AT_ITS_CALL int sum_node(void **ret, void *graph, void *behind, float *x, float *y, float *to) {
    int n = FLOATS;
    return kernel_node(ret, graph, behind, &add, (void *[]){&x, &y, &to, &n});
}

static int launch_again(void *graph, void *stream) {
    void *exec;
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaDeviceSynchronize());
    FINE(cudaGraphExecDestroy(exec));
    return cudaGraphDestroy(graph);
}

static int room_leave(void) {
    return cudaFree(room.a) || cudaFree(room.b) || cudaFree(room.c) || cudaFree(room.d);
}

/* A diamond, beside what is in front of it and behind; a child graph behind a node; two
 * launches of one graph in streams that nothing else orders. */
int case_graph_ordered(void) {
    void *graph, *child, *exec, *top, *left, *right, *low, *inner;
    FINE(room_make());
    FINE(cudaGraphCreate(&child, 0));
    FINE(sum_node(&inner, child, NULL, room.d, room.d, room.a));
    FINE(cudaGraphCreate(&graph, 0));
    FINE(sum_node(&top, graph, NULL, room.a, room.a, room.b));
    FINE(sum_node(&left, graph, top, room.b, room.b, room.c));
    FINE(sum_node(&right, graph, top, room.b, room.b, room.d));
    FINE(sum_node(&low, graph, left, room.c, room.d, room.d));
    FINE(cudaGraphAddDependencies(graph, &right, &low, NULL, 1));
    FINE(cudaGraphAddChildGraphNode(&inner, graph, &low, 1, child));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaMemsetAsync(room.a, 0, 4, room.one));
    FINE(cudaGraphLaunch(exec, room.one));
    FINE(cudaMemsetAsync(room.c, 0, 4, room.one));
    FINE(cudaGraphLaunch(exec, room.one));
    FINE(cudaGraphLaunch(exec, room.two));
    FINE(cudaMemsetAsync(room.d, 0, 4, room.two));
    FINE(cudaDeviceSynchronize());
    FINE(cudaGraphExecDestroy(exec));
    FINE(cudaGraphDestroy(child));
    FINE(cudaGraphDestroy(graph));
    return room_leave();
}

int case_graph_unordered(void) {
    void *graph, *left, *right, *low;
    FINE(room_make());
    FINE(cudaGraphCreate(&graph, 0)); /* right reads what left writes */
    FINE(sum_node(&left, graph, NULL, room.a, room.a, room.b));
    FINE(sum_node(&right, graph, NULL, room.b, room.a, room.c));
    FINE(launch_again(graph, room.one));
    FINE(cudaGraphCreate(&graph, 0)); /* low waits for one of the two */
    FINE(sum_node(&left, graph, NULL, room.a, room.a, room.b));
    FINE(sum_node(&right, graph, NULL, room.a, room.a, room.c));
    FINE(sum_node(&low, graph, left, room.b, room.c, room.d));
    FINE(launch_again(graph, NULL));
    FINE(cudaStreamBeginCapture(room.one, 0)); /* two does not come back in time */
    FINE(cudaEventRecord(room.event, room.one));
    FINE(cudaStreamWaitEvent(room.two, room.event, 0));
    FINE(cudaMemsetAsync(room.b, 0, 64, room.two));
    FINE(cudaMemcpyAsync(room.c, room.b, 128, ON_DEVICE, room.one));
    FINE(cudaEventRecord(room.event, room.two));
    FINE(cudaStreamWaitEvent(room.one, room.event, 0));
    FINE(cudaStreamEndCapture(room.one, &graph));
    FINE(launch_again(graph, room.one));
    FINE(cudaGraphCreate(&graph, 0)); /* the graph, and another stream */
    FINE(sum_node(&left, graph, NULL, room.a, room.a, room.b));
    FINE(cudaMemsetAsync(room.b, 0, 4, room.two));
    FINE(launch_again(graph, room.one));
    return room_leave();
}

/* ---- what nodes are, and changes of them ---- */

struct kernel_params { /* cudaKernelNodeParams */
    const void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
};
struct fill_params { /* cudaMemsetParams */
    void *to;
    size_t pitch;
    unsigned value, bytes;
    size_t width, height;
};
int cudaGraphGetNodes(void *, void **, size_t *);
int cudaGraphGetRootNodes(void *, void **, size_t *);
int cudaGraphGetEdges(void *, void **, void **, uint64_t *, size_t *);
int cudaGraphNodeGetDependencies(void *, void **, uint64_t *, size_t *);
int cudaGraphNodeGetDependentNodes(void *, void **, uint64_t *, size_t *);
int cudaGraphRemoveDependencies(void *, void **, void **, const void *, size_t);
int cudaGraphDestroyNode(void *);
int cudaGraphNodeFindInClone(void **, void *, void *);
int cudaGraphClone(void **, void *);
int cudaGraphKernelNodeGetParams(void *, struct kernel_params *);
int cudaGraphKernelNodeSetParams(void *, const struct kernel_params *);
int cudaGraphExecKernelNodeSetParams(void *, void *, const struct kernel_params *);
int cudaGraphMemsetNodeGetParams(void *, struct fill_params *);
int cudaGraphExecMemsetNodeSetParams(void *, void *, const struct fill_params *);
int cudaGraphMemcpyNodeSetParams1D(void *, void *, const void *, size_t, int);
int cudaGraphNodeSetEnabled(void *, void *, unsigned);
int cudaGraphNodeGetEnabled(void *, void *, unsigned *);

static int counts_after(void *exec, const int *x, const int *y, int ret[2]) {
    FINE(cudaGraphLaunch(exec, NULL));
    FINE(cudaDeviceSynchronize());
    FINE(cudaMemcpy(&ret[0], x, 4, OUT));
    return cudaMemcpy(&ret[1], y, 4, OUT);
}

/* A fill of *x, then a kernel that counts there: what they are is asked of a graph that was
 * captured, and changed there and in what was made of it. */
int case_graph_nodes(void) {
    int *x, *y, counts[2];
    void *stream, *graph, *clone, *exec, *nodes[3] = {0}, *from, *to, *found;
    struct kernel_params k;
    struct fill_params f;
    size_t count = 3;
    uint64_t edge = 1;
    unsigned enabled = 7;
    FINE(cudaMalloc((void **)&x, 4));
    FINE(cudaMalloc((void **)&y, 4));
    FINE(cudaMemset(y, 0, 4));
    FINE(cudaStreamCreate(&stream));
    FINE(cudaStreamBeginCapture(stream, 0));
    FINE(cudaMemsetAsync(x, 0, 4, stream));
    FINE(launch_in(stream, &bump, (void *[]){&x}));
    FINE(cudaStreamEndCapture(stream, &graph));
    FINE(cudaGraphGetNodes(graph, nodes, &count));
    CHECK(count == 2 && !nodes[2]);
    count = 1;
    FINE(cudaGraphGetEdges(graph, &from, &to, &edge, &count));
    CHECK(count == 1 && from == nodes[0] && to == nodes[1] && edge == 0);
    FINE(cudaGraphNodeGetDependencies(nodes[1], NULL, NULL, &count));
    CHECK(count == 1);
    FINE(cudaGraphNodeGetDependentNodes(nodes[0], &found, NULL, &count));
    CHECK(count == 1 && found == nodes[1]);
    FINE(cudaGraphMemsetNodeGetParams(nodes[0], &f));
    CHECK(f.to == x && f.value == 0 && f.width * f.bytes == 4 && f.height == 1);
    FINE(cudaGraphKernelNodeGetParams(nodes[1], &k));
    CHECK(k.function == &bump && k.grid[0] == 1 && *(int **)k.params[0] == x);
    CHECK(cudaGraphKernelNodeGetParams(nodes[0], &k) == 1); /* not a kernel */
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(counts_after(exec, x, y, counts));
    CHECK(counts[0] == 1 && counts[1] == 0);
    *(int **)k.params[0] = y; /* the node's own room */
    FINE(cudaGraphExecKernelNodeSetParams(exec, nodes[1], &k));
    f = (struct fill_params){x, 0, 5, 4, 1, 1};
    FINE(cudaGraphExecMemsetNodeSetParams(exec, nodes[0], &f));
    FINE(counts_after(exec, x, y, counts));
    CHECK(counts[0] == 5 && counts[1] == 1);
    FINE(cudaGraphNodeSetEnabled(exec, nodes[1], 0));
    FINE(cudaGraphNodeGetEnabled(exec, nodes[1], &enabled));
    FINE(counts_after(exec, x, y, counts));
    CHECK(counts[1] == 1 && enabled == 0);
    FINE(cudaGraphClone(&clone, graph));
    FINE(cudaGraphNodeFindInClone(&found, nodes[1], clone));
    FINE(cudaGraphRemoveDependencies(graph, &nodes[0], &nodes[1], NULL, 1));
    count = 3;
    FINE(cudaGraphGetRootNodes(graph, nodes, &count));
    CHECK(count == 2);
    FINE(cudaGraphDestroyNode(nodes[0]));
    CHECK(cudaGraphDestroyNode(nodes[0]) == 1);
    FINE(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 1);
    FINE(cudaGraphNodeGetDependencies(found, NULL, NULL, &count));
    CHECK(count == 1); /* the clone has what it had */
    FINE(cudaGraphExecDestroy(exec));
    FINE(cudaGraphDestroy(clone));
    FINE(cudaGraphDestroy(graph));
    return cudaFree(x) || cudaFree(y);
}

/* ---- memory ---- */

static int allocation_node(void **ret, void *graph, size_t bytes, void **ret_address) {
    struct node_params p = {.type = TYPE_ALLOCATE,
                            .of.allocation = {1, 0, 1, 0, .bytes = bytes}};
    int code = cudaGraphAddNode(ret, graph, NULL, NULL, 0, &p);
    *ret_address = p.of.allocation.address;
    return code;
}

/* Each launch begins with memory of its own, at the same address. */
int case_graph_memory(void) {
    void *stream, *graph, *exec;
    int *counts, *same, count = 0;
    FINE(cudaStreamCreate(&stream));
    FINE(cudaStreamBeginCapture(stream, 0));
    FINE(cudaMallocAsync((void **)&counts, 1 << 20, stream));
    FINE(cudaMemsetAsync(counts, 0, 4, stream));
    FINE(launch_in(stream, &bump, (void *[]){&counts}));
    FINE(cudaMemcpyAsync(&count, counts, 4, OUT, stream));
    FINE(cudaFreeAsync(counts, stream));
    FINE(cudaMalloc((void **)&same, 1 << 20));
    CHECK(cudaFreeAsync(same, stream) == 1); /* no node has allocated it */
    FINE(cudaStreamEndCapture(stream, &graph));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 3; k++) {
        count = 0;
        FINE(cudaGraphLaunch(exec, stream));
        FINE(cudaStreamSynchronize(stream));
        CHECK(count == 1);
    }
    uint64_t kept = 1;
    FINE(cudaDeviceGetGraphMemAttribute(0, 2, &kept));
    CHECK(kept == 1 << 20); /* of one launch, and not of three */
    FINE(cudaDeviceGraphMemTrim(0));
    FINE(cudaDeviceGetGraphMemAttribute(0, 2, &kept));
    CHECK(kept == 0);
    CHECK(cudaFree(counts) == 1); /* it does not live */
    FINE(cudaGraphExecDestroy(exec));
    FINE(cudaGraphDestroy(graph));
    return cudaFree(same);
}

/* Memory that outlives its graph's launch: a call frees it, or another graph. */
int case_graph_memory_kept(void) {
    void *stream, *graph, *exec, *freeing, *free_exec, *node, *kernel;
    int *counts, count = 0;
    FINE(cudaStreamCreate(&stream));
    FINE(cudaGraphCreate(&graph, 0));
    FINE(allocation_node(&node, graph, 4, (void **)&counts));
    FINE(kernel_node(&kernel, graph, node, &bump, (void *[]){&counts}));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphCreate(&freeing, 0));
    FINE(cudaGraphAddMemFreeNode(&node, freeing, NULL, 0, counts));
    FINE(cudaGraphInstantiate(&free_exec, freeing, 0));
    CHECK(cudaGraphAddMemFreeNode(&node, freeing, NULL, 0, counts + 1) == 1);

    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaMemcpyAsync(&count, counts, 4, OUT, stream));
    CHECK(cudaGraphLaunch(exec, stream) == 1); /* it lives */
    FINE(cudaFreeAsync(counts, stream));       /* before anything was waited for */
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaGraphLaunch(free_exec, stream));
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaStreamSynchronize(stream));
    FINE(cudaFree(counts));
    FINE(cudaGraphInstantiate(&exec, graph, 1)); /* what lives is freed by a launch */
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaStreamSynchronize(stream));
    return 0; /* the last one's 4 bytes leak */
}

/* A kernel that is not between both nodes. */
int case_graph_memory_late(void) {
    void *stream, *graph, *exec, *node;
    int *counts;
    FINE(cudaStreamCreate(&stream));
    FINE(cudaGraphCreate(&graph, 0));
    FINE(allocation_node(&node, graph, 4, (void **)&counts));
    FINE(cudaGraphAddMemFreeNode(&node, graph, &node, 1, counts));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphLaunch(exec, stream));
    FINE(launch_in(stream, &bump, (void *[]){&counts}));
    CHECK(cudaStreamSynchronize(stream) == 700);
    return 0;
}

/* ---- conditions ---- */

struct decision { /* decide<<<>>>(handle, value, less), then a node with bodies */
    void *graph, *exec, *stream, **bodies;
    uint64_t handle;
    int *value, *counts;
};

/* less: as the kernel in front of the node says; counts gets one element for each body. */
static int decision_make(struct decision *d, int type, unsigned size) {
    void *first, *node;
    int less = 0;
    FINE(cudaStreamCreate(&d->stream));
    FINE(cudaMalloc((void **)&d->value, 4));
    FINE(cudaMalloc((void **)&d->counts, size * sizeof(int)));
    FINE(cudaGraphCreate(&d->graph, 0));
    FINE(cudaGraphConditionalHandleCreate(&d->handle, d->graph, 0, 0));
    FINE(kernel_node(&first, d->graph, NULL, &decide,
                     (void *[]){&d->handle, &d->value, &less}));
    struct node_params p = {.type = TYPE_CONDITIONAL,
                            .of.conditional = {d->handle, type, size, NULL}};
    FINE(cudaGraphAddNode(&node, d->graph, &first, NULL, 1, &p));
    d->bodies = p.of.conditional.bodies;
    for (unsigned k = 0; k < size; k++) {
        int *at = d->counts + k;
        FINE(kernel_node(&node, d->bodies[k], NULL, &bump, (void *[]){&at}));
    }
    return 0;
}

/* How often each body is executed where the kernel sets this value. */
static int decision_counts(const struct decision *d, int value, int *counts, unsigned size) {
    FINE(cudaMemset(d->counts, 0, size * sizeof(int)));
    FINE(cudaMemcpy(d->value, &value, 4, IN));
    FINE(cudaGraphLaunch(d->exec, d->stream));
    FINE(cudaStreamSynchronize(d->stream));
    return cudaMemcpy(counts, d->counts, size * sizeof(int), OUT);
}

static int decision_end(const struct decision *d) {
    FINE(cudaGraphDestroy(d->graph));
    FINE(cudaGraphExecDestroy(d->exec));
    return cudaFree(d->value) || cudaFree(d->counts);
}

static int chooses(int type, unsigned size, const int *values, const int (*expected)[3],
                   size_t count) {
    struct decision d;
    FINE(decision_make(&d, type, size));
    FINE(cudaGraphInstantiate(&d.exec, d.graph, 0));
    for (size_t k = 0; k < count; k++) {
        int counts[3] = {0};
        FINE(decision_counts(&d, values[k], counts, size));
        CHECK(memcmp(counts, expected[k], sizeof counts) == 0);
    }
    return decision_end(&d);
}

/* The kernel sets 4; each round takes one away. A round's own node, captured, decides. */
static int repeats(void) {
    struct decision d;
    int counts[1], less = 1;
    FINE(decision_make(&d, COND_WHILE, 1));
    FINE(cudaStreamBeginCaptureToGraph(d.stream, d.bodies[0], NULL, NULL, 0, 0));
    FINE(launch_in(d.stream, &decide, (void *[]){&d.handle, &d.value, &less}));
    FINE(cudaStreamEndCapture(d.stream, NULL));
    FINE(cudaGraphInstantiate(&d.exec, d.graph, 0));
    FINE(decision_counts(&d, 4, counts, 1));
    CHECK(counts[0] == 4);
    FINE(decision_counts(&d, 0, counts, 1));
    CHECK(counts[0] == 0);
    FINE(decision_counts(&d, 9, counts, 1));
    CHECK(counts[0] == 9);
    return decision_end(&d);
}

/* An executable graph takes the other one's nodes, and the defaults of its conditions. */
static int updated(void) {
    void *graphs[2], *stream, *exec, *node;
    int *count, host;
    FINE(cudaStreamCreate(&stream));
    FINE(cudaMalloc((void **)&count, 4));
    FINE(cudaMemset(count, 0, 4));
    for (unsigned k = 0; k < 2; k++) {
        struct node_params p = {.type = TYPE_CONDITIONAL,
                                .of.conditional = {0, COND_IF, 1, NULL}};
        FINE(cudaGraphCreate(&graphs[k], 0));
        FINE(cudaGraphConditionalHandleCreate(&p.of.conditional.handle, graphs[k], k, 1));
        FINE(cudaGraphAddNode(&node, graphs[k], NULL, NULL, 0, &p));
        FINE(kernel_node(&node, p.of.conditional.bodies[0], NULL, &bump,
                         (void *[]){&count}));
    }
    FINE(cudaGraphInstantiate(&exec, graphs[0], 0));
    FINE(cudaGraphLaunch(exec, stream)); /* 0: the body is not executed */
    FINE(cudaGraphExecUpdate(exec, graphs[1], NULL));
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaStreamSynchronize(stream));
    FINE(cudaMemcpy(&host, count, 4, OUT));
    CHECK(host == 1);
    return cudaFree(count);
}

/* A node among those of a capture; its default makes its body's first round sure. */
static int captured(void) {
    void *stream, *graph, **tips, *node, *exec;
    uint64_t handle, id;
    size_t count;
    int status, less = 1, *value, host = 3;
    FINE(cudaMalloc((void **)&value, 4));
    FINE(cudaMemcpy(value, &host, 4, IN));
    FINE(cudaStreamCreate(&stream));
    FINE(cudaStreamBeginCapture(stream, 0));
    FINE(launch_in(stream, &bump, (void *[]){&value})); /* 4 */
    FINE(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &tips, NULL, &count));
    FINE(cudaGraphConditionalHandleCreate(&handle, graph, 1, 1));
    struct node_params p = {.type = TYPE_CONDITIONAL,
                            .of.conditional = {handle, COND_WHILE, 1, NULL}};
    FINE(cudaGraphAddNode(&node, graph, tips, NULL, count, &p));
    FINE(cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1, 1));
    FINE(launch_in(stream, &bump, (void *[]){&value}));
    FINE(cudaStreamEndCapture(stream, &graph));
    FINE(kernel_node(&node, p.of.conditional.bodies[0], NULL, &decide,
                     (void *[]){&handle, &value, &less}));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphLaunch(exec, stream));
    FINE(cudaStreamSynchronize(stream));
    FINE(cudaMemcpy(&host, value, 4, OUT));
    CHECK(host == 1); /* 4 rounds end at 0, and the last node adds one */
    return cudaFree(value);
}

int case_graph_conditions(void) {
    static const int either[][3] = {{1, 0}, {0, 1}, {1, 0}};
    static const int one[][3] = {{0, 0, 1}, {1, 0, 0}, {0, 0, 0}, {0, 1, 0}};
    FINE(chooses(COND_IF, 2, (const int[]){7, 0, 1}, either, 3));
    FINE(chooses(COND_SWITCH, 3, (const int[]){2, 0, 3, 1}, one, 4));
    FINE(repeats());
    FINE(updated());
    return captured();
}

/* Nothing sets the condition in the second launch. */
int case_graph_conditions_unset(void) {
    void *stream, *graph, *exec, *node;
    uint64_t handle;
    FINE(cudaStreamCreate(&stream));
    FINE(cudaGraphCreate(&graph, 0));
    FINE(cudaGraphConditionalHandleCreate(&handle, graph, 1, 0));
    struct node_params p = {.type = TYPE_CONDITIONAL,
                            .of.conditional = {handle, COND_IF, 1, NULL}};
    FINE(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    p.of.conditional.size = 3;
    CHECK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &p) == 1);
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphLaunch(exec, stream));
    return cudaStreamSynchronize(stream);
}

/* Two nodes of a body, of which one reads what the other writes: with a dependency, and
 * without one. */
int case_graph_conditions_unordered(void) {
    void *graph, *node, *left, *right;
    uint64_t handle;
    FINE(room_make());
    for (int ordered = 0; ordered < 2; ordered++) {
        FINE(cudaGraphCreate(&graph, 0));
        FINE(cudaGraphConditionalHandleCreate(&handle, graph, 1, 1));
        struct node_params p = {.type = TYPE_CONDITIONAL,
                                .of.conditional = {handle, COND_IF, 1, NULL}};
        FINE(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &p));
        void *body = p.of.conditional.bodies[0];
        FINE(sum_node(&left, body, NULL, room.a, room.a, room.b));
        if (ordered) {
            FINE(sum_node(&right, body, left, room.b, room.a, room.c));
        } else {
            FINE(sum_node(&right, body, NULL, room.b, room.a, room.c));
        }
        FINE(launch_again(graph, room.one));
    }
    return room_leave();
}
