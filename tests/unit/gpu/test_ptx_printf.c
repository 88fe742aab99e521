/* A kernel's printf against the C library's, which formats the same values. */
#include "base/buf.h"
#include "gpu/ptx/machine/device_printf.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

struct arguments {
    uint64_t values[4];
    size_t next;
    const char *text;
};

static uint64_t value(void *data, unsigned bytes) {
    struct arguments *a = data;
    uint64_t v = a->values[a->next++];
    return bytes < 8 ? v & 0xffffffffu : v;
}

static bool string(void *data, uint64_t address, char *to, size_t room) {
    const struct arguments *a = data;
    snprintf(to, room, "%s", address ? a->text : "");
    return address != 0;
}

static char *print(struct buf *out, const char *format, const struct arguments *given) {
    struct arguments a = *given;
    buf_reset(out);
    device_printf(out, format, &(struct printf_source){&a, value, string});
    return out->len ? out->data : (char *)"";
}

Test(ptx_printf, prints_as_c_does) {
    static const char *const integers[] = {
        "%d",   "%i",  "%u",   "%x",    "%X",     "%o",   "%5d",   "%-5d|",
        "%05d", "%+d", "% d",  "%#x",   "%#o",    "%.3d", "%8.3d", "%hd",
        "%hhd", "%hu", "%hhx", "%300d", "%+-7d|", "a%db", "%d%%"};
    static const char *const longs[] = {"%ld", "%lld",   "%zu",
                                        "%lx", "%20lld", "%-20llu|"};
    static const char *const floats[] = {"%f",      "%e",       "%g",     "%a",
                                         "%10.3f",  "%-10.3e|", "%+.0f",  "%#.0f",
                                         "%012.4f", "%G",       "%.300f", "%E"};
    static const int ints[] = {0, 1, -1, 42, -40000, 0x7fffffff, (int)0x80000000u};
    static const long long wide[] = {0, -1, 1234567890123456789, (long long)1 << 63};
    static const double doubles[] = {0,     -0.0,   1.5,     -3.14159265358979,
                                     1e308, 1e-310, INFINITY};
    autobuf out = BUF_INIT(1 << 16);
    char host[2048];
    for (size_t f = 0; f < sizeof integers / sizeof *integers; f++) {
        for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
            struct arguments a = {.values = {(uint64_t)(int64_t)ints[i]}};
            snprintf(host, sizeof host, integers[f], ints[i]);
            cr_expect_str_eq(print(&out, integers[f], &a), host, "%s", integers[f]);
        }
    }
    for (size_t f = 0; f < sizeof longs / sizeof *longs; f++) {
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
            struct arguments a = {.values = {(uint64_t)wide[i]}};
            snprintf(host, sizeof host, longs[f], wide[i]);
            cr_expect_str_eq(print(&out, longs[f], &a), host, "%s", longs[f]);
        }
    }
    for (size_t f = 0; f < sizeof floats / sizeof *floats; f++) {
        for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
            struct arguments a = {0};
            memcpy(a.values, &doubles[i], sizeof doubles[i]);
            snprintf(host, sizeof host, floats[f], doubles[i]);
            cr_expect_str_eq(print(&out, floats[f], &a), host, "%s", floats[f]);
        }
    }
}

Test(ptx_printf, takes_arguments_in_order) {
    autobuf out = BUF_INIT(1 << 16);
    struct arguments a = {.values = {6, 3, 0, 1}, .text = "text"};
    double pi = 3.14159265358979;
    memcpy(&a.values[2], &pi, sizeof pi);
    cr_expect_str_eq(print(&out, "[%*.*f] %s", &a), "[ 3.142] text");
    struct arguments s = {.values = {1}, .text = "text"};
    cr_expect_str_eq(print(&out, "[%6s]", &s), "[  text]");
    cr_expect_str_eq(print(&out, "[%-6.2s]", &s), "[te    ]");
    struct arguments c = {.values = {'c', 0xabc}};
    cr_expect_str_eq(print(&out, "%3c|%p", &c), "  c|0xabc");
    struct arguments none = {0};
    cr_expect_str_eq(print(&out, "%s", &none), "(null)");
}

/* What is no conversion stands as it is; no width makes a field endless. */
Test(ptx_printf, formats_that_are_none_do_no_harm) {
    autobuf out = BUF_INIT(1 << 16);
    struct arguments a = {.values = {7}, .text = "text"};
    cr_expect_str_eq(print(&out, "100%", &a), "100%");
    cr_expect_str_eq(print(&out, "%k %n", &a), "%k %n");
    cr_expect_str_eq(print(&out, "%-+ #0-+ #0-+ #0-+ #0d", &a), "+7");
    print(&out, "%99999999999999999999d", &a);
    cr_expect_eq(out.len, 512u);
    print(&out, "%.99999999999999999999d", &a);
    cr_expect_eq(out.len, 512u);
    struct arguments wide = {.values = {(uint64_t)INT32_MIN, 7}};
    print(&out, "%*d", &wide);
    cr_expect_eq(out.len, 512u);
}
