#pragma once
/* elf_needs: the requirements of a program on the machine that runs it, read from its ELF
 * file (System V ABI, "Dynamic Section"; Linux Standard Base, "Symbol Versioning"). */
#include "base/mem.h"

enum { ELF_MAX_LIBRARIES = 32 };

struct elf_needs {
    const char *machine; /* "x86_64", "aarch64"; constant */
    /* the newest GLIBC_ version; 0.0 if there is none */
    unsigned glibc_major, glibc_minor;
    char *libraries[ELF_MAX_LIBRARIES]; /* "libc.so.6" … */
    size_t library_count;
};

/* -EINVAL if it is not a 64-bit little-endian dynamic program of a known machine. */
int elf_needs_read(const char *path, struct elf_needs *ret, struct err *err);
void elf_needs_finish(struct elf_needs *needs);
