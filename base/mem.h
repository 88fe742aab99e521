#pragma once
/* mem: allocation that cannot fail, and cleanup at the end of a scope.
 *
 * The x-functions abort when memory runs out. Sizes that come from outside input must be
 * checked against a limit first; exceeding that limit is an ordinary error.
 *
 * This is the ground of base/: whoever includes one of its headers has the C headers
 * below as well, and the names of struct buf and struct err. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct buf; /* base/buf.h */
struct err; /* base/err.h */

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
/* Like reallocarray: aborts when count * size overflows. */
void *xreallocarray(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
/* Asks for 2 MiB pages for a block of at least 4 MiB that is about to be filled: faulting
 * in 16 MiB as 4 KiB pages takes longer than filling them. No-op for smaller blocks. */
void memory_advise_huge(void *p, size_t size);
/* Makes room for one more item after `count` items of a growing list: doubles a full
 * list, and starts with `first` items. */
#define list_room(list, count, cap, first)                                               \
    do {                                                                                 \
        if ((count) >= (cap)) {                                                          \
            (cap) = (cap) ? 2 * (cap) : (first);                                         \
            (list) = xreallocarray(list, cap, sizeof *(list));                           \
        }                                                                                \
    } while (0)
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t max) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), malloc, returns_nonnull));

/* DEFINE_CLEANUP(struct foo *, foo_free) lets a scope own a pointer:
 *     autoptr(foo_free) struct foo *f = foo_new();
 * The function is not called for NULL. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define DEFINE_CLEANUP(type, fn)                                                         \
    static inline void fn##_p(type *p) {                                                 \
        if (*p) {                                                                        \
            fn(*p);                                                                      \
        }                                                                                \
    }                                                                                    \
    _Static_assert(1, "")
/* NOLINTEND(bugprone-macro-parentheses) */
#define autoptr(fn) __attribute__((cleanup(fn##_p)))

static inline void free_p(void *p) {
    free(*(void **)p);
}
#define autofree __attribute__((cleanup(free_p)))

void fd_close_p(const int *fd);
/* Closes the descriptor at the end of the scope unless it is negative; keeps errno. */
#define autofd __attribute__((cleanup(fd_close_p)))

/* Transfer ownership: returns the value and sets the variable to NULL (take_fd: -1). */
#define take(p)                                                                          \
    ({                                                                                   \
        __auto_type take_ = (p);                                                         \
        (p) = NULL;                                                                      \
        take_;                                                                           \
    })
#define take_fd(fd)                                                                      \
    ({                                                                                   \
        int take_ = (fd);                                                                \
        (fd) = -1;                                                                       \
        take_;                                                                           \
    })

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
