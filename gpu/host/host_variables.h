#pragma once
/* host_variables: what the names in host code stand for: variables, parameters, macros,
 * constants. */
#include "gpu/host/host_program.h"

enum host_found {
    HOST_NOTHING,   /* not known */
    HOST_VALUE,     /* *ret is what it is set to */
    HOST_PARAMETER, /* a parameter of a function that nobody calls */
    HOST_CONSTANT,  /* as HOST_VALUE, by a macro or outside of functions */
};
/* What the name at token `at->from` stands for. variable: the token that declares or sets
 * it, in the program's own tokens; 0 where there is none. */
enum host_found host_look_up(struct host_program *p, const struct place *at,
                             struct place *ret, size_t *variable);
/* The token that declares the variable of that name; 0: none does. */
size_t host_variable(struct host_program *p, const struct place *at);
/* Whether a name stands in what goes to the device, or in a macro but its own. */
bool host_is_device_word(const struct host_program *p, uint64_t name);
/* A macro with parameters at token at->from, '(' behind it, as the tokens it stands for.
 */
bool host_expand(struct host_program *p, const struct place *at, struct place *ret);
/* What a function template's parameter of this name is given by its caller. */
bool host_type_argument(struct host_program *p, const struct host_frame *frame,
                        uint64_t name, struct place *ret);
/* "typedef float real;", "using real = float;": the words for a name, by its hash. */
bool host_alias(const struct host_program *p, uint64_t name, struct place *ret);
