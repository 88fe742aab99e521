#pragma once
/* host_variables: the meaning of names in host code: variables, parameters, macros,
 * constants. */
#include "gpu/host/host_program.h"

enum host_found {
    HOST_NOTHING,   /* not known */
    HOST_VALUE,     /* *ret is the value to which it is set */
    HOST_PARAMETER, /* a parameter of a function that is never called */
    HOST_CONSTANT,  /* like HOST_VALUE, from a macro or outside functions */
};
/* Looks up the name at token `at->from`. variable: the token that declares or sets it,
 * among the program's tokens; 0 if there is none. */
enum host_found host_look_up(struct host_program *p, const struct place *at,
                             struct place *ret, size_t *variable);
/* The token that declares the variable of that name; 0: none does. */
size_t host_variable(struct host_program *p, const struct place *at);
/* Whether a name occurs in device code, or in another macro. */
bool host_is_device_word(const struct host_program *p, uint64_t name);
/* Expands a macro with parameters at token at->from, followed by '('. */
bool host_expand(struct host_program *p, const struct place *at, struct place *ret);
/* The argument that its caller gives for a function template's parameter of this name. */
bool host_type_argument(struct host_program *p, const struct host_frame *frame,
                        uint64_t name, struct place *ret);
/* "typedef float real;", "using real = float;": the type for a name, by its hash. */
bool host_alias(const struct host_program *p, uint64_t name, struct place *ret);
