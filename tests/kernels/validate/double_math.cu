// Double precision: operations that IEEE defines, and functions within their bounds.
extern "C" __global__ void double_exact(const double *a, const double *b, double *sum, double *ratio, double *root, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] = __dadd_rn(a[i], b[i]);
        ratio[i] = a[i] / b[i];
        root[i] = sqrt(fabs(a[i]));
    }
}

extern "C" __global__ void double_functions(const double *x, double *e, double *l, double *s, double *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        e[i] = exp(x[i]);
        l[i] = log(fabs(x[i]) + 0.5);
        s[i] = sin(x[i]);
        p[i] = pow(fabs(x[i]) + 0.25, 1.7);
    }
}
