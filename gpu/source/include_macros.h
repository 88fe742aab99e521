#pragma once
/* include_macros: `#include HEADER(name)`, where one macro gives the file name. Part of
 * include_closure.
 *
 * CUTLASS includes the standard headers like this. The compiler must not resolve it,
 * because the macro's expansion is known only to the compiler and could be any file. If
 * all definitions of a macro in the sources are header names, it is expanded here, by its
 * last definition, which is the one after #else if there are several. */
#include "gpu/source/include_directives.h"
#include "gpu/source/source_set.h"

/* The directive of a computed include with the header's name in the macro's place, padded
 * with blanks to the length of the directive in `text`. NULL if the macro is not such a
 * one, or the name is too long. Malloc'ed. */
char *include_macro_expand(const struct source_set *sources, const char *text,
                           const struct file_reference *r);

/* What every definition of its macro in the sources makes of a computed include: a name
 * with its quotes. */
typedef void include_macro_visit(const char *target, void *data);
void include_macro_each(const struct source_set *sources, const char *text,
                        const struct file_reference *r, include_macro_visit *visit,
                        void *data);

/* Whether no source defines the macro of a computed include: then its lines are for
 * another platform, or wrong wherever they are compiled. */
bool include_macro_is_unknown(const struct source_set *sources, const char *text,
                              const struct file_reference *r);
/* "#define HAS(x) __has_include(x)": the header is known only where HAS is used, so the
 * test is replaced by 0, "no". False, changing nothing, for other references. */
bool include_macro_answer_no(char *text, size_t len, const struct file_reference *r);
