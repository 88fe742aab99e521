#include "gpu/runtime/transfers.h"

#include "gpu/facts/kernel_index.h"
#include "gpu/ptx/state/origins.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/constants.h"
#include "gpu/runtime/heap_findings.h"
#include "gpu/runtime/host_access.h"
#include "gpu/runtime/latest.h"
#include "gpu/runtime/leaks.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/registration.h"
#include "gpu/runtime/streams.h"
#include "gpu/runtime/unseen.h"

/* ---- one end of a transfer ---- */

struct end {
    struct rows rows;
    struct allocation *in; /* NULL: the host's own memory */
};

static uint64_t span_of(const struct rows *r, struct copy_shape s) {
    return (s.depth - 1) * r->slice + (s.height - 1) * r->pitch + s.width;
}

static cudart_error end_outside(const char *which, const struct allocation *a,
                                uint64_t address, uint64_t span) {
    uint64_t at = address - a->address;
    return a->freed && !(a->flags & DEVICE_RETURNS)
               ? explain(CUDART_INVALID_VALUE,
                         "the %s lies in %s of %llu bytes, which %s", which, a->name,
                         (unsigned long long)a->bytes, a->gone ? a->gone : "has been freed")
               : explain(CUDART_INVALID_VALUE,
                         "the %s begins at byte %llu of %s and takes %llu bytes: there "
                         "are only %llu",
                         which, (unsigned long long)at, a->name, (unsigned long long)span,
                         (unsigned long long)(a->bytes - at));
}

/* What the program says lies on the device must, and what it says is the host's must be
 * open to it. */
static cudart_error end_find(struct end *ret, const char *which, struct rows rows,
                             struct copy_shape shape, bool on_device, bool on_host) {
    uint64_t address = (uintptr_t)rows.address, span = span_of(&rows, shape);
    pthread_mutex_lock(&runtime.device.memory.lock);
    struct allocation *a = memory_find(&runtime.device.memory, address);
    pthread_mutex_unlock(&runtime.device.memory.lock);
    *ret = (struct end){rows, a};
    if (!a && (address == 0 || on_device ||
               (address >= MEMORY_FIRST && address < runtime.device.memory.next))) {
        return explain(CUDART_INVALID_VALUE,
                       address ? "the %s is not memory of the device"
                               : "the %s is a null pointer",
                       which);
    }
    if (!a) {
        return CUDART_SUCCESS;
    }
    bool gone = a->freed && !(a->flags & DEVICE_RETURNS);
    if (gone || span > a->bytes - (address - a->address)) {
        return end_outside(which, a, address, span);
    }
    if (on_host && !(a->flags & DEVICE_MAPPED)) {
        return explain(CUDART_INVALID_VALUE,
                       "the %s is device memory, and the direction says it is the host's",
                       which);
    }
    return CUDART_SUCCESS;
}

/* Mapped memory may be there only to be read (virtual_memory.c). */
static cudart_error end_writable(cudart_error code, const struct end *to) {
    bool closed = !code && to->in && to->in->kind == MEMORY_BUFFER && !to->in->writable;
    return closed ? explain(CUDART_INVALID_VALUE,
                            "the destination may only be read (cuMemSetAccess)")
                  : code;
}

static uint8_t *end_bytes(const struct end *e) {
    return e->in ? device_bytes(e->in, (uintptr_t)e->rows.address) : e->rows.address;
}

/* ---- copies ---- */

struct copy {
    struct op op;
    struct end to, from;
    struct copy_shape shape;
    struct host_site site; /* while the order is looked at, and of copies to the host */
    void *staged;          /* owned: the host's bytes as they were; or NULL */
};

/* From the device's memory to the host's. */
static bool is_given(const struct copy *c) {
    return c->from.in && (!c->to.in || c->to.in->flags & DEVICE_MAPPED);
}

/* Host code may use what it gets. */
static void row_given(const struct copy *c, size_t from) {
    struct allocation *a = c->from.in;
    if (is_given(c)) {
        uint64_t at = (uintptr_t)c->from.rows.address + from - a->address;
        origins_tell_bytes(&runtime.device.memory, runtime.device.space.findings, a, at,
                           c->shape.width);
    }
}

static void row_copy(const struct copy *c, size_t y, size_t z) {
    size_t t = z * c->to.rows.slice + y * c->to.rows.pitch;
    size_t f = z * c->from.rows.slice + y * c->from.rows.pitch;
    row_given(c, f);
    if (memcmp(end_bytes(&c->to) + t, end_bytes(&c->from) + f, c->shape.width) != 0) {
        memmove(end_bytes(&c->to) + t, end_bytes(&c->from) + f, c->shape.width);
        if (c->to.in) {
            c->to.in->version++;
        }
    }
    if (c->to.in) {
        uint64_t at = (uintptr_t)c->to.rows.address + t;
        if (c->from.in) {
            uint64_t from = (uintptr_t)c->from.rows.address + f;
            device_memory_copied(c->to.in, at, c->from.in, from, c->shape.width);
            origins_copied(&runtime.device.memory, runtime.device.space.findings,
                           c->to.in, at - c->to.in->address, c->from.in,
                           from - c->from.in->address, c->shape.width);
        } else {
            device_memory_wrote(c->to.in, at, c->shape.width);
        }
    }
}

/* What there is to look at in the launch that wrote the rest. */
static char *grid_text(const struct latest_launch *l) {
    if (!l) {
        return xstrdup("no kernel has written to it.");
    }
    autofree char *name = kernel_name_new(l->symbol);
    const uint32_t *g = l->shape.grid, *b = l->shape.block;
    return xasprintf("does the grid of %.200s, %u x %u x %u blocks of %u x %u x %u "
                     "threads, reach all elements?",
                     name, g[0], g[1], g[2], b[0], b[1], b[2]);
}

/* Bytes that nothing wrote: often a tail that the grid does not reach. Programs also copy
 * whole buffers of which they use a part, so it is no error. */
static void given_unwritten(const struct copy *c) {
    const struct allocation *a = c->from.in;
    uint64_t count = 0, first = 0;
    for (size_t k = 0; is_given(c) && k < c->shape.height * c->shape.depth; k++) {
        size_t at = k / c->shape.height * c->from.rows.slice +
                    k % c->shape.height * c->from.rows.pitch;
        uint64_t here, row = (uintptr_t)c->from.rows.address + at;
        uint64_t more = device_memory_unwritten(a, row, c->shape.width, &here);
        first = more && !count ? here : first;
        count += more;
    }
    if (!count) {
        return;
    }
    uint64_t bytes = c->shape.width * c->shape.height * c->shape.depth;
    const struct host_site allocated = allocation_site(a);
    const struct latest_launch *l = latest_find(a->written_in);
    const struct report_other launch = {.site = l ? &l->site : NULL,
                                        .what = "the last launch that wrote to it"};
    const struct report_other other = {&allocated, "the allocation", l ? &launch : NULL};
    autofree char *grid = grid_text(l);
    report_warning_between(
        "unwritten_copy", &c->site, &other,
        "The host copies %llu bytes of %s, and nothing has written %llu of them, the first "
        "at byte %llu of its %llu: %s If the host does not "
        "use them, copy less, or fill them with cudaMemset",
        (unsigned long long)bytes, a->name, (unsigned long long)count,
        (unsigned long long)first, (unsigned long long)a->bytes, grid);
}

/* What was freed meanwhile is no more. */
static bool end_gone(const struct end *e) {
    return e->in && e->in->freed;
}

/* Rows with gaps between them: the first one. */
static void end_used(const struct op *op, const struct end *e, struct copy_shape shape,
                     bool writes, const char *what, const struct host_site *site) {
    if (e->in && op->moment) {
        bool whole = shape.height == 1 && shape.depth == 1;
        const struct order_use use = {
            .low = (uintptr_t)e->rows.address - e->in->address,
            .bytes = whole ? span_of(&e->rows, shape) : shape.width,
            .writes = writes,
            .what = what,
            .site = site};
        order_used(op->moment, e->in, &use);
    }
}

static int copy_run(struct op *op) {
    const struct copy *c = container_of(op, struct copy, op);
    if (end_gone(&c->to) || end_gone(&c->from)) {
        return CUDART_INVALID_VALUE;
    }
    unseen_use(c->from.in, false);
    unseen_use(c->to.in, true);
    end_used(op, &c->from, c->shape, false, "a copy", &c->site);
    end_used(op, &c->to, c->shape, true, "a copy", &c->site);
    given_unwritten(c);
    constant_set(c->to.in);
    for (size_t z = 0; z < c->shape.depth; z++) {
        for (size_t y = 0; y < c->shape.height; y++) {
            row_copy(c, y, z);
        }
    }
    outcome_found(&c->site, "the copy");
    return CUDART_SUCCESS;
}

static void copy_free(struct op *op) {
    struct copy *c = container_of(op, struct copy, op);
    free(c->staged);
    free(c);
}

static struct op *copy_copy(struct op *op) {
    struct copy *c = xmalloc(sizeof *c);
    *c = *container_of(op, struct copy, op);
    c->staged = NULL; /* a graph reads the host's bytes when it runs */
    return &c->op;
}

static bool is_nothing(struct copy_shape s) {
    return !s.width || !s.height || !s.depth;
}

static void copy_stage(struct copy *c) {
    uint64_t span = span_of(&c->from.rows, c->shape);
    c->staged = xmalloc(span);
    memcpy(c->staged, c->from.rows.address, span);
    c->from.rows.address = c->staged;
}

/* kind 4 (default) finds out itself. */
static cudart_error ends_find(struct copy *c, struct rows to, struct rows from,
                              int kind) {
    if (kind < COPY_HOST_HOST || kind > COPY_DEFAULT) {
        return explain(CUDART_INVALID_DIRECTION, "%d is not a direction of a copy", kind);
    }
    bool to_device = kind == COPY_IN || kind == COPY_DEVICE;
    bool from_device = kind == COPY_OUT || kind == COPY_DEVICE;
    bool told = kind != COPY_DEFAULT;
    cudart_error code =
        end_find(&c->to, "destination", to, c->shape, to_device || to.is_array,
                 told && !to_device && !to.is_array);
    code = end_writable(code, &c->to);
    return code ? code
                : end_find(&c->from, "source", from, c->shape,
                           from_device || from.is_array,
                           told && !from_device && !from.is_array);
}

static cudart_error copy_new(struct copy **ret, struct rows to, struct rows from,
                             struct copy_shape shape, int kind) {
    struct copy *c = xcalloc(1, sizeof *c);
    c->op = (struct op){.run = copy_run, .free = copy_free, .copy = copy_copy};
    c->shape = shape;
    cudart_error code = ends_find(c, to, from, kind);
    if (order_is_on() || is_given(c)) {
        host_site_take(&c->site);
    }
    if (code) {
        free(c);
        return code;
    }
    *ret = c;
    return CUDART_SUCCESS;
}

cudart_error copy_make(struct op **ret, struct rows to, struct rows from,
                       struct copy_shape shape, int kind) {
    struct copy *c;
    cudart_error code = is_nothing(shape)
                            ? explain(CUDART_INVALID_VALUE, "a copy of nothing")
                            : copy_new(&c, to, from, shape, kind);
    *ret = code ? NULL : &c->op;
    return code;
}

static void end_close(const struct end *e, struct copy_shape shape, bool writes,
                      const struct host_site *site) {
    if (e->in && shape.height == 1 && shape.depth == 1) {
        host_access_copy(order_latest(), e->in, (uintptr_t)e->rows.address, shape.width,
                         writes, site);
    }
}

/* The host does not wait for it: what it shares with the copy is closed until it does. */
static cudart_error copy_put(struct copy *c, struct stream *stream) {
    const struct copy kept = *c; /* it may be gone when the call returns */
    bool closes = order_is_on() && !stream_is_captured(stream);
    cudart_error code = stream_put(stream, NODE_COPY, &c->op);
    if (!code && closes) {
        end_close(&kept.from, kept.shape, false, &kept.site);
        end_close(&kept.to, kept.shape, true, &kept.site);
    }
    return code;
}

/* The host's own memory, as it is now. */
static void hosts_look(const struct copy *c) {
    if (!c->to.in) {
        heap_findings_copy(c->to.rows.address, span_of(&c->to.rows, c->shape), true);
    }
    if (!c->from.in) {
        heap_findings_copy(c->from.rows.address, span_of(&c->from.rows, c->shape), false);
    }
}

cudart_error copy_rows(struct rows to, struct rows from, struct copy_shape shape,
                       int kind, struct stream *stream, bool waits) {
    struct copy *c;
    cudart_error code =
        is_nothing(shape) ? CUDART_SUCCESS : copy_new(&c, to, from, shape, kind);
    if (code || is_nothing(shape)) {
        return code;
    }
    if (!stream_is_captured(stream)) {
        hosts_look(c);
    }
    /* Of pageable memory the host's side is done with when the call returns. */
    if (!waits && !c->from.in && !stream_is_captured(stream)) {
        copy_stage(c);
    }
    waits = waits || !c->to.in;
    return waits ? stream_put_wait(stream, NODE_COPY, &c->op) : copy_put(c, stream);
}

static cudart_error copy_bytes(void *to, const void *from, size_t bytes, int kind,
                               struct stream *stream, bool waits) {
    struct rows t = {.address = to}, f = {.address = (uint8_t *)(uintptr_t)from};
    return copy_rows(t, f, (struct copy_shape){bytes, 1, 1}, kind, stream, waits);
}

/* ---- fills ---- */

struct fill {
    struct op op;
    struct end to;
    struct copy_shape shape; /* width in bytes */
    unsigned value, element_bytes;
    struct host_site site; /* while the order is looked at */
};

static void row_fill(uint8_t *to, const struct fill *f) {
    if (f->element_bytes == 1) {
        memset(to, (int)f->value, f->shape.width);
        return;
    }
    for (size_t k = 0; k < f->shape.width; k += f->element_bytes) {
        memcpy(to + k, &f->value, f->element_bytes); /* its low bytes come first */
    }
}

/* A row of bytes that nobody changes without a call. */
static bool is_plain(const struct fill *f) {
    return f->shape.height == 1 && f->shape.depth == 1 && f->element_bytes == 1 &&
           !runtime.runs_all && !device_is_mapped(&runtime.device, f->to.in) &&
           !(f->to.in->flags & DEVICE_DOUBLE);
}

static int fill_run(struct op *op) {
    const struct fill *f = container_of(op, struct fill, op);
    if (end_gone(&f->to)) {
        return CUDART_INVALID_VALUE;
    }
    const struct fill_words words = {
        f->to.in, (uintptr_t)f->to.rows.address - f->to.in->address, f->shape.width,
        f->value};
    if (is_plain(f) && unseen_keep_fill(&words, op, fill_run)) {
        return CUDART_SUCCESS;
    }
    unseen_use(f->to.in, true);
    end_used(op, &f->to, f->shape, true, "a fill", &f->site);
    if (!is_plain(f)) {
        f->to.in->version++;
    } else if (repeats_fill(runtime.repeats, f->to.in, words.offset, words.bytes,
                            f->value)) {
        outcome_skipped(NULL);
        return CUDART_SUCCESS;
    }
    for (size_t z = 0; z < f->shape.depth; z++) {
        for (size_t y = 0; y < f->shape.height; y++) {
            size_t at = z * f->to.rows.slice + y * f->to.rows.pitch;
            row_fill(end_bytes(&f->to) + at, f);
            device_memory_wrote(f->to.in, (uintptr_t)f->to.rows.address + at,
                                f->shape.width);
        }
    }
    return CUDART_SUCCESS;
}

static void fill_free(struct op *op) {
    free(container_of(op, struct fill, op));
}

static struct op *fill_copy(struct op *op) {
    struct fill *f = xmalloc(sizeof *f);
    *f = *container_of(op, struct fill, op);
    return &f->op;
}

cudart_error fill_make(struct op **ret, struct rows to, struct copy_shape shape,
                       unsigned value, unsigned element_bytes) {
    if (is_nothing(shape) ||
        (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)) {
        return explain(CUDART_INVALID_VALUE, "elements of %u bytes", element_bytes);
    }
    struct fill *f = xcalloc(1, sizeof *f);
    f->op = (struct op){.run = fill_run, .free = fill_free, .copy = fill_copy};
    f->shape = shape;
    f->value = value;
    f->element_bytes = element_bytes;
    if (order_is_on()) {
        host_site_take(&f->site);
    }
    cudart_error code = end_find(&f->to, "destination", to, shape, true, false);
    code = end_writable(code, &f->to);
    if (code) {
        free(f);
        return code;
    }
    *ret = &f->op;
    return CUDART_SUCCESS;
}

void fill_describe(struct op *op, struct cudart_set_node *ret) {
    const struct fill *f = container_of(op, struct fill, op);
    *ret = (struct cudart_set_node){.to = f->to.rows.address,
                                    .pitch = f->to.rows.pitch,
                                    .value = f->value,
                                    .element_bytes = f->element_bytes,
                                    .width = f->shape.width / f->element_bytes,
                                    .height = f->shape.height};
}

static cudart_error fill_rows(struct rows to, struct copy_shape shape, int value,
                              struct stream *stream, bool waits) {
    struct op *op = NULL;
    cudart_error code = is_nothing(shape) ? CUDART_SUCCESS
                                          : fill_make(&op, to, shape, (unsigned)value, 1);
    return code || !op ? code
           : waits     ? stream_put_wait(stream, NODE_SET, op)
                       : stream_put(stream, NODE_SET, op);
}

/* ---- what the program calls ---- */

static struct rows plane(const void *address, size_t pitch) {
    return (struct rows){.address = (uint8_t *)(uintptr_t)address, .pitch = pitch};
}

EXPORT cudart_error cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    RETURN(copy_bytes(to, from, bytes, kind, NULL, true));
}
EXPORT cudart_error cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                                    struct stream *s) {
    RETURN(copy_bytes(to, from, bytes, kind, s, false));
}

static cudart_error copy_2d(void *to, size_t to_pitch, const void *from,
                            size_t from_pitch, size_t width, size_t height, int kind,
                            struct stream *s, bool waits) {
    if (width > to_pitch || width > from_pitch) {
        return explain(CUDART_INVALID_PITCH, "rows of %zu bytes are longer than a pitch",
                       width);
    }
    return copy_rows(plane(to, to_pitch), plane(from, from_pitch),
                     (struct copy_shape){width, height, 1}, kind, s, waits);
}

EXPORT cudart_error cudaMemcpy2D(void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t height,
                                 int kind) {
    RETURN(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, NULL, true));
}
EXPORT cudart_error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                      size_t from_pitch, size_t width, size_t height,
                                      int kind, struct stream *s) {
    RETURN(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, s, false));
}
EXPORT cudart_error cudaMemcpyPeer(void *to, int to_device, const void *from,
                                   int from_device, size_t bytes) {
    RETURN(to_device || from_device
               ? explain(CUDART_INVALID_DEVICE, "there is one device, number 0")
               : copy_bytes(to, from, bytes, COPY_DEVICE, NULL, true));
}
EXPORT cudart_error cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                        int from_device, size_t bytes, struct stream *s) {
    RETURN(to_device || from_device
               ? explain(CUDART_INVALID_DEVICE, "there is one device, number 0")
               : copy_bytes(to, from, bytes, COPY_DEVICE, s, false));
}
EXPORT cudart_error cudaMemset(void *to, int value, size_t bytes) {
    RETURN(fill_rows(plane(to, 0), (struct copy_shape){bytes, 1, 1}, value, NULL, true));
}
EXPORT cudart_error cudaMemsetAsync(void *to, int value, size_t bytes, struct stream *s) {
    RETURN(fill_rows(plane(to, 0), (struct copy_shape){bytes, 1, 1}, value, s, false));
}
EXPORT cudart_error cudaMemset2D(void *to, size_t pitch, int value, size_t width,
                                 size_t height) {
    RETURN(fill_rows(plane(to, pitch), (struct copy_shape){width, height, 1}, value, NULL,
                     true));
}
EXPORT cudart_error cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                      size_t height, struct stream *s) {
    RETURN(fill_rows(plane(to, pitch), (struct copy_shape){width, height, 1}, value, s,
                     false));
}
EXPORT cudart_error cudaMemset3D(struct cudart_pitched to, int value,
                                 struct cudart_extent extent) {
    struct rows rows = {to.pointer, to.pitch, to.pitch * to.height, false};
    RETURN(fill_rows(rows, (struct copy_shape){extent.width, extent.height, extent.depth},
                     value, NULL, true));
}

/* ---- symbols ---- */

static cudart_error symbol_place(const void *symbol, size_t offset, size_t bytes,
                                 void **ret) {
    struct allocation *a;
    cudart_error code = registered_variable(symbol, &a);
    if (code) {
        return code;
    }
    if (offset > a->bytes || bytes > a->bytes - offset) {
        return explain(CUDART_INVALID_VALUE,
                       "%zu bytes at offset %zu of the variable %s: it has %llu", bytes,
                       offset, a->name, (unsigned long long)a->bytes);
    }
    *ret = (void *)(uintptr_t)(a->address + offset);
    return CUDART_SUCCESS;
}

static cudart_error symbol_write(const void *symbol, const void *from, size_t bytes,
                                 size_t offset, int kind, struct stream *s, bool waits) {
    void *to = NULL;
    cudart_error code = symbol_place(symbol, offset, bytes, &to);
    return code ? code : copy_bytes(to, from, bytes, kind, s, waits);
}

static cudart_error symbol_read(void *to, const void *symbol, size_t bytes, size_t offset,
                                int kind, struct stream *s, bool waits) {
    void *from = NULL;
    cudart_error code = symbol_place(symbol, offset, bytes, &from);
    return code ? code : copy_bytes(to, from, bytes, kind, s, waits);
}

EXPORT cudart_error cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                       size_t offset, int kind) {
    RETURN(symbol_write(symbol, from, bytes, offset, kind, NULL, true));
}
EXPORT cudart_error cudaMemcpyToSymbolAsync(const void *symbol, const void *from,
                                            size_t bytes, size_t offset, int kind,
                                            struct stream *s) {
    RETURN(symbol_write(symbol, from, bytes, offset, kind, s, false));
}
EXPORT cudart_error cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                         size_t offset, int kind) {
    RETURN(symbol_read(to, symbol, bytes, offset, kind, NULL, true));
}
EXPORT cudart_error cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                              size_t offset, int kind, struct stream *s) {
    RETURN(symbol_read(to, symbol, bytes, offset, kind, s, false));
}
EXPORT cudart_error cudaGetSymbolAddress(void **ret, const void *symbol) {
    struct allocation *a;
    if (registered_variable(symbol, &a) == CUDART_SUCCESS) {
        constant_set(a);
    }
    RETURN(symbol_place(symbol, 0, 0, ret));
}
EXPORT cudart_error cudaGetSymbolSize(size_t *ret, const void *symbol) {
    struct allocation *a;
    cudart_error code = registered_variable(symbol, &a);
    if (!code) {
        *ret = a->bytes;
    }
    RETURN(code);
}
