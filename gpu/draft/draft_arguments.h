#pragma once
/* draft_arguments: arguments with which a program launches a kernel, as its text shows
 * them: the number of the case in which the launch stands, where main switches on
 * "atoi(argv[1])", and an example for each number without which main ends. */
#include "base/json.h"
#include "gpu/host/host_program.h"

#define DRAFT_ARGUMENT_ROUND "256"

/* A list of texts, empty if the program needs none. Examples are odd and differ, so that
 * a tail and rows that are taken for columns show. *round: the same with
 * DRAFT_ARGUMENT_ROUND for each, for programs that refuse those; NULL: there is no
 * example. */
json_t *draft_arguments(struct host_program *p, const struct declaration *kernel,
                        json_t **round);
/* How many arguments, from the first on, the program reads as numbers if it gets them. */
unsigned draft_argument_numbers(const struct host_program *p);
