#pragma once
/* text: validating, cleaning, cutting and measuring UTF-8.
 *
 * Compiler output, skills, traces and model answers are hostile bytes. Everything that is
 * sent to a client, a terminal or a model goes through text_clean first. */
#include "base/mem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

/* Strict UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF). */
bool text_is_utf8(const char *s, size_t len);

/* Append s to out with every malformed sequence replaced by U+FFFD (one per maximal
 * subpart, as the Unicode standard and the WHATWG decoder do). -EMSGSIZE at out's limit.
 */
int text_repair(struct buf *out, const char *s, size_t len);

/* Append s repaired, and without characters that can deceive a reader: control characters
 * other than tab and newline, ANSI escape sequences, bidirectional controls, zero-width
 * and tag characters, and the byte order mark. CR LF, a lone CR, U+2028 and U+2029 become
 * LF, so the lines match lines.h. A control string (such as OSC) that does not end
 * on its line loses only its introducer: its text stays visible. */
int text_clean(struct buf *out, const char *s, size_t len);

/* Decode one code point at s (len > 0). Returns its length in bytes (1 for a malformed
 * byte, with *ret = 0xFFFD). */
size_t text_decode(const char *s, size_t len, uint32_t *ret);
/* Write cp as UTF-8; returns 1 to 4. */
size_t text_encode(uint32_t cp, char out[4]);

/* In a function with printf-like arguments: formats them into an array, truncated to its
 * size. */
#define text_format(array, fmt)                                                          \
    do {                                                                                 \
        va_list args_;                                                                   \
        va_start(args_, fmt);                                                            \
        (void)vsnprintf(array, sizeof(array), fmt, args_);                               \
        va_end(args_);                                                                   \
    } while (0)

/* "%zu file%s": one file, several files. */
static inline const char *text_plural(double count) {
    return count > 0.5 && count < 1.5 ? "" : "s";
}

/* Whether c may be part of an identifier of C. */
static inline bool text_is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The same of an identifier that may have letters beyond ASCII. */
static inline bool text_is_wide_word(char c) {
    return text_is_word(c) || (unsigned char)c >= 0x80;
}

/* The value of a hexadecimal digit, or -1. */
int text_hex_digit(char c);

/* The longest prefix of s of at most max bytes that ends on a code point boundary. */
size_t text_cut(const char *s, size_t len, size_t max);

/* The start of the line after the one that contains s, or the end of the text. */
const char *text_next_line(const char *s);
/* The number of occurrences of c in the text. */
size_t text_count(const char *s, size_t len, char c);

/* Code points in the UTF-8 text s. */
size_t text_code_points(const char *s, size_t len);

/* The number of UTF-16 code units in the UTF-8 text s; and the byte offset of the unit
 * with index `units` (inside a surrogate pair it rounds down; past the end it is len). */
size_t text_utf16_units(const char *s, size_t len);
size_t text_utf16_offset(const char *s, size_t len, size_t units);

/* Formats a size exactly, in the largest unit that divides it: "16 MiB", "1000 bytes".
 * Returns ret. */
#define TEXT_SIZE_MAX 32
const char *text_size(char ret[static TEXT_SIZE_MAX], uint64_t bytes);

/* Columns a terminal needs for s (East Asian wide characters count 2, combining marks 0);
 * tabs count 1. Uses wcwidth with the C.UTF-8 tables. */
size_t text_width(const char *s, size_t len);
