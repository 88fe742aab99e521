// This file has CRLF endings and a byte order mark (see .gitattributes).
#include <cstdio>
#define TWO \
    2
__global__ void crlf(int *p) {
    p[0] = TWO; // comment \
    p[0] = 3;
}
int main() {
    crlf<<<1, 1>>>(nullptr);
    printf("a\
b\n");
    return 0;
}
