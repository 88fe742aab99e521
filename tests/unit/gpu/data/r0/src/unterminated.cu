__global__ void k(int *x) {
  if (x) {
    x[0] = 1;
