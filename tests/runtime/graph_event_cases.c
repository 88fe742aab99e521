/* graph_event_cases: nodes of graphs that record events or wait for them, and the host's objects that graphs
 * hold. What calls must answer is what NVIDIA's headers say of them. */
#include "cases.h"

int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemset(void *, int, size_t);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamSynchronize(void *);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaDeviceSynchronize(void);
int cudaEventCreate(void **);
int cudaEventDestroy(void *);
int cudaEventQuery(void *);
int cudaEventRecord(void *, void *);
int cudaEventRecordWithFlags(void *, void *, unsigned);
int cudaEventElapsedTime(float *, void *, void *);
int cudaGraphCreate(void **, unsigned);
int cudaGraphClone(void **, void *);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaGraphDestroy(void *);
int cudaGraphDestroyNode(void *);
int cudaGraphExecDestroy(void *);
int cudaGraphGetNodes(void *, void **, size_t *);
int cudaGraphNodeGetType(void *, int *);
int cudaGraphAddMemsetNode(void **, void *, void **, size_t, const void *);
int cudaGraphAddEventRecordNode(void **, void *, void **, size_t, void *);
int cudaGraphAddEventWaitNode(void **, void *, void **, size_t, void *);
int cudaGraphEventRecordNodeGetEvent(void *, void **);
int cudaGraphEventRecordNodeSetEvent(void *, void *);
int cudaGraphEventWaitNodeGetEvent(void *, void **);
int cudaGraphExecEventRecordNodeSetEvent(void *, void *, void *);

enum { ON_DEVICE = 3, BYTES = 1024 };
enum { TYPE_WAIT = 6, TYPE_RECORD = 7, EXTERNAL = 1 };

static struct {
    void *a, *b, *one, *two, *first, *second; /* the streams do not wait for the default one */
} room;

static int room_make(void) {
    FINE(cudaMalloc(&room.a, BYTES));
    FINE(cudaMalloc(&room.b, BYTES));
    FINE(cudaMemset(room.a, 0, BYTES));
    FINE(cudaStreamCreateWithFlags(&room.one, 1));
    FINE(cudaStreamCreateWithFlags(&room.two, 1));
    FINE(cudaEventCreate(&room.first));
    FINE(cudaEventCreate(&room.second));
    return cudaDeviceSynchronize();
}

static int fill_node(void **ret, void *graph, void *behind, void *to) {
    const struct { /* cudaMemsetParams */
        void *to;
        size_t pitch;
        unsigned value, bytes;
        size_t width, height;
    } p = {to, BYTES, 1, 1, BYTES, 1};
    return cudaGraphAddMemsetNode(ret, graph, &behind, behind ? 1 : 0, &p);
}

/* The graph fills and records; a stream that waits for the event may read. */
static int records(void) {
    void *graph, *exec, *fill, *mark, *event;
    float ms;
    FINE(cudaGraphCreate(&graph, 0));
    FINE(fill_node(&fill, graph, NULL, room.a));
    FINE(cudaGraphAddEventRecordNode(&mark, graph, &fill, 1, room.second));
    FINE(cudaGraphEventRecordNodeGetEvent(mark, &event));
    CHECK(event == room.second && cudaGraphEventWaitNodeGetEvent(mark, &event) == 1);
    FINE(cudaGraphEventRecordNodeSetEvent(mark, room.first));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphExecEventRecordNodeSetEvent(exec, mark, room.second));
    FINE(cudaEventRecord(room.first, room.one));
    FINE(cudaGraphLaunch(exec, room.one));
    FINE(cudaStreamWaitEvent(room.two, room.second, 0));
    FINE(cudaMemcpyAsync(room.b, room.a, BYTES, ON_DEVICE, room.two));
    FINE(cudaStreamSynchronize(room.two));
    FINE(cudaEventQuery(room.second));
    FINE(cudaEventElapsedTime(&ms, room.first, room.second));
    CHECK(ms >= 0);
    FINE(cudaGraphDestroyNode(mark));
    FINE(cudaGraphExecDestroy(exec));
    return cudaGraphDestroy(graph);
}

/* The graph waits for what another stream does. */
static int waits(void) {
    void *graph, *exec, *wait, *fill;
    FINE(cudaGraphCreate(&graph, 0));
    FINE(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, room.first));
    FINE(fill_node(&fill, graph, wait, room.b));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaMemcpyAsync(room.a, room.b, BYTES, ON_DEVICE, room.one));
    FINE(cudaEventRecord(room.first, room.one));
    FINE(cudaGraphLaunch(exec, room.two));
    FINE(cudaStreamSynchronize(room.two));
    FINE(cudaGraphExecDestroy(exec));
    return cudaGraphDestroy(graph);
}

/* Captured as nodes, not as dependencies. */
static int captured(void) {
    void *graph, *nodes[2];
    size_t count = 2;
    int types[2];
    FINE(cudaStreamBeginCapture(room.one, 0));
    FINE(cudaStreamWaitEvent(room.one, room.first, EXTERNAL));
    FINE(cudaEventRecordWithFlags(room.second, room.one, EXTERNAL));
    FINE(cudaStreamEndCapture(room.one, &graph));
    FINE(cudaGraphGetNodes(graph, nodes, &count));
    FINE(cudaGraphNodeGetType(nodes[0], &types[0]));
    FINE(cudaGraphNodeGetType(nodes[1], &types[1]));
    CHECK(count == 2 && types[0] == TYPE_WAIT && types[1] == TYPE_RECORD);
    FINE(cudaEventDestroy(room.second)); /* the node still has it */
    return cudaGraphDestroy(graph);
}

int case_graph_events(void) {
    void *node, *graph;
    FINE(room_make());
    FINE(records());
    FINE(waits());
    FINE(captured());
    FINE(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEventWaitNode(&node, graph, NULL, 0, room.second) == 400);
    FINE(cudaFree(room.a));
    return cudaFree(room.b);
}

/* ---- the host's objects ---- */

int cudaUserObjectCreate(void **, void *, void (*)(void *), unsigned, unsigned);
int cudaUserObjectRetain(void *, unsigned);
int cudaUserObjectRelease(void *, unsigned);
int cudaGraphRetainUserObject(void *, void *, unsigned, unsigned);
int cudaGraphReleaseUserObject(void *, void *, unsigned);

enum { NO_SYNC = 1, MOVE = 1 };

static void count_up(void *of) {
    ++*(int *)of;
}

int case_user_objects(void) {
    void *object, *graph, *clone, *exec;
    int destroyed = 0;
    CHECK(cudaUserObjectCreate(&object, &destroyed, count_up, 1, 0) == 1);
    FINE(cudaUserObjectCreate(&object, &destroyed, count_up, 1, NO_SYNC));
    FINE(cudaUserObjectRetain(object, 2));
    FINE(cudaUserObjectRelease(object, 2));
    FINE(cudaGraphCreate(&graph, 0));
    FINE(cudaGraphRetainUserObject(graph, object, 1, MOVE)); /* nobody else has it */
    FINE(cudaGraphRetainUserObject(graph, object, 2, 0));
    FINE(cudaGraphReleaseUserObject(graph, object, 2));
    CHECK(cudaGraphReleaseUserObject(graph, object, 2) == 1);
    FINE(cudaGraphClone(&clone, graph));
    FINE(cudaGraphInstantiate(&exec, clone, 0));
    FINE(cudaGraphDestroy(graph));
    FINE(cudaGraphDestroy(clone));
    FINE(cudaDeviceSynchronize());
    CHECK(destroyed == 0);
    FINE(cudaGraphLaunch(exec, NULL));
    FINE(cudaGraphExecDestroy(exec));
    FINE(cudaDeviceSynchronize());
    CHECK(destroyed == 1);
    CHECK(cudaUserObjectRetain(object, 1) == 1);
    return 0;
}
