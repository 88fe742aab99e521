#pragma once
/* A catalog over folders of its own, for tests: made, waited for, closed. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "skills/catalog/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    uv_loop_t loop;
    struct catalog *catalog;
    char folder[64], db[128];
    uv_timer_t tick; /* keeps the loop going where nothing is waited for */
    int status, answers, changes;
};

static inline void fixture_make(struct fixture *f) {
    memset(f, 0, sizeof *f);
    strcpy(f->folder, "/tmp/test-catalog-XXXXXX");
    if (!mkdtemp(f->folder)) {
        abort();
    }
    snprintf(f->db, sizeof f->db, "%s/cache/skills.db", f->folder);
}

static inline void fixture_write(const struct fixture *f, const char *rel,
                                 const char *text) {
    struct root root;
    if (root_open(&root, f->folder, NULL) < 0 ||
        root_write(&root, rel, text, strlen(text), 0644, NULL) < 0) {
        abort();
    }
    root_close(&root);
}

/* SKILL.md of a skill beneath the fixture's folder `where`. */
static inline void fixture_skill(const struct fixture *f, const char *where,
                                 const char *name, const char *description,
                                 const char *body) {
    char rel[512];
    autobuf text = BUF_INIT(1u << 20);
    snprintf(rel, sizeof rel, "%s/%s/SKILL.md", where, name);
    buf_addf(&text, "---\nname: %s\ndescription: >-\n  %s\n---\n\n# %s\n\n", name,
             description, name);
    buf_adds(&text, body);
    fixture_write(f, rel, text.data);
}

static inline void fixture_ready(struct catalog *c, int status, void *data) {
    struct fixture *f = data;
    (void)c;
    f->status = status;
    f->answers++;
}

static inline void fixture_tick(uv_timer_t *tick) {
    (void)tick;
}

static inline void fixture_open(struct fixture *f) {
    uv_loop_init(&f->loop);
    uv_timer_init(&f->loop, &f->tick);
    uv_timer_start(&f->tick, fixture_tick, 5, 5);
    f->catalog = catalog_new(&f->loop, f->db);
}

static inline int fixture_wait(struct fixture *f) {
    int before = f->answers;
    catalog_when_current(f->catalog, fixture_ready, f);
    while (f->answers == before) {
        uv_run(&f->loop, UV_RUN_ONCE);
    }
    return f->status;
}

/* One folder per scope named, "project", "user", "agent", "bundled", beneath the
 * fixture's; an agent's is "claude-code"'s. */
static inline void fixture_folders(struct fixture *f, const char *const *scopes) {
    struct catalog_folder folders[8];
    char paths[8][128];
    size_t count = 0;
    for (; scopes[count]; count++) {
        snprintf(paths[count], sizeof paths[count], "%s/%s", f->folder, scopes[count]);
        folders[count] = (struct catalog_folder){
            paths[count], scopes[count],
            strcmp(scopes[count], "agent") == 0 ? "claude-code" : NULL};
    }
    catalog_set_folders(f->catalog, folders, count);
}

static inline void fixture_nothing(void *data) {
    (void)data;
}

/* Returns what closing the loop said: 0 when nothing was left open. */
static inline int fixture_close(struct fixture *f) {
    uv_close((uv_handle_t *)&f->tick, NULL);
    catalog_close(f->catalog, fixture_nothing, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    return uv_loop_close(&f->loop);
}

static inline void fixture_drop(struct fixture *f) {
    dir_remove(f->folder, NULL);
}
