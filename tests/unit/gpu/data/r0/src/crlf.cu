__global__ void k(int *x) {
	x[0] = nope;
	int  q = 1;
}
