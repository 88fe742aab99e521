#include "gpu/ptx/machine/device_printf.h"

#include "base/buf.h"

#include <stdio.h>

enum {
    WIDTH_MAX = 512,   /* of a field, and precision */
    FIELD_MAX = 2048,  /* bytes: 309 digits, a point and WIDTH_MAX more */
    FLAGS_MAX = 8,     /* of "-+ #0'", repeated at will */
    DIRECTIVE_MAX = 40 /* what the host's printf is given */
};

struct directive { /* "%-08.3lf" */
    char flags[FLAGS_MAX];
    int width, precision; /* -1: none */
    unsigned longs, shorts;
    char conversion;
};

static int number_bounded(long value) {
    return (int)(value > WIDTH_MAX ? WIDTH_MAX : value < -WIDTH_MAX ? -WIDTH_MAX : value);
}

/* A width or precision, "12" or "*". */
static int number_read(const char **at, const struct printf_source *from) {
    long value = 0;
    if (**at == '*') {
        ++*at;
        return number_bounded((int32_t)from->value(from->data, 4));
    }
    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = value <= WIDTH_MAX ? value * 10 + (**at - '0') : value;
    }
    return number_bounded(value);
}

/* After the percent sign; returns the position after the conversion. */
static const char *directive_read(const char *at, const struct printf_source *from,
                                  struct directive *ret) {
    size_t flags = 0;
    *ret = (struct directive){.width = -1, .precision = -1};
    for (; *at && strchr("-+ #0", *at); at++) {
        if (flags < FLAGS_MAX - 1 && !strchr(ret->flags, *at)) {
            ret->flags[flags++] = *at;
        }
    }
    if (*at == '*' || (*at >= '1' && *at <= '9')) {
        ret->width = number_read(&at, from);
    }
    if (*at == '.') {
        at++;
        ret->precision = number_read(&at, from);
    }
    for (; *at && strchr("lzjth", *at); at++) {
        ret->longs += *at != 'h';
        ret->shorts += *at == 'h';
    }
    ret->conversion = *at;
    return *at ? at + 1 : at;
}

/* For the host's printf; length is its own, "ll" for integers. */
static void directive_write(const struct directive *d, const char *length,
                            char ret[static DIRECTIVE_MAX]) {
    char width[16] = "", precision[16] = "";
    if (d->width != -1) { /* a negative one is a flag and a width, as in C */
        snprintf(width, sizeof width, "%d", d->width);
    }
    if (d->precision >= 0) {
        snprintf(precision, sizeof precision, ".%d", d->precision);
    }
    snprintf(ret, DIRECTIVE_MAX, "%%%s%s%s%s%c", d->flags, width, precision, length,
             d->conversion);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_integer(struct buf *out, const struct directive *d, uint64_t v) {
    char host[DIRECTIVE_MAX], text[FIELD_MAX];
    bool is_signed = d->conversion == 'd' || d->conversion == 'i';
    if (!d->longs) {
        unsigned bits = d->shorts > 1 ? 8 : d->shorts ? 16 : 32;
        v <<= 64 - bits;
        v = is_signed ? (uint64_t)((int64_t)v >> (64 - bits)) : v >> (64 - bits);
    }
    directive_write(d, "ll", host);
    snprintf(text, sizeof text, host, (long long)v);
    buf_adds(out, text);
}

static void print_float(struct buf *out, const struct directive *d, uint64_t bits) {
    char host[DIRECTIVE_MAX], text[FIELD_MAX];
    double value;
    memcpy(&value, &bits, sizeof value);
    directive_write(d, "", host);
    snprintf(text, sizeof text, host, value);
    buf_adds(out, text);
}

static void print_string(struct buf *out, const struct directive *d,
                         const char string[static DEVICE_STRING_MAX]) {
    char host[DIRECTIVE_MAX], text[FIELD_MAX];
    struct directive as_string = *d;
    as_string.conversion = 's';
    directive_write(&as_string, "", host);
    snprintf(text, sizeof text, host, string);
    buf_adds(out, text);
}
#pragma GCC diagnostic pop

static void print_text(struct buf *out, const struct directive *d,
                       const struct printf_source *from) {
    char string[DEVICE_STRING_MAX];
    uint64_t address = from->value(from->data, 8);
    if (!from->string(from->data, address, string, sizeof string)) {
        snprintf(string, sizeof string, "(null)");
    }
    print_string(out, d, string);
}

static void print_pointer(struct buf *out, const struct directive *d,
                          const struct printf_source *from) {
    char string[DEVICE_STRING_MAX];
    snprintf(string, sizeof string, "0x%llx",
             (unsigned long long)from->value(from->data, 8));
    print_string(out, d, string);
}

static void print_character(struct buf *out, const struct directive *d,
                            const struct printf_source *from) {
    char string[DEVICE_STRING_MAX] = {(char)from->value(from->data, 4)};
    struct directive whole = *d;
    whole.precision = -1;
    if (string[0]) {
        print_string(out, &whole, string);
    }
}

/* False: none of printf's. */
static bool print_directive(struct buf *out, const struct directive *d,
                            const struct printf_source *from) {
    if (!d->conversion) {
        return false;
    }
    if (strchr("diuxXo", d->conversion)) {
        print_integer(out, d, from->value(from->data, d->longs ? 8 : 4));
    } else if (strchr("fFeEgGaA", d->conversion)) {
        print_float(out, d, from->value(from->data, 8));
    } else if (d->conversion == 's') {
        print_text(out, d, from);
    } else if (d->conversion == 'p') {
        print_pointer(out, d, from);
    } else if (d->conversion == 'c') {
        print_character(out, d, from);
    } else {
        return false;
    }
    return true;
}

void device_printf(struct buf *out, const char *format,
                   const struct printf_source *from) {
    while (*format) {
        size_t plain = strcspn(format, "%");
        struct directive d;
        buf_add(out, format, plain);
        format += plain;
        if (!*format) {
            return;
        }
        const char *end = directive_read(format + 1, from, &d);
        if (d.conversion == '%') {
            buf_addc(out, '%');
        } else if (!print_directive(out, &d, from)) {
            buf_add(out, format, (size_t)(end - format));
        }
        format = end;
    }
}
