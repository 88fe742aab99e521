// Textures and surfaces as kernels use them: every dimension, both kinds of memory.

__device__ unsigned lane() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Layers of bytes read as floats, between the texels.
extern "C" __global__ void layers(cudaTextureObject_t t, float *out, int w, int h) {
  int x = lane() % w, y = lane() / w % h, l = lane() / (w * h);
  if (l < 3) out[lane()] = tex2DLayered<float>(t, (x * 0.83f + 0.3f) / w, (y * 1.21f - 0.2f) / h, l);
}

// A volume, with nothing around it.
extern "C" __global__ void volume(cudaTextureObject_t t, float *out, int n) {
  if (lane() < n) out[lane()] = tex3D<float>(t, lane() * 0.11f - 1.f, lane() * 0.07f, 3.6f - lane() * 0.09f);
}

// Linear memory by whole numbers: a table of pairs; nothing beyond its end.
extern "C" __global__ void table(cudaTextureObject_t t, const int *at, int2 *out, int n) {
  if (lane() < n) out[lane()] = tex1Dfetch<int2>(t, at[lane()]);
}

// A channel of the four texels around each corner.
extern "C" __global__ void corners(cudaTextureObject_t t, float4 *out, int w, int h) {
  int x = lane() % w, y = lane() / w;
  if (y < h) out[lane()] = tex2Dgather<float4>(t, x, y, 1);
}

// Directions from the middle of a cube to its faces, and of several cubes.
extern "C" __global__ void cube(cudaTextureObject_t t, const float3 *at, float *out, int n) {
  if (lane() < n) out[lane()] = texCubemap<float>(t, at[lane()].x, at[lane()].y, at[lane()].z);
}
extern "C" __global__ void cubes(cudaTextureObject_t t, const float3 *at, float2 *out, int n) {
  int i = lane();
  if (i >= n) return;
  out[i] = texCubemapLayered<float2>(t, at[i].x, at[i].y, at[i].z, i % 3);
  float2 same = texCubemapLayeredLod<float2>(t, at[i].x, at[i].y, at[i].z, i % 3, 0.f);
  if (same.x != out[i].x || same.y != out[i].y) out[i].x = -1000;
}

// The faces of a cube are layers to a surface; the next launch samples them.
extern "C" __global__ void faces(cudaSurfaceObject_t s, int n) {
  int x = lane() % n, y = lane() / n % n, f = lane() / (n * n);
  if (f < 6) surfCubemapwrite((float)lane(), s, x * 4, y, f);
}

// Colours from one surface to another, turned; a third is read past its edge, where it is 0.
extern "C" __global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h) {
  int x = lane() % w, y = lane() / w;
  if (y >= h) return;
  uchar4 a = surf2Dread<uchar4>(from, x * 4, y);
  uchar4 b = surf2Dread<uchar4>(from, (x + 1) * 4, y, cudaBoundaryModeZero);
  surf2Dwrite(make_uchar4(a.x, a.y, b.z, b.w), to, y * 4, x);
}

// What one launch writes through a surface, the next one samples.
extern "C" __global__ void ramp(cudaSurfaceObject_t s, int w, int h) {
  int x = lane() % w, y = lane() / w;
  if (y < h) surf2Dwrite((float)(x * x + 10 * y), s, x * 4, y);
}
extern "C" __global__ void halves(cudaTextureObject_t t, float *out, int w, int h) {
  int x = lane() % w, y = lane() / w;
  if (y < h) out[lane()] = tex2D<float>(t, x + 1.f, y + 1.f);
}

// The three dimensions of a surface, and its layers.
extern "C" __global__ void cells(cudaSurfaceObject_t volume, cudaSurfaceObject_t layers, int n) {
  int i = lane();
  if (i >= n) return;
  surf3Dwrite((short)(i * 3), volume, i % 4 * 2, i / 4 % 3, i / 12);
  surf1DLayeredwrite(make_float2(i, -i), layers, i % 4 * 8, i / 4);
}

// Wrong: one column too many.
extern "C" __global__ void beyond(cudaSurfaceObject_t s, int w) {
  if (lane() <= w) surf1Dwrite(1.f, s, lane() * 4);
}

// Wrong: no texture at all, and one that holds something else.
extern "C" __global__ void mistaken(cudaTextureObject_t t, float *out) { out[lane()] = tex2D<float>(t, 0.f, 0.f); }
