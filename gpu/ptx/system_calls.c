#include "gpu/ptx/system_calls.h"

#include "gpu/ptx/access.h"

#include <stdio.h>
#include <string.h>

#define MAX_STRING 1024 /* of a %s, a format, an assertion's words */

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
            const struct allocation *in = run_find(w->worker->run, a);
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
    struct buf *out;
};

static bool next_argument(struct printing *p, unsigned bytes, uint64_t *ret) {
    p->args = (p->args + bytes - 1) & ~(uint64_t)(bytes - 1);
    *ret = 0;
    bool fine = peek(p->warp, p->lane, p->args, ret, bytes);
    p->args += bytes;
    return fine;
}

/* One conversion, "%-08.3lf": the length in `spec` is dropped and ours is put in. */
static void print_conversion(struct printing *p, const char *spec, size_t len) {
    char clean[40] = "%";
    size_t n = 1;
    unsigned longs = 0, digits = 0;
    char conversion = spec[len - 1];
    for (size_t k = 1; k + 1 < len; k++) {
        if (spec[k] == 'l' || spec[k] == 'z' || spec[k] == 'j' || spec[k] == 't') {
            longs++;
        } else if (spec[k] == '*') {
            uint64_t width = 0;
            next_argument(p, 4, &width);
            int bounded = (int32_t)width > 512    ? 512
                          : (int32_t)width < -512 ? -512
                                                  : (int32_t)width;
            if (n < 20) {
                n += (size_t)snprintf(clean + n, sizeof clean - n, "%d", bounded);
            }
        } else if (spec[k] != 'h' && n < 20) {
            bool digit = spec[k] >= '0' && spec[k] <= '9';
            digits = digit ? digits + 1 : 0;
            if (digits <= 3) { /* widths under 1000 */
                clean[n++] = spec[k];
            }
        }
    }
    char text[2048];
    uint64_t v = 0;
    switch (conversion) {
    case 'd':
    case 'i':
        next_argument(p, longs ? 8 : 4, &v);
        snprintf(clean + n, sizeof clean - n, "ll%c", conversion);
        v = longs ? v : (uint64_t)(int64_t)(int32_t)v;
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        next_argument(p, longs ? 8 : 4, &v);
        snprintf(clean + n, sizeof clean - n, "ll%c", conversion);
        break;
    case 'p':
        next_argument(p, 8, &v);
        buf_addf(p->out, "0x%llx", (unsigned long long)v);
        return;
    case 'c':
        next_argument(p, 4, &v);
        buf_addc(p->out, (char)v);
        return;
    case 's': {
        char string[MAX_STRING];
        next_argument(p, 8, &v);
        if (!peek_string(p->warp, p->lane, v, string, sizeof string)) {
            snprintf(string, sizeof string, "(null)");
        }
        buf_adds(p->out, string);
        return;
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        double d;
        next_argument(p, 8, &v);
        memcpy(&d, &v, sizeof d);
        snprintf(clean + n, sizeof clean - n, "%c", conversion);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, clean, d);
#pragma GCC diagnostic pop
        buf_adds(p->out, text);
        return;
    }
    default: /* none of printf's: as it stands */
        buf_add(p->out, spec, len);
        return;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, clean, (long long)v);
#pragma GCC diagnostic pop
    buf_adds(p->out, text);
}

static void print_format(struct printing *p, const char *format) {
    while (*format) {
        size_t plain = strcspn(format, "%");
        buf_add(p->out, format, plain);
        format += plain;
        if (*format == 0) {
            return;
        }
        if (format[1] == '%') {
            buf_addc(p->out, '%');
            format += 2;
            continue;
        }
        size_t len = 1 + strspn(format + 1, "-+ #0123456789.*hljzt");
        if (format[len] == 0 || len > 30) {
            buf_adds(p->out, format);
            return;
        }
        print_conversion(p, format, len + 1);
        format += len + 1;
    }
}

static void call_vprintf(struct warp *w, const struct step *s,
                         const struct call_site *site, unsigned lane) {
    (void)s;
    char format[MAX_STRING];
    struct printing p = {.warp = w, .lane = lane, .args = argument(w, site, 1, lane)};
    bool fine = peek_string(w, lane, argument(w, site, 0, lane), format, sizeof format);
    p.out = run_printf_lock(w->worker->run);
    if (fine) {
        print_format(&p, format);
    }
    run_printf_unlock(w->worker->run);
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
    run_fault(w->worker->run);
    w->block->ended = true;
}

/* ---- the heap ---- */

static void call_malloc(struct warp *w, const struct call_site *site, unsigned lane) {
    struct allocation *a;
    uint64_t bytes = argument(w, site, 0, lane);
    int rc = bytes == 0 ? -1
                        : memory_add(run_memory(w->worker->run), "device heap", bytes,
                                     MEMORY_HEAP, MACHINE_UNINITIALIZED, &a, NULL);
    give(w, site, lane, rc ? 0 : a->address);
}

static void call_free(struct warp *w, const struct step *s, const struct call_site *site,
                      unsigned lane) {
    uint64_t address = argument(w, site, 0, lane);
    struct memory *memory = run_memory(w->worker->run);
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
        run_fault(w->worker->run);
    }
}

void system_call_run(enum system_call which, struct warp *w, const struct step *s,
                     const struct call_site *site, uint32_t mask) {
    w->block->changes++;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
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
