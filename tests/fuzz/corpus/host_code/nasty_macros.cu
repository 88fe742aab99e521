// Macros that open, close, annotate and hide.
#include <cassert>
#define NAMESPACE_BEGIN(name) namespace name {
#define NAMESPACE_END }
#define UNUSED __attribute__((unused))
#define FUNCTION(type, name) type name
#define BODY { return 3; }
#define GLOBAL_VOID __global__ void
#define REPEAT_2(m) m(0) m(1)
#define KERNEL_N(n) __global__ void numbered_##n(int *p) { p[threadIdx.x] = n; }
#define EMPTY
#define STRINGIFY(x) #x
#define COMMENT_IN /* { */ __device__ /* } */

NAMESPACE_BEGIN(wrapped)
GLOBAL_VOID inside(int *p) { *p = 1; }
UNUSED static int host_inside() { return 1; }
NAMESPACE_END

REPEAT_2(KERNEL_N)

EMPTY COMMENT_IN int three() BODY
static FUNCTION(int, host_three)() { return 3; }

__global__ void use(int *p) { assert(p != nullptr); *p = three(); }

static const char *g_text = STRINGIFY(int main() { });

int main() {
    wrapped::inside<<<1, 1>>>(nullptr);
    numbered_0<<<1, 1>>>(nullptr);
    return host_three() + wrapped::host_inside();
}
