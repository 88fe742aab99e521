#pragma once
/* catalog_loop_internal: struct catalog itself, for the files that answer from it. All on
 * the loop's thread. */
#include "skills/catalog/catalog_internal.h"

struct waiter {
    struct waiter *next;
    catalog_ready *ready;
    void *data;
    uint64_t need;  /* the order that must be complete first; 0: none */
    unsigned turns; /* of the loop since the question */
    int status;     /* for those that are due */
};
struct waiters {
    struct waiter *first, *last; /* in order of arrival */
};
struct folder_look {
    bool dirty; /* changed since the last look */
    bool asked; /* requested by the order in flight */
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
    struct indexer *indexer; /* NULL until the first question */
    struct waiters waiting;  /* until the index is current */
    struct waiters due;      /* ready to be answered, some in each turn of the loop */
    uint64_t ordered;        /* orders given so far */
    bool in_flight, failed_order;
    bool follow;   /* look without a question, because something changed */
    bool refolded; /* the folders differ from those of the last order */
    bool damaged;  /* detected while searching */
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
/* Whether it belongs to a project: then it comes with a cloned repository. */
bool place_is_foreign(const struct catalog *c, const struct snapshot_place *p);
/* By name or skill:// URI; own: never a project's. NULL if there is none. */
const struct snapshot_place *place_of_words(const struct catalog *c, const char *words,
                                            bool own);
char *place_uri(const struct catalog *c, const struct snapshot_place *p); /* malloc'ed */
/* Adds "source", "agent"?, "trusted", "danger". */
void place_add_trust(const struct catalog *c, const struct snapshot_place *p,
                     json_t *ret);
/* Adds "hides": [{"uri", "source", "agent"?}]: skills of the same name with another text
 * from elsewhere, if this is the one that is shown. */
void place_add_hidden(const struct catalog *c, const struct snapshot_place *p,
                      json_t *ret);
