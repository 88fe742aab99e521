#pragma once
/* user_objects: the host's objects that live as long as graphs need them
 * (cudaUserObject). */
#include <stdbool.h>

struct user_object;

/* Call with runtime.lock held. */
bool user_object_is_known(const struct user_object *o);
void user_object_retain(struct user_object *o, unsigned count);
/* The last one lets the host's destructor run, behind what has been asked for so far. */
void user_object_release(struct user_object *o, unsigned count);
