#pragma once
/* include_macros: `#include HEADER(name)`, where one macro says what is included. Part of
 * include_closure.
 *
 * CUTLASS names the standard headers so. The compiler shall not be asked: what a macro
 * makes is known only to it, and could be any file. A macro whose definitions in the
 * sources are all headers' names is expanded here: by its last, which is the one behind
 * #else where there are several. */
#include "gpu/source/include_directives.h"
#include "gpu/source/source_set.h"

/* The directive of a computed include with the header's name in the macro's place, as
 * long as the directive in `text` is: blanks fill it up. NULL when the macro is none of
 * those above, or the name is too long to stand there. Malloc'ed. */
char *include_macro_expand(const struct source_set *sources, const char *text,
                           const struct file_reference *r);

/* Whether no source defines the macro of a computed include: its lines are then for
 * another platform, or wrong wherever they are compiled. */
bool include_macro_is_unknown(const struct source_set *sources, const char *text,
                              const struct file_reference *r);
/* "#define HAS(x) __has_include(x)": what is asked for is known only where HAS is used,
 * and answered "no", 0 in place of the question. False, and nothing done, for any other.
 */
bool include_macro_answer_no(char *text, size_t len, const struct file_reference *r);
