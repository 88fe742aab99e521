/* The peer for kernel/check: NVRTC alone, warm, in one process. Compiles a file N times with the
 * options a check uses and prints each time in milliseconds.
 * usage: nvrtc_alone LIBNVRTC INCLUDE_DIR FILE N */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void *program;
typedef int create(program *, const char *, const char *, int, const char *const *,
                   const char *const *);
typedef int compile(program, int, const char *const *);
typedef int destroy(program *);

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static char *slurp(const char *path) {
    static char text[1 << 20];
    FILE *f = fopen(path, "re");
    if (!f) {
        perror(path);
        exit(2);
    }
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: nvrtc_alone LIBNVRTC INCLUDE_DIR FILE N\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    create *nvrtc_create = (create *)dlsym(library, "nvrtcCreateProgram");
    compile *nvrtc_compile = (compile *)dlsym(library, "nvrtcCompileProgram");
    destroy *nvrtc_destroy = (destroy *)dlsym(library, "nvrtcDestroyProgram");
    char include[4200], cccl[4200];
    snprintf(include, sizeof include, "-I%s", argv[2]);
    snprintf(cccl, sizeof cccl, "-I%s/cccl", argv[2]);
    const char *options[] = {"--gpu-architecture=sm_90a", "-std=c++17", include, cccl,
                             "--ptxas-options=-v"};
    const char *source = slurp(argv[3]);
    for (int i = 0; i <= atoi(argv[4]); i++) {
        program p;
        double start = now_ms();
        nvrtc_create(&p, source, "bench.cu", 0, NULL, NULL);
        int rc = nvrtc_compile(p, 5, options);
        nvrtc_destroy(&p);
        if (rc != 0) {
            fprintf(stderr, "NVRTC failed: %d\n", rc);
            return 1;
        }
        if (i > 0) { /* the first compile of a process is the cold one */
            printf("%.3f\n", now_ms() - start);
        }
    }
    return 0;
}
