#pragma once
/* struct catalog itself, for the files that answer from it. All on the loop's thread. */
#include "skills/catalog/catalog_internal.h"

struct waiter {
    struct waiter *next;
    catalog_ready *ready;
    void *data;
    uint64_t need;  /* the order that must be done; 0: none */
    unsigned turns; /* of the loop since the question */
    int status;     /* of those that are due */
};
struct waiters {
    struct waiter *first, *last; /* first come first */
};
struct folder_look {
    bool dirty; /* changed since it was looked at */
    bool asked; /* by the order in flight */
    bool truncated;
    uint32_t first; /* the first entry with the same path */
    uint64_t at_ms, took_ms;
};
struct catalog {
    char *db_path;
    uv_async_t wake;
    uv_timer_t settle;
    struct catalog_folders folders; /* by precedence */
    struct folder_look *looks;      /* per folder */
    struct watches *watches;
    struct indexer *indexer; /* NULL until somebody asks */
    struct waiters waiting;  /* for the index to be current */
    struct waiters due;      /* it is: to be answered, some in each turn of the loop */
    uint64_t ordered;        /* orders given so far */
    bool in_flight, failed_order;
    bool follow;   /* look without being asked: something changed */
    bool refolded; /* other folders than the last order's */
    bool damaged;  /* found while searching */
    bool closing;
    struct snapshot *snapshot;
    struct db *reader;
    struct ranker *ranker;
    uint64_t indexed_ms;
    char problem[256];
    void (*changed)(void *data);
    void *changed_data;
    void (*closed)(void *data);
    void *closed_data;
    int open_parts;
};

/* --- one place (catalog_answer.c, catalog_source.c) --- */

const struct catalog_folder *place_folder(const struct catalog *c,
                                          const struct snapshot_place *p);
/* A project's: it arrives with a cloned repository. */
bool place_is_foreign(const struct catalog *c, const struct snapshot_place *p);
/* By name or skill:// URI; own: never a project's. NULL when there is none. */
const struct snapshot_place *place_of_words(const struct catalog *c, const char *words,
                                            bool own);
char *place_uri(const struct catalog *c, const struct snapshot_place *p); /* malloc'ed */
/* "source", "agent"?, "trusted", "danger". */
void place_add_trust(const struct catalog *c, const struct snapshot_place *p,
                     json_t *ret);
/* "hides": [{"uri", "source", "agent"?}]: others of its name with another text and from
 * elsewhere, when this is the one that counts. */
void place_add_hidden(const struct catalog *c, const struct snapshot_place *p,
                      json_t *ret);
