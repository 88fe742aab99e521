#pragma once
/* host_gone: the names of blanked host declarations. Part of host_code. */
#include "gpu/source/host_blanker.h"

/* Whether token i is one of the names. */
bool host_gone_has(const struct host_blanker *b, const struct name_set *names, size_t i);
/* Adds the names of a blanked declaration to b's gone_types or gone_values. */
void host_gone_note_type(struct host_blanker *b, const struct declaration *d);
void host_gone_note_value(struct host_blanker *b, const struct declaration *d);
/* Removes the types that this file declares itself: they are not those blanked in another
 * file. */
void host_gone_forget_own(struct host_blanker *b);

/* Passes the blanked functions and variables to the files that include this one. */
void host_gone_tell_values(const struct host_blanker *b, struct space_macros *to);
/* The same for blanked types, only those in namespaces. */
void host_gone_tell_types(const struct host_blanker *b, struct space_macros *to);
