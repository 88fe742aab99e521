#pragma once
/* project_flags: the flags that a project itself has for a file.
 *
 * In this order, of which the later wins where both say something:
 * 1. compile_commands.json (compile_commands.h) in the nearest of the file's folders that
 *    has one, or in `build` there: include folders, macros, and those of nvcc's options
 *    that make a difference to device code. What else stands there is another compiler's
 *    or the linker's and is left out. The nearest database that says something is taken.
 * 2. defines, std, options and include_dirs of upskilld.yaml in the file's folders, the
 *    outermost first.
 * 3. The same keys of the editor's settings.
 * Folders are looked in up to the outermost root that holds the file. The target stays
 * the one that was asked for. All of it is a stranger's: only what lies
 * beneath the roots is read, and only folders beneath them are taken. */
#include "gpu/check/compile_commands.h"

struct project_places {
    const char *const *roots;          /* absolute, NULL-terminated */
    struct compile_commands *commands; /* of the reading thread */
    const json_t *settings;            /* the editor's; NULL: none */
    /* an object with the keys of upskilld.yaml that have other readers; NULL: unknown */
    const json_t *known_keys;
};

/* file: absolute and normalised. findings: an array that gets a warning for each error;
 * the rest still applies. A new object, or NULL if there are no flags: {"from": [texts
 * for a person], "include_roots": [absolute folders], "options": [texts], "defines": {},
 * "std": text, "outside": [folders beneath no root, which are not searched]}; except
 * `from`, only members with contents. */
json_t *project_flags_read(const struct project_places *places, const char *file,
                           json_t *findings);
/* Adds a warning that something is not used, with the reason; only once, and a limited
 * number. */
void project_flags_complain(json_t *findings, const char *what, const char *why);
/* For an included file that was not found: adds which folders were not searched, and how
 * to allow them. flags may be NULL. */
void project_flags_tell_outside(const json_t *flags, json_t *findings);
