#define BAD(x) ((x) + nope)
#define TWICE(x) BAD(x) * BAD(x)
__global__ void k(int *x) {
    x[0] = TWICE(x[1]);
    float f = 3.0;
    x[0] = x[1] \
        + spliced_missing;
    k<<<1,2>>>(x);
    double d = 1 / 0;
    int arr[2]; arr[5] = 1;
    while (1) ; 
    x[2] = 5;
    return 3;
}
void host() {}
int main() { return 0; }
