#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

static void *checked(void *p) {
    if (!p) {
        static const char msg[] = "upskilld: out of memory\n";
        (void)!write(STDERR_FILENO, msg, sizeof msg - 1);
        abort();
    }
    return p;
}

void *xmalloc(size_t size) {
    return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size) {
    return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t size) {
    return checked(realloc(p, size ? size : 1));
}

void *xreallocarray(void *p, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        checked(NULL);
    }
    return xrealloc(p, bytes);
}

void memory_advise_huge(void *p, size_t size) {
    size_t skipped = -(uintptr_t)p % HUGE_PAGE;
    if (size >= 2 * (size_t)HUGE_PAGE) {
        (void)madvise((char *)p + skipped, (size - skipped) / HUGE_PAGE * HUGE_PAGE,
                      MADV_HUGEPAGE);
    }
}

char *xstrdup(const char *s) {
    return checked(strdup(s));
}

char *xstrndup(const char *s, size_t max) {
    return checked(strndup(s, max));
}

char *xasprintf(const char *fmt, ...) {
    char *s;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    return checked(n < 0 ? NULL : s);
}

void fd_close_p(const int *fd) {
    if (*fd >= 0) {
        int saved = errno;
        close(*fd);
        errno = saved;
    }
}
