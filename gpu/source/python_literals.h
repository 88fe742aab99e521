#pragma once
/* python_literals: the string literals of a Python file. Part of python_strings. */
#include <stdbool.h>
#include <stddef.h>

/* [start, end) with prefix and quotes, [from, to) without. */
struct python_literal {
    size_t start, from, to, end;
    bool triple, raw, formatted;
    bool alone; /* a statement of its own: a docstring, or what is commented out so */
};

struct python_reader {
    const char *text;
    size_t len, at;
    unsigned depth; /* of brackets */
};

/* The first literal at or after r->at, which moves behind it. Comments have none. */
bool python_literal_next(struct python_reader *r, struct python_literal *ret);
/* Whether it is a triple-quoted one with __global__ or __device__ that the script may
 * use. */
bool python_literal_is_cuda(const char *text, const struct python_literal *l);
