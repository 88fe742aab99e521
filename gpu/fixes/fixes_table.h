#pragma once
/* fixes_table: which name needs which header, and what is spelt otherwise by now. Data of
 * fixes.c. Each list ends with an entry whose name is NULL. */

/* An undefined identifier that a header declares. */
struct name_header {
    const char *name;
    const char *header; /* "<cuda_fp16.h>" */
};
extern const struct name_header name_headers[];

/* A member of a namespace that a header declares. */
struct member_header {
    const char *space;  /* "cuda" */
    const char *name;   /* member's name; "*" at the end matches any rest */
    const char *header; /* NULL: the built-in of the same name does it, without "std::" */
};
extern const struct member_header member_headers[];

/* Namespace names and what makes them known. */
struct space_alias {
    const char *name;        /* as used: "cg" */
    const char *space;       /* "cooperative_groups" */
    const char *declaration; /* "namespace cg = cooperative_groups;"; NULL for the name
                                itself */
};
extern const struct space_alias space_aliases[];

/* A name that is spelt otherwise in CUDA C++ today. */
struct name_spelling {
    const char *name, *spelling;
    const char *first_argument; /* to be added, or NULL */
};
extern const struct name_spelling name_spellings[];

/* Headers that exist for device code, to be recognised when misspelt. */
extern const char *const device_headers[];
/* Beginnings of headers for host code, which device code can do without. */
extern const char *const host_headers[];
