#include "gpu/driver/cuda_memory.h"

#include "base/err.h"
#include "base/find.h"
#include "base/random.h"
#include "protocol/finding.h"

#include <inttypes.h>

enum {
    ALIGN = 512, /* of a buffer within its allocation: the driver's own is 256 or more */
    SLOTS = 8,   /* places that a buffer can have in its front zone */
    POISON = 16, /* bytes after which poison repeats */
    MIN_RUN = 8, /* bytes of poison that count as never written */
    PIECE = 4 << 20,
    MAX_NAME = 64,
};
#define ZONE_MAX (CUDA_MEMORY_ZONE + SLOTS * ALIGN + ALIGN)

struct area {
    char name[MAX_NAME + 1];
    cuda_address base, address; /* of the allocation, 0 when not ours; of the buffer */
    uint64_t front, bytes, rear;
    bool wants_poison, poisoned;
    unsigned char poison[POISON];
    size_t element; /* of the poison: 1 where that is not known */
};

struct cuda_memory {
    struct cuda_context *context;
    struct area *areas;
    size_t count;
    uint64_t limit, used;
    unsigned char *zone;    /* ZONE_MAX random bytes */
    unsigned char *scratch; /* as many */
    unsigned char poison[POISON];
    bool bare;
};

/* Addresses of the trial before, by order of allocation: one process, one thread. */
static struct {
    cuda_address *list;
    size_t count;
} before;

static void fill_random(unsigned char *to, size_t len, uint64_t *state) {
    for (size_t i = 0; i + sizeof(uint64_t) <= len; i += sizeof(uint64_t)) {
        uint64_t bits = random_next(state);
        memcpy(to + i, &bits, sizeof bits);
    }
}

struct cuda_memory *cuda_memory_new(struct cuda_context *c, uint64_t limit,
                                    uint64_t seed) {
    struct cuda_memory *m = xcalloc(1, sizeof *m);
    uint64_t state = seed ^ 0x7a6f6e6573u;
    *m = (struct cuda_memory){.context = c, .limit = limit};
    m->zone = xcalloc(ZONE_MAX, 1);
    m->scratch = xcalloc(ZONE_MAX, 1);
    fill_random(m->zone, ZONE_MAX, &state);
    fill_random(m->poison, POISON, &state);
    return m;
}

void cuda_memory_make_bare(struct cuda_memory *m) {
    m->bare = true;
}

void cuda_memory_free(struct cuda_memory *m) {
    if (!m) {
        return;
    }
    free(before.list);
    before.list = xcalloc(m->count + 1, sizeof *before.list);
    before.count = m->count;
    list_each(i, a, m->areas, m->count) {
        before.list[i] = a->address;
        if (a->base && !m->context->lost) {
            (void)m->context->api->memory_free(a->base);
        }
    }
    free(m->areas);
    free(m->zone);
    free(m->scratch);
    free(m);
}

/* --- copies --- */

static int copied(struct cuda_memory *m, int code, const char *what, struct err *err) {
    int r = cuda_context_check(m->context, code, what, err);
    return r ? r : cuda_context_wait(m->context, what, err);
}

static int copy_in(struct cuda_memory *m, cuda_address to, const void *from, uint64_t len,
                   struct err *err) {
    struct cuda_context *c = m->context;
    int r = len ? cuda_context_usable(c, err) : 0;
    return r || !len ? r
                     : copied(m, c->api->copy_to_device(to, from, len, c->stream),
                              "copying to the device", err);
}

static int copy_out(struct cuda_memory *m, void *to, cuda_address from, uint64_t len,
                    struct err *err) {
    struct cuda_context *c = m->context;
    int r = len ? cuda_context_usable(c, err) : 0;
    return r || !len ? r
                     : copied(m, c->api->copy_to_host(to, from, len, c->stream),
                              "copying from the device", err);
}

/* --- buffers --- */

/* Where in its allocation the buffer begins. */
static uint64_t front_for(const struct cuda_memory *m, cuda_address base) {
    uint64_t slot = m->zone[m->count % CUDA_MEMORY_ZONE] % SLOTS;
    cuda_address old = m->count < before.count ? before.list[m->count] : 0;
    if (base + CUDA_MEMORY_ZONE + slot * ALIGN == old) {
        slot = (slot + 1) % SLOTS;
    }
    return CUDA_MEMORY_ZONE + slot * ALIGN;
}

static int zones_fill(struct cuda_memory *m, const struct area *a, struct err *err) {
    int r = copy_in(m, a->base, m->zone, a->front, err);
    return r ? r : copy_in(m, a->address + a->bytes, m->zone, a->rear, err);
}

static struct area *area_add(struct cuda_memory *m, const char *name) {
    m->areas = xreallocarray(m->areas, m->count + 1, sizeof *m->areas);
    struct area *a = &m->areas[m->count++];
    *a = (struct area){.address = 0};
    snprintf(a->name, sizeof a->name, "%s", name);
    return a;
}

int cuda_memory_alloc(struct cuda_memory *m, const char *name, uint64_t bytes,
                      bool poisoned, cuda_address *ret, struct err *err) {
    struct cuda_context *c = m->context;
    cuda_address base = 0;
    if (bytes > m->limit - m->used) {
        return err_set(err, -ENOMEM,
                       "%s: the buffers need more than the %" PRIu64
                       " MiB of device memory that a run may use",
                       name, m->limit >> 20);
    }
    uint64_t up = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    uint64_t whole = CUDA_MEMORY_ZONE + (SLOTS - 1) * ALIGN + up + CUDA_MEMORY_ZONE;
    if (m->bare) {
        whole = bytes ? bytes : 1;
    }
    int r = cuda_context_usable(c, err);
    r = r ? r
          : cuda_context_check(c, c->api->memory_alloc(&base, whole), "device memory",
                               err);
    if (r < 0) {
        return r;
    }
    uint64_t front = m->bare ? 0 : front_for(m, base);
    struct area *a = area_add(m, name);
    a->base = base;
    a->front = front;
    a->address = base + front;
    a->bytes = bytes;
    a->rear = m->bare ? 0 : CUDA_MEMORY_ZONE + (up - bytes);
    a->wants_poison = poisoned;
    m->used += bytes;
    *ret = a->address;
    return zones_fill(m, a, err);
}

void cuda_memory_add(struct cuda_memory *m, const char *name, cuda_address address,
                     uint64_t bytes) {
    struct area *a = area_add(m, name);
    a->address = address;
    a->bytes = bytes;
}

static struct area *area_of(struct cuda_memory *m, cuda_address address, uint64_t len,
                            struct err *err) {
    list_each(i, a, m->areas, m->count) {
        if (address >= a->address && address - a->address <= a->bytes &&
            len <= a->bytes - (address - a->address)) {
            return a;
        }
    }
    err_set(err, -EFAULT, "no device memory at this address");
    return NULL;
}

/* --- poison --- */

/* The number of bytes after which these repeat, up to 8; 0 when they do not. */
static size_t period_of(const unsigned char *bytes, uint64_t len) {
    for (size_t period = 1; period <= 8 && period < len; period *= 2) {
        if (!memcmp(bytes, bytes + period, len - period)) {
            return period;
        }
    }
    return 0;
}

/* From what the host poisons with, something that only we write. A repeated byte stands
 * for integers: any value is as good. A repeated element is a NaN, and stays one when the
 * low bits of its payload are set; constants and arithmetic make NaNs without. One-byte
 * floats have no payload. */
static void poison_choose(struct cuda_memory *m, struct area *a,
                          const unsigned char *bytes, uint64_t len) {
    enum { INTEGER_POISON = 0xA5, PAYLOAD = 0xA5 };
    size_t period = period_of(bytes, len);
    a->poisoned = false;
    if (period == 1 && bytes[0] == INTEGER_POISON) {
        memcpy(a->poison, m->poison, POISON);
        a->element = 1;
        a->poisoned = true;
    } else if (period > 1) {
        for (size_t i = 0; i < POISON; i++) {
            a->poison[i] =
                (unsigned char)(bytes[i % period] | (i % period ? 0 : PAYLOAD));
        }
        a->element = period;
        a->poisoned = true;
    }
}

static int write_poison(struct cuda_memory *m, const struct area *a, struct err *err) {
    size_t piece = a->bytes < PIECE ? (size_t)a->bytes : PIECE;
    autofree unsigned char *bytes = xmalloc(piece + POISON);
    int r = 0;
    for (size_t i = 0; i < piece; i++) {
        bytes[i] = a->poison[i % POISON];
    }
    for (uint64_t at = 0; r == 0 && at < a->bytes; at += piece) {
        uint64_t left = a->bytes - at;
        r = copy_in(m, a->address + at, bytes, left < piece ? left : piece, err);
    }
    return r;
}

int cuda_memory_write(struct cuda_memory *m, cuda_address address, const void *bytes,
                      uint64_t len, struct err *err) {
    struct area *a = area_of(m, address, len, err);
    if (!a) {
        return -EFAULT;
    }
    if (a->wants_poison && address == a->address && len == a->bytes) {
        if (m->bare) {
            return 0;
        }
        poison_choose(m, a, bytes, len);
        if (a->poisoned) {
            return write_poison(m, a, err);
        }
    }
    return copy_in(m, address, bytes, len, err);
}

int cuda_memory_read(struct cuda_memory *m, cuda_address address, void *bytes,
                     uint64_t len, struct err *err) {
    return area_of(m, address, len, err) ? copy_out(m, bytes, address, len, err)
                                         : -EFAULT;
}

struct byte_run {
    uint64_t begin, len; /* of poison, so far */
    uint64_t total, first;
};

/* Whole elements only: a neighbour may have bytes in common with the poison. */
static void run_end(struct byte_run *run, size_t element) {
    uint64_t begin = (run->begin + element - 1) / element * element;
    uint64_t end = (run->begin + run->len) / element * element;
    if (run->len && end >= begin + MIN_RUN) {
        run->first = run->total ? run->first : begin;
        run->total += end - begin;
    }
    run->len = 0;
}

static void run_add(struct byte_run *run, const struct area *a,
                    const unsigned char *bytes, uint64_t at, uint64_t len) {
    for (uint64_t i = 0; i < len; i++) {
        if (bytes[i] != a->poison[(at + i) % POISON]) {
            run_end(run, a->element);
        } else if (!run->len++) {
            run->begin = at + i;
        }
    }
}

uint64_t cuda_memory_unwritten(struct cuda_memory *m, cuda_address address,
                               uint64_t *ret_first) {
    const struct area *a = area_of(m, address, 0, NULL);
    struct byte_run run = {0};
    *ret_first = 0;
    if (!a || !a->poisoned) {
        return 0;
    }
    autofree unsigned char *bytes = xmalloc(PIECE);
    for (uint64_t at = 0; at < a->bytes; at += PIECE) {
        uint64_t left = a->bytes - at, len = left < PIECE ? left : PIECE;
        if (copy_out(m, bytes, a->address + at, len, NULL) < 0) {
            return 0;
        }
        run_add(&run, a, bytes, at, len);
    }
    run_end(&run, a->element);
    *ret_first = run.first;
    return run.total;
}

/* --- zones --- */

static json_t *zone_finding(const struct area *a, const char *kernel, int64_t first,
                            uint64_t count) {
    char message[400], where[96];
    if (first < 0) {
        snprintf(where, sizeof where, "%" PRId64 " before it", -first);
    } else {
        snprintf(where, sizeof where, "%" PRIu64 " past its last one",
                 (uint64_t)first - a->bytes + 1);
    }
    snprintf(message, sizeof message,
             "%.64s wrote outside of '%s' (%" PRIu64 " bytes): %" PRIu64
             " byte%s changed, the first %s",
             kernel, a->name, a->bytes, count, count == 1 ? "" : "s", where);
    struct finding_span nowhere = {0};
    json_t *f =
        finding_new("run", "out_of_bounds", FINDING_ERROR, message, NULL, &nowhere);
    json_object_set_new(f, "kernel", json_clean_z(kernel));
    json_object_set_new(f, "buffer", json_clean_z(a->name));
    json_object_set_new(f, "offset", json_integer(first));
    json_object_set_new(f, "count", json_integer((json_int_t)count));
    return f;
}

/* origin: the zone's first byte as an offset into the buffer. */
static int zone_check(struct cuda_memory *m, const struct area *a, cuda_address zone,
                      uint64_t len, int64_t origin, const char *kernel, json_t *findings,
                      bool *ret_changed, struct err *err) {
    uint64_t first = 0, count = 0;
    int r = copy_out(m, m->scratch, zone, len, err);
    if (r < 0 || !memcmp(m->scratch, m->zone, len)) {
        return r;
    }
    for (uint64_t i = len; i-- > 0;) {
        bool changed = m->scratch[i] != m->zone[i];
        count += changed;
        first = changed ? i : first;
    }
    *ret_changed = true;
    json_array_append_new(findings,
                          zone_finding(a, kernel, origin + (int64_t)first, count));
    return 0;
}

static int area_check(struct cuda_memory *m, const struct area *a, const char *kernel,
                      json_t *findings, struct err *err) {
    bool changed = false;
    int r = zone_check(m, a, a->base, a->front, -(int64_t)a->front, kernel, findings,
                       &changed, err);
    r = r ? r
          : zone_check(m, a, a->address + a->bytes, a->rear, (int64_t)a->bytes, kernel,
                       findings, &changed, err);
    return r == 0 && changed ? zones_fill(m, a, err) : r;
}

int cuda_memory_check(struct cuda_memory *m, const char *kernel, json_t *findings,
                      struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < m->count; i++) {
        if (m->areas[i].base) {
            r = area_check(m, &m->areas[i], kernel, findings, err);
        }
    }
    return r;
}
