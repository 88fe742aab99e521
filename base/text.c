#include "base/text.h"

#include "base/buf.h"
#include "base/find.h"

#include <locale.h>
#include <pthread.h>
#include <wchar.h>

#define REPLACEMENT "\xef\xbf\xbd"
#define ONES UINT64_C(0x0101010101010101)
#define HIGHS (ONES * 0x80)

/* Length of the ASCII run at the start of s. */
static size_t ascii_run(const char *s, size_t len) {
    size_t i = 0;
    for (uint64_t word; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s + i, sizeof word);
        if (word & HIGHS) {
            break;
        }
    }
    while (i < len && !(s[i] & 0x80)) {
        i++;
    }
    return i;
}

/* Nonzero when a byte of word is below 0x20, 0x7f, or above. */
static uint64_t has_special(uint64_t word) {
    uint64_t del = word ^ (ONES * 0x7f);
    return (word & HIGHS) | ((word - ONES * 0x20) & ~word & HIGHS) |
           ((del - ONES) & ~del & HIGHS);
}

/* Length of the run of printable ASCII, tabs and newlines at the start of s. */
static size_t plain_run(const char *s, size_t len) {
    size_t i = 0;
    for (;;) {
        for (uint64_t word; len - i >= sizeof word; i += sizeof word) {
            memcpy(&word, s + i, sizeof word);
            if (has_special(word)) {
                break;
            }
        }
        size_t stop = len - i < 8 ? len : i + 8;
        for (; i < stop; i++) {
            unsigned char c = (unsigned char)s[i];
            if (c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t')) {
                return i;
            }
        }
        if (i == len) {
            return i;
        }
    }
}

/* The bytes allowed after a lead byte (Unicode standard, table 3-7): the number of
 * continuation bytes and the range of the first. */
struct lead {
    unsigned more; /* 0 = never begins a sequence */
    unsigned char low, high;
};

static struct lead lead_of(unsigned char c) {
    if (c >= 0xc2 && c <= 0xdf) {
        return (struct lead){1, 0x80, 0xbf};
    }
    if (c >= 0xe0 && c <= 0xef) {
        return (struct lead){2, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf};
    }
    if (c >= 0xf0 && c <= 0xf4) {
        return (struct lead){3, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf};
    }
    return (struct lead){0, 0, 0};
}

/* Take one sequence. Returns its length and sets *ret, or sets *ret to UINT32_MAX and
 * returns the length of the malformed maximal subpart (at least 1). */
static size_t take_sequence(const char *text, size_t len, uint32_t *ret) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) {
        *ret = s[0];
        return 1;
    }
    struct lead lead = lead_of(s[0]);
    uint32_t cp = s[0] & (0x3fu >> lead.more);
    size_t i = 1;
    while (i <= lead.more && i < len && s[i] >= lead.low && s[i] <= lead.high) {
        cp = cp << 6 | (s[i++] & 0x3f);
        lead.low = 0x80;
        lead.high = 0xbf;
    }
    *ret = lead.more && i == lead.more + 1 ? cp : UINT32_MAX;
    return i;
}

bool text_is_utf8(const char *s, size_t len) {
    uint32_t cp;
    for (size_t i = ascii_run(s, len); i < len; i += ascii_run(s + i, len - i)) {
        i += take_sequence(s + i, len - i, &cp);
        if (cp == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

int text_repair(struct buf *out, const char *s, size_t len) {
    size_t from = 0; /* s[from..i) is good and not yet written */
    uint32_t cp;
    for (size_t i = ascii_run(s, len); i < len; i += ascii_run(s + i, len - i)) {
        size_t used = take_sequence(s + i, len - i, &cp);
        if (cp == UINT32_MAX) {
            buf_add(out, s + from, i - from);
            buf_adds(out, REPLACEMENT);
            from = i + used;
        }
        i += used;
    }
    return buf_add(out, s + from, len - from);
}

size_t text_decode(const char *s, size_t len, uint32_t *ret) {
    size_t used = take_sequence(s, len, ret);
    if (*ret == UINT32_MAX) {
        *ret = 0xfffd;
        return 1;
    }
    return used;
}

size_t text_encode(uint32_t cp, char out[4]) {
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff)) {
        cp = 0xfffd;
    }
    size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; cp >>= 6) {
        out[i] = (char)(0x80 | (cp & 0x3f));
    }
    out[0] = (char)(leads[n] | cp);
    return n;
}

/* Invisible characters that reorder, join or smuggle text. Variation selectors up to
 * U+FE0F stay, since ordinary emoji need them. */
static bool is_deceptive(uint32_t cp) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x08},     {0x0b, 0x1f},       {0x7f, 0x9f},     {0x61c, 0x61c},
        {0x200b, 0x200f}, {0x202a, 0x202e},   {0x2060, 0x206f}, {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
    };
    size_t at = first_of(i, 0, sizeof ranges / sizeof *ranges, cp <= ranges[i].last);
    return at < sizeof ranges / sizeof *ranges && cp >= ranges[at].first;
}

/* Cleaning in progress. */
struct cleaner {
    const char *s;
    size_t len;
    size_t unended; /* no control string that begins before this offset has an end */
};

/* The offset after a control sequence (ECMA-48 5.4) whose parameters begin at i. */
static size_t skip_csi(const struct cleaner *c, size_t i) {
    while (i < c->len && c->s[i] >= 0x30 && c->s[i] <= 0x3f) {
        i++;
    }
    while (i < c->len && c->s[i] >= 0x20 && c->s[i] <= 0x2f) {
        i++;
    }
    return i < c->len && c->s[i] >= 0x40 && c->s[i] <= 0x7e ? i + 1 : i;
}

/* The offset after a control string (OSC, DCS, SOS, PM, APC) whose content begins at i,
 * or i itself when it does not end on its line: else one escape could hide the whole
 * rest. */
static size_t skip_string(struct cleaner *c, size_t i) {
    size_t j = i;
    if (i < c->unended) {
        return i;
    }
    for (; j < c->len && c->s[j] != '\n'; j++) {
        bool two = j + 1 < c->len;
        if (c->s[j] == '\a') {
            return j + 1;
        }
        if (two && ((c->s[j] == 0x1b && c->s[j + 1] == '\\') ||
                    (c->s[j] == '\xc2' && c->s[j + 1] == '\x9c'))) {
            return j + 2;
        }
    }
    c->unended = j;
    return i;
}

/* The offset after an escape sequence whose ESC is before i. */
static size_t skip_escape(struct cleaner *c, size_t i) {
    char kind = i < c->len ? c->s[i] : '\0';
    if (kind == '[') {
        return skip_csi(c, i + 1);
    }
    if (kind && strchr("]PX^_", kind)) {
        return skip_string(c, i + 1);
    }
    size_t j = i;
    while (j < c->len && c->s[j] >= 0x20 && c->s[j] <= 0x2f) {
        j++;
    }
    return j < c->len && c->s[j] >= 0x30 && c->s[j] <= 0x7e ? j + 1 : i;
}

/* The offset after the characters that are dropped together with one that is not kept; i
 * is after it. */
static size_t skip_dropped(struct cleaner *c, size_t i, uint32_t cp) {
    switch (cp) {
    case 0x1b:
        return skip_escape(c, i);
    case 0x9b:
        return skip_csi(c, i);
    case 0x90:
    case 0x98:
    case 0x9d:
    case 0x9e:
    case 0x9f:
        return skip_string(c, i);
    default:
        return i;
    }
}

/* Writes the replacement of the character cp (UINT32_MAX: malformed), which ends before
 * offset next. Returns the offset from which to continue. */
static size_t replace_one(struct cleaner *c, size_t next, uint32_t cp, struct buf *out) {
    bool before_newline = next < c->len && c->s[next] == '\n';
    if (cp == UINT32_MAX) {
        buf_adds(out, REPLACEMENT);
    } else if (!is_deceptive(cp) || (cp == '\r' && !before_newline)) {
        buf_addc(out, '\n');
    }
    return skip_dropped(c, next, cp);
}

int text_clean(struct buf *out, const char *s, size_t len) {
    struct cleaner c = {.s = s, .len = len};
    size_t from = 0; /* s[from..i) is good and not yet written */
    uint32_t cp;
    for (size_t i = plain_run(s, len); i < len && !out->full;
         i += plain_run(s + i, len - i)) {
        size_t next = i + take_sequence(s + i, len - i, &cp);
        bool separator = cp == 0x2028 || cp == 0x2029;
        if (cp != UINT32_MAX && !separator && !is_deceptive(cp)) {
            i = next;
            continue;
        }
        buf_add(out, s + from, i - from);
        from = i = replace_one(&c, next, cp, out);
    }
    return buf_add(out, s + from, len - from);
}

size_t text_cut(const char *s, size_t len, size_t max) {
    if (len <= max) {
        return len;
    }
    uint32_t cp;
    for (size_t back = 1; back <= 3 && back <= max; back++) {
        if ((s[max - back] & 0xc0) == 0x80) {
            continue;
        }
        size_t used = take_sequence(s + max - back, len - max + back, &cp);
        return cp != UINT32_MAX && used > back ? max - back : max;
    }
    return max;
}

/* All bytes but those that continue one (10xxxxxx), eight at a time. */
size_t text_code_points(const char *s, size_t len) {
    size_t count = len, i = 0;
    for (uint64_t word; i + sizeof word <= len; i += sizeof word) {
        memcpy(&word, s + i, sizeof word);
        count -= (((word >> 7) & ~(word >> 6) & ONES) * ONES) >> 56;
    }
    for (; i < len; i++) {
        count -= (s[i] & 0xc0) == 0x80;
    }
    return count;
}

size_t text_utf16_units(const char *s, size_t len) {
    size_t units = 0;
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        size_t run = ascii_run(s + i, len - i);
        units += run;
        i += run;
        if (i < len) {
            i += text_decode(s + i, len - i, &cp);
            units += cp > 0xffff ? 2 : 1;
        }
    }
    return units;
}

size_t text_utf16_offset(const char *s, size_t len, size_t units) {
    uint32_t cp;
    size_t i = 0;
    while (i < len && units) {
        size_t run = ascii_run(s + i, len - i < units ? len - i : units);
        i += run;
        units -= run;
        if (i == len || !units) {
            break;
        }
        size_t used = text_decode(s + i, len - i, &cp);
        size_t width = cp > 0xffff ? 2 : 1;
        if (width > units) {
            break;
        }
        units -= width;
        i += used;
    }
    return i;
}

static locale_t utf8_locale;

static void open_locale(void) {
    utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

size_t text_width(const char *s, size_t len) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_locale);
    locale_t before = utf8_locale ? uselocale(utf8_locale) : (locale_t)0;
    size_t columns = 0;
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        i += text_decode(s + i, len - i, &cp);
        if (cp == '\t' || (cp >= 0x20 && cp < 0x7f)) {
            columns++;
        } else if (!is_deceptive(cp) && cp != '\n') {
            /* -1: a character that is newer than the C library; most are one column. */
            int width = utf8_locale ? wcwidth((wchar_t)cp) : 1;
            columns += width < 0 ? 1 : (size_t)width;
        }
    }
    if (before) {
        uselocale(before);
    }
    return columns;
}

/* --- digits and sizes --- */

int text_hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

const char *text_size(char ret[static TEXT_SIZE_MAX], uint64_t bytes) {
    static const char *const units[] = {"byte", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    while (unit + 1 < ARRAY_LEN(units) && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(ret, TEXT_SIZE_MAX, "%llu %s%s", (unsigned long long)bytes, units[unit],
             unit == 0 && bytes != 1 ? "s" : "");
    return ret;
}

const char *text_next_line(const char *s) {
    s += strcspn(s, "\n");
    return s + (*s == '\n');
}

size_t text_count(const char *s, size_t len, char c) {
    size_t count = 0;
    for (const char *end = s + len; (s = memchr(s, c, (size_t)(end - s))); s++) {
        count++;
    }
    return count;
}
