// Literals and comments that look like code. */ /* nested? no */
#include <cstdio>
// A line comment that goes on \
__global__ void not_a_kernel(int *p) { *p = '{'; }

const char *g_raw = R"delim(
int main() { } )" }}} __global__ void nor_this(float *x) { x[0] = 1; }
#include <nothing>
)delim";

static const char *g_more[] = {"}", "\"{", "'", u8"{", LR"(}})" ? "{{{" : "", "a" /* " */ "b"};

__device__ int weight(char c) {
    switch (c) {
    case '{': return 1'000;
    case '"': return 0x7F;
    case '\'': return 0b101;
    case '\\': return 017;
    case '}': return 1e3 > 999. ? 5 : 6;
    default: return '/' + '*';
    }
}

__global__ void weigh(const char *text, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = weight(text[i]); // } "
    /* int hidden() { */
}

void print_all(void) { for (const char *s : g_more) { printf("%s}{%c%c\n", s, '}', '"'); } puts(g_raw); }

int main(void) <% int counts<:2:> = <%1, 2%>; weigh<<<1, 1>>>(nullptr, nullptr, 0); return counts<:0:> - 1; %>

__glo\
bal__ void spli\
ced(int *p) { p[threadIdx.x] = 7; }

int hos\
t_function(int x) { /* { */ return x; // }
}
