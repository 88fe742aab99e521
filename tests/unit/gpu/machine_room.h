#pragma once
/* A machine for a test: a kernel of PTX written in the test, buffers, one launch. */
#include "gpu/ptx/machine/machine.h"

#define ROOM_BUFFERS 8

struct machine_room {
    struct ptx_module *module;
    struct machine *machine;
    struct machine_config config;
    uint64_t address[ROOM_BUFFERS];
    void *host[ROOM_BUFFERS];
    unsigned buffers;
    uint8_t params[256];
    size_t param_bytes;
    enum machine_end end;
    char refused[512];
};

/* `body` is the text of one entry `k` with its parameters, or a whole module when it
 * begins with ".version". Fails the test when it cannot be loaded. */
struct machine_room *room_new(const char *body, const struct machine_config *config);
void room_free(struct machine_room *r);
/* A buffer of `bytes`, its address as the next parameter. */
void *room_buffer(struct machine_room *r, const char *name, uint64_t bytes,
                  unsigned flags);
void room_u32(struct machine_room *r, uint32_t v);
void room_u64(struct machine_room *r, uint64_t v);
enum machine_end room_launch(struct machine_room *r, uint32_t blocks, uint32_t threads);
/* How often `code` was found (the sum of counts); *ret_first: the first of them. */
long room_found(struct machine_room *r, const char *code, json_t **ret_first);
/* All findings, for messages of failed tests. The caller frees. */
char *room_findings(struct machine_room *r);
