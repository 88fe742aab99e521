#pragma once
/* python_literals: the string literals of a Python file. Part of python_strings. */
#include "base/mem.h"

/* [start, end) with prefix and quotes, [from, to) without. */
struct python_literal {
    size_t start, from, to, end;
    bool triple, raw, formatted;
    bool alone; /* a whole statement: a docstring, or commented-out text */
};

struct python_reader {
    const char *text;
    size_t len, at;
    unsigned depth; /* of brackets */
};

/* The first literal at or after r->at, which moves past it. Comments contain none. */
bool python_literal_next(struct python_reader *r, struct python_literal *ret);
/* Whether it is triple-quoted, contains __global__ or __device__, and may be used by the
 * script. */
bool python_literal_is_cuda(const char *text, const struct python_literal *l);
