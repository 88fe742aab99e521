/* heap_cases: the program's own heap. A case of a wrong free ends with SIGABRT. */
#include "cases.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int cudaFree(void *);
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaMallocHost(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);

/* The compiler does not see what it is. */
static void free_hidden(void *p) {
    void *volatile hidden = p;
    free(hidden);
}

int case_free_twice(void) {
    char *p = malloc(40);
    free_hidden(p);
    free_hidden(p);
    return 1;
}

int case_free_inside(void) {
    char *p = malloc(40);
    free_hidden(p + 1);
    return 1;
}

int case_free_stack(void) {
    char room[40];
    free_hidden(room);
    return 1;
}

/* glibc finds that its size, 16 MiB by the word in front, passes the end of all memory; it
 * ends the program while it holds the lock of its heap. */
int case_free_large(void) {
    volatile size_t *p = malloc(100000);
    p[1] = (16u << 20) | 1;
    free_hidden((void *)(uintptr_t)(p + 2));
    return 1;
}

int case_free_device(void) {
    void *p;
    FINE(cudaMalloc(&p, 64));
    free_hidden(p);
    return 1;
}

int case_free_pinned(void) {
    char *p;
    FINE(cudaMallocHost((void **)&p, 4096));
    free_hidden(p + 64);
    return 1;
}

int case_resize_managed(void) {
    void *p;
    FINE(cudaMallocManaged(&p, 64, 1));
    void *volatile hidden = p;
    return realloc(hidden, 128) != NULL;
}

/* The program goes on. */
int case_overrun(void) {
    volatile char *p = malloc(5);
    for (unsigned k = 0; k < 6; k++) {
        p[k] = "hello"[k];
    }
    free_hidden((void *)(uintptr_t)p);
    return 0;
}

/* ---- copies ---- */

enum { TO_DEVICE = 1, TO_HOST = 2 };

int case_copies(void) {
    char *small = malloc(1000), *large = calloc(1, 5000), *grown = malloc(2000);
    void *d;
    FINE(cudaMalloc(&d, 8192));
    grown = realloc(grown, 6000);
    FINE(cudaMemset(d, 0, 8192));
    FINE(cudaMemcpy(small + 1, d, 999, TO_HOST));
    FINE(cudaMemcpy(large, d, 5000, TO_HOST));
    FINE(cudaMemcpy(grown, d, 6000, TO_HOST));
    FINE(cudaMemcpy(d, small, 1000, TO_DEVICE));
    FINE(cudaMemcpy(d, large + 4999, 1, TO_DEVICE));
    free(small);
    free(large);
    free(grown);
    large = aligned_alloc(64, 8192); /* where one of these may have been */
    FINE(cudaMemcpy(large, d, 8192, TO_HOST));
    free(large);
    return cudaFree(d);
}

int case_copies_past(void) {
    char *small = malloc(1000), *large = malloc(5001); /* glibc leaves room behind them */
    void *d;
    FINE(cudaMalloc(&d, 8192));
    FINE(cudaMemset(d, 0, 8192));
    FINE(cudaMemcpy(d, small + 600, 401, TO_DEVICE));
    char *told = malloc(100); /* once: its free says nothing */
    FINE(cudaMemcpy(told, d, 101, TO_HOST));
    free(told);
    FINE(cudaMemcpy2D(large, 2502, d, 2502, 2500, 2, TO_HOST));
    char *volatile gone = malloc(40);
    free(gone);
    FINE(cudaMemcpy(d, gone, 40, TO_DEVICE));
    free(small);
    free(large);
    return cudaFree(d);
}

/* ---- a right program ---- */

static void *work(void *of) {
    unsigned seed = *(unsigned *)of;
    char *held[100] = {0};
    for (unsigned k = 0; k < 20000; k++) {
        char **p = &held[(seed = seed * 1664525 + 1013904223) >> 16 & 63];
        free(*p);
        *p = strdup("some text of the program" + (k & 15));
    }
    for (unsigned k = 0; k < 100; k++) {
        free(held[k]);
    }
    return strdup("done");
}

static bool works(void) {
    pthread_t threads[4];
    unsigned seeds[4] = {1, 2, 3, 4}, done = 0;
    for (unsigned k = 0; k < 4; k++) {
        done += pthread_create(&threads[k], NULL, work, &seeds[k]) != 0;
    }
    for (unsigned k = 0; k < 4; k++) {
        void *text = NULL;
        pthread_join(threads[k], &text);
        done += text && !strcmp(text, "done");
        free(text);
    }
    return done == 4;
}

/* What glibc lends by other names is free's, too. */
static int others(void) {
    void *p;
    FINE(posix_memalign(&p, 64, 100));
    free(p);
    p = aligned_alloc(16, 32);
    CHECK(p);
    free(p);
    p = reallocarray(NULL, 10, 10);
    CHECK(p);
    p = reallocarray(p, 100, 100);
    CHECK(p);
    free(p);
    p = realpath("/", NULL);
    CHECK(p && !strcmp(p, "/"));
    free(p);
    size_t room = 4;
    char *line = malloc(room); /* which glibc makes longer */
    FILE *f = fopen("/proc/self/maps", "r");
    CHECK(f && getline(&line, &room, f) > 40 && room > 40);
    free(line);
    return fclose(f);
}

int case_heap(void) {
    int status = 1;
    CHECK(works());
    FINE(others());
    pthread_t apart;
    unsigned seed = 5;
    FINE(pthread_create(&apart, NULL, work, &seed)); /* works while the process forks */
    for (unsigned k = 0; k < 20; k++) {
        pid_t pid = fork();
        if (pid == 0) {
            _exit(works() ? 0 : 1);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
    void *text;
    FINE(pthread_join(apart, &text));
    free(text);
    return 0;
}
