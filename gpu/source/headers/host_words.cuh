// What nvcc has read and done before a source's first line.
// Words that g++ takes, at the most with a warning, and its other spellings of keywords.
#ifndef __linux__
#define __linux__ 1
#endif
#ifndef __linux
#define __linux 1
#endif
#ifndef __unix__
#define __unix__ 1
#endif
#ifndef __GLIBC__
#define __GLIBC__ 2
#endif
#ifndef __GLIBC_MINOR__
#define __GLIBC_MINOR__ 28
#endif
#ifndef __GLIBC_PREREQ
#define __GLIBC_PREREQ(major, minor) ((major) < 2 || ((major) == 2 && (minor) <= 28))
#endif
#if __cplusplus >= 201703L
#define register
#endif
#define __extension__
#define __asm asm
#define __asm__ asm
#define __const const
#define __const__ const
#define __signed signed
#define __signed__ signed
#define __volatile volatile
#define __volatile__ volatile
// <climits> and <sys/types.h> of the host come with <cuda_runtime.h>; not uint32_t, FLT_MAX or assert,
// which nvcc wants included as well.
#ifndef UPSKILLD_SHIM_HOST_TYPES
#define UPSKILLD_SHIM_HOST_TYPES
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef int pid_t;
typedef long ssize_t;
#endif
// Of cuda_device_runtime_api.h, which NVRTC's cuda_runtime.h leaves out. Templates, so that the header's
// own win where a source includes it.
#ifndef UPSKILLD_SHIM_DEVICE_RUNTIME
#define UPSKILLD_SHIM_DEVICE_RUNTIME
template <typename = void> __device__ __forceinline__ void cudaGridDependencySynchronize() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
template <typename = void> __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
    asm volatile("griddepcontrol.launch_dependents;");
}
#endif
