__global__ void k(int *x) {
  const char *s = "abc;
 /* never closed
