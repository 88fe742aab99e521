#pragma once
/* host_gone: the names of what was the host's and went. Part of host_code. */
#include "gpu/source/host_blanker.h"

/* Whether token i is one of the names. */
bool host_gone_has(const struct host_blanker *b, const struct name_set *names, size_t i);
/* A declaration went: its names are b's gone_types', or gone_values' from now on. */
void host_gone_note_type(struct host_blanker *b, const struct declaration *d);
void host_gone_note_value(struct host_blanker *b, const struct declaration *d);
/* The types that this file declares itself are not those that went in another. */
void host_gone_forget_own(struct host_blanker *b);

/* The functions and variables that went, for the files that include this one. */
void host_gone_tell_values(const struct host_blanker *b, struct space_macros *to);
/* Likewise the types, of namespaces alone. */
void host_gone_tell_types(const struct host_blanker *b, struct space_macros *to);
