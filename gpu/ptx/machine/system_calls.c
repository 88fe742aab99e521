#include "gpu/ptx/machine/system_calls.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/machine/device_printf.h"

static const struct {
    const char *name;
    uint8_t arguments[6]; /* bytes, 0 = no more */
    uint8_t result;
} calls[] = {
    [SYSTEM_VPRINTF] = {"vprintf", {8, 8}, 4},
    [SYSTEM_ASSERTFAIL] = {"__assertfail", {8, 8, 4, 8, 8}, 0},
    [SYSTEM_MALLOC] = {"malloc", {8}, 8},
    [SYSTEM_FREE] = {"free", {8}, 0},
};

int system_call_find(const char *name) {
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        if (strcmp(calls[k].name, name) == 0) {
            return (int)k;
        }
    }
    return -1;
}

bool system_call_fits(enum system_call which, const struct call_site *site) {
    uint32_t count = 0;
    while (calls[which].arguments[count]) {
        count++;
    }
    if (site->arguments != count || site->results > (calls[which].result ? 1u : 0u)) {
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (site->argument_bytes[k] != calls[which].arguments[k]) {
            return false;
        }
    }
    return site->results == 0 || site->result_bytes[0] == calls[which].result;
}

bool system_call_is_ordered(enum system_call which) {
    return which != SYSTEM_ASSERTFAIL;
}

/* ---- arguments, results, memory of a lane ---- */

static uint64_t argument(const struct warp *w, const struct call_site *site, unsigned k,
                         unsigned lane) {
    const uint32_t *row =
        (const uint32_t *)(const void *)(w->head.regs + site->argument_areas[k]);
    uint64_t low = row[lane];
    return site->argument_bytes[k] > 4 ? low | (uint64_t)row[WARP_LANES + lane] << 32
                                       : low;
}

static void give(struct warp *w, const struct call_site *site, unsigned lane,
                 uint64_t value) {
    if (site->results == 0) {
        return;
    }
    uint32_t *row = (uint32_t *)(void *)(w->head.regs + site->result_areas[0]);
    row[lane] = (uint32_t)value;
    if (site->result_bytes[0] > 4) {
        row[WARP_LANES + lane] = (uint32_t)(value >> 32);
    }
}

/* Bytes at a generic address, without findings; false where there are none. */
static bool peek(struct warp *w, unsigned lane, uint64_t address, void *to,
                 unsigned bytes) {
    for (unsigned k = 0; k < bytes; k++) {
        uint64_t a = address + k;
        uint8_t byte;
        if (a - MEMORY_LOCAL < MEMORY_WINDOW_BYTES) {
            uint64_t at = a - MEMORY_LOCAL;
            if (at >= w->frame->local_top) {
                return false;
            }
            byte = w->local[(at / 4 * WARP_LANES + lane) * 4 + at % 4];
        } else if (a - MEMORY_SHARED < MEMORY_WINDOW_BYTES) {
            if (a - MEMORY_SHARED >= w->block->shared_bytes) {
                return false;
            }
            byte = w->block->shared[a - MEMORY_SHARED];
        } else {
            const struct allocation *in = run_find(w->processor->run, a);
            if (!in || in->freed) {
                return false;
            }
            byte = in->host[a - in->address];
        }
        ((uint8_t *)to)[k] = byte;
    }
    return true;
}

static bool peek_string(struct warp *w, unsigned lane, uint64_t address, char *to,
                        size_t room) {
    for (size_t k = 0; k + 1 < room; k++) {
        if (!peek(w, lane, address + k, &to[k], 1)) {
            to[k] = 0;
            return false;
        }
        if (to[k] == 0) {
            return true;
        }
    }
    to[room - 1] = 0;
    return true;
}

/* ---- printf ---- */

struct printing {
    struct warp *warp;
    unsigned lane;
    uint64_t args; /* generic address of the next argument */
};

static uint64_t next_argument(void *data, unsigned bytes) {
    struct printing *p = data;
    uint64_t value = 0;
    p->args = (p->args + bytes - 1) & ~(uint64_t)(bytes - 1);
    bool fine = peek(p->warp, p->lane, p->args, &value, bytes);
    p->args += bytes;
    return fine ? value : 0;
}

static bool string_argument(void *data, uint64_t address, char *to, size_t room) {
    const struct printing *p = data;
    return peek_string(p->warp, p->lane, address, to, room);
}

static void call_vprintf(struct warp *w, const struct step *,
                         const struct call_site *site, unsigned lane) {
    char format[DEVICE_STRING_MAX];
    struct printing p = {.warp = w, .lane = lane, .args = argument(w, site, 1, lane)};
    const struct printf_source from = {&p, next_argument, string_argument};
    bool fine = peek_string(w, lane, argument(w, site, 0, lane), format, sizeof format);
    struct buf *out = run_printf_lock(w->processor->run);
    if (fine) {
        device_printf(out, format, &from);
    }
    run_printf_unlock(w->processor->run);
    give(w, site, lane, fine ? 0 : UINT32_MAX);
}

/* ---- assert ---- */

static void call_assertfail(struct warp *w, const struct step *s,
                            const struct call_site *site, unsigned lane) {
    char message[128], file[96], function[64];
    peek_string(w, lane, argument(w, site, 0, lane), message, sizeof message);
    peek_string(w, lane, argument(w, site, 1, lane), file, sizeof file);
    peek_string(w, lane, argument(w, site, 3, lane), function, sizeof function);
    finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                FINDING_ASSERT, "%s:%u: %s: assertion `%s' failed", file,
                (unsigned)argument(w, site, 2, lane), function, message);
    run_fault(w->processor->run);
    w->block->ended = true;
}

/* ---- the heap ---- */

static void call_malloc(struct warp *w, const struct call_site *site, unsigned lane) {
    struct allocation *a;
    uint64_t bytes = argument(w, site, 0, lane);
    int rc = bytes == 0 ? -1
                        : memory_add(w->processor->run->memory, "device heap", bytes,
                                     MEMORY_HEAP, MACHINE_UNINITIALIZED, &a, NULL);
    give(w, site, lane, rc ? 0 : a->address);
}

static void call_free(struct warp *w, const struct step *s, const struct call_site *site,
                      unsigned lane) {
    uint64_t address = argument(w, site, 0, lane);
    struct memory *memory = w->processor->run->memory;
    const struct allocation *a = address ? memory_find(memory, address) : NULL;
    if (address == 0) {
        return;
    }
    if (!a || a->kind != MEMORY_HEAP || memory_release(memory, address)) {
        finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                    FINDING_LAUNCH_ERROR,
                    "free(0x%llx): not the start of a block of the "
                    "device heap, or freed before",
                    (unsigned long long)address);
        run_fault(w->processor->run);
    }
}

void system_call_run(enum system_call which, struct warp *w, const struct step *s,
                     const struct call_site *site, uint32_t mask) {
    w->block->changes++;
    bits_each(lane, mask) {
        switch (which) {
        case SYSTEM_VPRINTF:
            call_vprintf(w, s, site, lane);
            break;
        case SYSTEM_ASSERTFAIL:
            call_assertfail(w, s, site, lane);
            break;
        case SYSTEM_MALLOC:
            call_malloc(w, site, lane);
            break;
        case SYSTEM_FREE:
            call_free(w, s, site, lane);
            break;
        }
    }
    if (which == SYSTEM_ASSERTFAIL) {
        warp_exit_lanes(w, mask);
    }
}
