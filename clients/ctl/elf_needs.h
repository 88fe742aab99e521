#pragma once
/* elf_needs: what a program needs of the machine that it is carried to, read from its ELF
 * file (System V ABI, "Dynamic Section"; Linux Standard Base, "Symbol Versioning"). */
#include <stddef.h>

struct err;

enum { ELF_MAX_LIBRARIES = 32 };

struct elf_needs {
    const char *machine;                /* "x86_64", "aarch64"; constant */
    unsigned glibc_major, glibc_minor;  /* the newest GLIBC_ version; 0.0 for none */
    char *libraries[ELF_MAX_LIBRARIES]; /* "libc.so.6" … */
    size_t library_count;
};

/* -EINVAL for what is no 64-bit little-endian dynamic program of a known machine. */
int elf_needs_read(const char *path, struct elf_needs *ret, struct err *err);
void elf_needs_finish(struct elf_needs *needs);
