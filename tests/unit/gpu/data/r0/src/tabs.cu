__global__ void k(int *x) {
	/* é */	x[0] = 1;	asm("junk" : "+r"(x[1]));
}
