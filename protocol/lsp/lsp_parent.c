/* The editor's process, by initialize's processId. A pidfd becomes readable at its end;
 * where the kernel has none (before 5.3), or the process is gone already, it is asked for
 * every two seconds. */
#include "protocol/lsp/lsp_internal.h"

#include "base/mem.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK_EVERY_MS 2000

static void handle_closed(uv_handle_t *handle) {
    struct lsp *l = handle->data;
    if (--l->open_handles == 0) {
        free(l);
    }
}

void lsp_handle_close(struct lsp *l, uv_handle_t *handle) {
    handle->data = l;
    uv_close(handle, handle_closed);
}

int lsp_exit_code(const struct lsp *l) {
    return l->state == LSP_SHUT_DOWN ? 0 : 1;
}

static void parent_gone(struct lsp *l) {
    uv_timer_stop(&l->parent_timer);
    if (l->parent_fd >= 0) {
        uv_poll_stop(&l->parent_poll);
    }
    l->host->quit(l->host->data, lsp_exit_code(l));
}

static void poll_fired(uv_poll_t *poll, int status, int events) {
    (void)status;
    (void)events;
    parent_gone(container_of(poll, struct lsp, parent_poll));
}

static void timer_fired(uv_timer_t *timer) {
    struct lsp *l = container_of(timer, struct lsp, parent_timer);
    if (kill(l->parent_pid, 0) < 0 && errno == ESRCH) {
        parent_gone(l);
    }
}

static bool poll_start(struct lsp *l) {
    int fd = (int)syscall(SYS_pidfd_open, l->parent_pid, 0);
    if (fd < 0) {
        return false;
    }
    if (uv_poll_init(l->host->origin->loop, &l->parent_poll, fd) < 0) {
        close(fd);
        return false;
    }
    l->parent_fd = fd;
    l->open_handles++;
    uv_unref((uv_handle_t *)&l->parent_poll);
    return uv_poll_start(&l->parent_poll, UV_READABLE, poll_fired) == 0;
}

void lsp_parent_watch(struct lsp *l, int pid) {
    l->parent_pid = pid;
    if (!poll_start(l)) {
        uv_timer_start(&l->parent_timer, timer_fired, ASK_EVERY_MS, ASK_EVERY_MS);
    }
}

void lsp_parent_close(struct lsp *l) {
    lsp_handle_close(l, (uv_handle_t *)&l->parent_timer);
    if (l->parent_fd >= 0) {
        lsp_handle_close(l, (uv_handle_t *)&l->parent_poll);
        close(l->parent_fd);
        l->parent_fd = -1;
    }
}
