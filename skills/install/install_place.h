#pragma once
/* install_place: the folders in which the requested agents keep their skills. */
#include "base/json.h"

struct install_request;
struct agents;

/* The folder where one of the requested agents keeps its skills. */
struct install_place {
    char *path;      /* of the folder of skills; NULL if there is none; owned */
    int fd;          /* negative if it was refused */
    size_t leader;   /* the first place with the same folder */
    json_t *outcome; /* of the leader, or of a refused place; owned */
};
/* create: creates the missing parts of the folder. */
int install_place_open(struct install_place *place, const struct agents *agents,
                       const struct install_request *request, const char *agent,
                       bool create, struct err *err);
/* i, or the earlier place with the same folder. */
size_t install_place_leader(const struct install_place *places, size_t i);
