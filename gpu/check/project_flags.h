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
#include "base/json.h"
#include "gpu/check/compile_commands.h"

struct project_places {
    const char *const *roots;          /* absolute, NULL-terminated */
    struct compile_commands *commands; /* of the thread that reads */
    const json_t *settings;            /* the editor's; NULL: none */
    const json_t *known_keys; /* an object by the keys that upskilld.yaml may have for
                                 others; NULL: who else reads it is not known */
};

/* file: absolute and normalised. findings: an array that gets a warning for each thing
 * that is wrong; the rest works. A new object, or NULL where nothing is said:
 * {"from": [texts for a person], "include_roots": [absolute folders], "options": [texts],
 * "defines": {}, "std": text, "outside": [folders that lie beneath no root and are not
 * looked in]}; only what there is but `from`. */
json_t *project_flags_read(const struct project_places *places, const char *file,
                           json_t *findings);
/* Adds the warning that something is not used, and why; once, and not without end. */
void project_flags_complain(json_t *findings, const char *what, const char *why);
/* Where a file to include was not found: adds which folders were not looked in, and how
 * they can be. flags may be NULL. */
void project_flags_tell_outside(const json_t *flags, json_t *findings);
