#pragma once
/* host_code_blank: what a compilation of one file leaves of its text. */
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/source_set.h"

#include <string.h>

/* In place; ret is finished by the caller. */
static inline void host_code_blank(char *text, size_t len, struct host_code *ret) {
    struct source_set alone = {0};
    struct host_guesses guesses;
    source_set_add(&alone, "k.cu", "k.cu", text, len, NULL);
    host_code_blank_sources(&alone, ret, &guesses);
    memcpy(text, alone.files[0].text, len);
    host_guesses_finish(&guesses);
    source_set_finish(&alone);
}
