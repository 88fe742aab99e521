#pragma once
/* include_directives: the places in a text where a compiler would open another file, and
 * directives that change line numbers. Part of include_closure. */
#include "gpu/source/cuda_lexer.h"

enum file_reference_kind {
    REFERENCE_INCLUDE, /* #include, #include_next, #import, #embed */
    REFERENCE_HAS_INCLUDE,
    REFERENCE_LINE, /* #line, # 33 "x" */
};

struct file_reference {
    enum file_reference_kind kind;
    enum include_form form;
    const char *target; /* NULL if it is computed; borrowed during the callback */
    size_t start, end;  /* of the directive; for __has_include(…), of its operand */
    /* inside #if 0, #ifndef __CUDACC_RTC__, #ifdef _WIN32 …: NVRTC skips it */
    bool skipped;
};

typedef void file_reference_found(const struct file_reference *r, void *data);
/* In the order of the text. */
void include_directives_read(const char *text, size_t len, file_reference_found *found,
                             void *data);

/* Changes a text so that the compiler reads it as we do, keeping its length: a lone CR
 * becomes LF, NUL a blank, a byte order mark three blanks, malformed UTF-8 question
 * marks; splices are tightened, trigraphs lose their second question mark, and the '#' of
 * an include inside a comment or literal becomes '_'. True if something changed. */
bool source_text_settle(char *text, size_t len);

/* The leading run of includes and simple macros that a precompiled header can replace, as
 * a new text; NULL if it includes no header worth precompiling. `is_users` returns
 * whether a header is one of the user's files, which end the run. */
char *include_prefix_read(const char *text, size_t len,
                          bool (*is_users)(const char *target, enum include_form form,
                                           void *data),
                          void *data);
