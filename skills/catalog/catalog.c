/* The catalog's life on the loop: when to look, who waits, what to answer when asked for
 * its state. Questions about skills are answered in catalog_answer.c. */
#define LOG_MODULE "catalog"
#include "skills/catalog/catalog.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/find.h"
#include "base/log.h"
#include "skills/catalog/catalog_loop_internal.h"

#define LOOK_AGAIN_MS 2000 /* at most this often where changes are not reported */
#define SETTLE_MS 200      /* changes come in bursts */
/* What those who waited ask may take so long in one turn of the loop, and at least one of
 * them has his answer; the others have to wait for theirs a little longer. */
#define TURN_US 3000

static void order_if_needed(struct catalog *c);

/* --- what has to be looked at --- */

static bool needs_look(const struct catalog *c, uint32_t i) {
    const struct folder_look *look = &c->looks[i];
    if (look->dirty) {
        return true;
    }
    /* A look that takes long is not repeated all the time. */
    uint64_t pause =
        look->took_ms * 20 > LOOK_AGAIN_MS ? look->took_ms * 20 : LOOK_AGAIN_MS;
    return !watches_trusted(c->watches, i) && clock_ms() - look->at_ms >= pause;
}

/* A folder that several agents share is looked at once, as the first of its entries. */
static void looks_new(struct catalog *c) {
    autojson *firsts = json_object(); /* path -> place in the list */
    free(c->looks);
    c->looks = xcalloc(c->folders.count + 1, sizeof *c->looks);
    for (uint32_t i = 0; i < c->folders.count; i++) {
        const char *path = c->folders.list[i].path;
        const json_t *first = json_object_get(firsts, path);
        if (!first) {
            json_object_set_new_nocheck(firsts, path, json_integer(i));
        }
        c->looks[i] = (struct folder_look){
            .dirty = true, .first = first ? (uint32_t)json_integer_value(first) : i};
    }
}

static bool is_current(const struct catalog *c) {
    if (!c->snapshot || c->damaged || c->refolded) {
        return false;
    }
    return !any_of(i, 0, (uint32_t)c->folders.count,
                   c->looks[i].first == i && needs_look(c, i));
}

static struct order *make_order(struct catalog *c) {
    struct order *o = order_new(&c->folders);
    o->known = c->snapshot && !c->refolded ? c->snapshot->generation : -1;
    o->rebuild = c->damaged;
    o->wants_reader = !c->reader;
    for (uint32_t i = 0; i < c->folders.count; i++) {
        o->look[i] = c->looks[i].first == i && (c->damaged || needs_look(c, i));
        c->looks[i].asked = o->look[i];
        if (o->look[i]) {
            c->looks[i].dirty = false;
        }
    }
    c->refolded = c->damaged = false;
    return o;
}

static void start_thread(struct catalog *c) {
    if (!c->indexer) {
        c->indexer = indexer_start(c->db_path, &c->wake);
    }
}

static void hold_loop(struct catalog *c) {
    if (c->closing || c->waiting.first || c->due.first) {
        uv_ref((uv_handle_t *)&c->wake);
    } else {
        uv_unref((uv_handle_t *)&c->wake);
    }
}

/* --- those who wait --- */

static void waiters_add(struct waiters *l, struct waiter *w) {
    w->next = NULL;
    *(l->last ? &l->last->next : &l->first) = w;
    l->last = w;
}

static struct waiter *waiters_take(struct waiters *l) {
    struct waiter *w = l->first;
    if (w) {
        l->first = w->next;
        l->last = l->first ? l->last : NULL;
    }
    return w;
}

static void note_due(struct catalog *c, uint64_t done, int status) {
    struct waiters all = c->waiting;
    c->waiting = (struct waiters){0};
    for (struct waiter *w; (w = waiters_take(&all));) {
        bool due = w->need <= done && (w->need || w->turns > 1);
        w->status = w->need ? status : 0;
        waiters_add(due ? &c->due : &c->waiting, w);
    }
}

static void answer(struct catalog *c, struct waiter *w, int status) {
    w->ready(c, status, w->data);
    free(w);
}

/* An answer may close the catalog, or give it other folders: then the rest wait. */
static void answer_due(struct catalog *c) {
    uint64_t until = clock_us() + TURN_US;
    struct waiter *w;
    do {
        w = c->closing ? NULL : waiters_take(&c->due);
        if (w) {
            answer(c, w, w->status);
        }
    } while (w && clock_us() < until);
    hold_loop(c);
    if (c->due.first) {
        uv_async_send(&c->wake);
    }
}

/* Whoever has no answer yet. */
static struct waiters take_all(struct catalog *c) {
    struct waiters all = c->due;
    for (struct waiter *w; (w = waiters_take(&c->waiting));) {
        waiters_add(&all, w);
    }
    c->due = (struct waiters){0};
    return all;
}

/* Other folders: what is known, or on its way, is no answer. */
static void wait_again(struct catalog *c) {
    for (struct waiter *w = c->due.first; w; w = w->next) {
        w->need = 1;
    }
    c->waiting = take_all(c);
    for (struct waiter *w = c->waiting.first; w; w = w->next) {
        w->need = w->need ? c->ordered + 1 : 0;
    }
}

/* A change made before the question may still lie unread in the kernel: one turn of the
 * loop brings it in. What is then not current needs a look that begins after it. */
static void poll_for_waiters(struct catalog *c) {
    bool again = false;
    for (struct waiter *w = c->waiting.first; w; w = w->next) {
        if (!w->need && w->turns++ == 0) {
            again = true;
        } else if (!w->need && (c->in_flight || !is_current(c))) {
            w->need = c->ordered + 1;
        }
    }
    if (again) {
        uv_async_send(&c->wake);
    }
}

void catalog_when_current(struct catalog *c, catalog_ready *ready, void *data) {
    struct waiter *w = xcalloc(1, sizeof *w);
    *w = (struct waiter){.ready = ready, .data = data};
    waiters_add(&c->waiting, w);
    uv_async_send(&c->wake); /* never from inside */
    hold_loop(c);
}

/* --- orders and outcomes --- */

static bool is_waited_for(const struct catalog *c) {
    for (const struct waiter *w = c->waiting.first; w; w = w->next) {
        if (w->need > c->ordered) {
            return true;
        }
    }
    return false;
}

static void order_if_needed(struct catalog *c) {
    if (c->closing || c->in_flight || (!is_waited_for(c) && !c->follow)) {
        return;
    }
    c->follow = false;
    start_thread(c);
    if (!c->indexer) {
        snprintf(c->problem, sizeof c->problem, "no thread could be started");
        c->ordered++;
        c->failed_order = true;
        uv_async_send(&c->wake);
        return;
    }
    c->in_flight = true;
    c->ordered++;
    indexer_order(c->indexer, make_order(c));
}

/* Reader and ranker belong together. */
static void take_reader(struct catalog *c, struct outcome *o) {
    struct err err = {0};
    if (!o->reader) {
        return;
    }
    ranker_free(take(c->ranker));
    db_close(take(c->reader));
    c->reader = take(o->reader);
    if (ranker_new(c->reader, &c->ranker, &err) < 0) {
        snprintf(c->problem, sizeof c->problem, "%.255s", err.msg);
    }
}

static void take_folders(struct catalog *c, const struct outcome *o) {
    for (uint32_t i = 0; i < c->folders.count && i < o->folder_count; i++) {
        struct folder_look *look = &c->looks[i];
        if (!look->asked) {
            continue;
        }
        look->asked = false;
        look->at_ms = clock_ms();
        look->took_ms = o->took_ms;
        look->truncated = o->found[i].truncated;
        if (o->status < 0) {
            look->dirty = true;
            continue;
        }
        watches_set(c->watches, i, c->folders.list[i].path, &o->found[i]);
    }
}

static void note_problem(struct catalog *c, const struct outcome *o) {
    if (o->status == 0 && o->problem[0] && strcmp(c->problem, o->problem) != 0) {
        log_warning("the index of skills: %s", o->problem);
    }
    snprintf(c->problem, sizeof c->problem, "%.255s", o->problem);
    for (uint32_t i = 0; i < c->folders.count && !c->problem[0]; i++) {
        if (c->looks[i].truncated) {
            snprintf(c->problem, sizeof c->problem,
                     "%.120s: too large, only a part was searched (%d folders, %d "
                     "skills)",
                     c->folders.list[i].path, CATALOG_MAX_DIRECTORIES,
                     CATALOG_MAX_SKILLS);
        }
    }
}

static void take_outcome(struct catalog *c, struct outcome *o) {
    bool changed = false;
    c->in_flight = false;
    note_problem(c, o);
    take_reader(c, o);
    if (!c->refolded) { /* else they stand for other folders than today's */
        take_folders(c, o);
        if (o->snapshot) {
            changed = c->snapshot && c->snapshot->signature != o->snapshot->signature;
            snapshot_free(c->snapshot);
            c->snapshot = take(o->snapshot);
            c->indexed_ms = o->took_ms;
        }
    }
    if (changed && c->changed) {
        c->changed(c->changed_data);
    }
}

static void close_handles(struct catalog *c);

static void on_wake(uv_async_t *wake) {
    struct catalog *c = wake->data;
    if (c->closing) {
        if (!c->indexer || indexer_ended(c->indexer)) {
            close_handles(c);
        }
        return;
    }
    struct outcome *o = c->indexer ? indexer_take(c->indexer) : NULL;
    int status = c->failed_order ? -EAGAIN : 0;
    if (o) {
        status = o->status;
        take_outcome(c, o);
        outcome_free(o);
    }
    c->failed_order = false;
    poll_for_waiters(c);
    note_due(c, c->in_flight ? c->ordered - 1 : c->ordered, status);
    answer_due(c);
    order_if_needed(c);
}

/* --- changes --- */

static void on_settled_timer(uv_timer_t *timer) {
    struct catalog *c = timer->data;
    c->follow = true;
    order_if_needed(c);
}

static void on_change_event(void *data, uint32_t folder) {
    struct catalog *c = data;
    if (folder >= c->folders.count) {
        return;
    }
    c->looks[folder].dirty = true;
    if (!uv_is_active((uv_handle_t *)&c->settle)) {
        uv_timer_start(&c->settle, on_settled_timer, SETTLE_MS, 0);
        uv_unref((uv_handle_t *)&c->settle);
    }
}

void catalog_on_change(struct catalog *c, void (*changed)(void *data), void *data) {
    c->changed = changed;
    c->changed_data = data;
}

/* --- folders --- */

static int scope_rank(const char *scope) {
    static const char *const scopes[] = {"project", "user", "agent", "bundled"};
    int rank = 0;
    while (rank < 4 && strcmp(scopes[rank], scope) != 0) {
        rank++;
    }
    return rank;
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_folders(const struct catalog_folders *a,
                         const struct catalog_folders *b) {
    return a->count == b->count &&
           all_of(i, 0, a->count,
                  strcmp(a->list[i].path, b->list[i].path) == 0 &&
                      strcmp(a->list[i].scope, b->list[i].scope) == 0 &&
                      same_text(a->list[i].agent, b->list[i].agent));
}

/* A stable sort by precedence. */
static void sort_folders(struct catalog_folders *f) {
    for (size_t i = 1; i < f->count; i++) {
        struct catalog_folder moved = f->list[i];
        size_t at = i;
        for (; at > 0 && scope_rank(f->list[at - 1].scope) > scope_rank(moved.scope);
             at--) {
            f->list[at] = f->list[at - 1];
        }
        f->list[at] = moved;
    }
}

/* As given, but normalised, without a slash at the end. */
static void normalize_folders(struct catalog_folders *f) {
    for (size_t i = 0; i < f->count; i++) {
        char *path = path_normalize(f->list[i].path);
        free(f->list[i].path);
        f->list[i].path = path;
    }
}

void catalog_set_folders(struct catalog *c, const struct catalog_folder *folders,
                         size_t count) {
    struct catalog_folders wanted;
    folders_copy(&wanted, folders, count);
    normalize_folders(&wanted);
    sort_folders(&wanted);
    if (same_folders(&c->folders, &wanted)) {
        folders_finish(&wanted);
        return;
    }
    folders_finish(&c->folders);
    c->folders = wanted;
    looks_new(c);
    snapshot_free(take(c->snapshot)); /* it names folders by number */
    watches_clear(c->watches);
    c->refolded = true;
    wait_again(c);
}

/* --- life --- */

struct catalog *catalog_new(uv_loop_t *loop, const char *db_path) {
    struct catalog *c = xcalloc(1, sizeof *c);
    struct watches_events events = {on_change_event, on_change_event, c};
    c->db_path = db_path ? xstrdup(db_path) : NULL;
    uv_async_init(loop, &c->wake, on_wake);
    uv_timer_init(loop, &c->settle);
    c->wake.data = c->settle.data = c;
    uv_unref((uv_handle_t *)&c->wake);
    uv_unref((uv_handle_t *)&c->settle);
    c->watches = watches_new(loop, &events);
    c->looks = xcalloc(1, sizeof *c->looks);
    c->refolded = true;
    return c;
}

static void part_closed(struct catalog *c) {
    if (--c->open_parts > 0) {
        return;
    }
    void (*closed)(void *data) = c->closed;
    void *data = c->closed_data;
    snapshot_free(c->snapshot);
    ranker_free(c->ranker);
    db_close(c->reader);
    folders_finish(&c->folders);
    free(c->looks);
    free(c->db_path);
    free(c);
    closed(data);
}

static void handle_closed(uv_handle_t *handle) {
    part_closed(handle->data);
}

static void watches_closed(void *data) {
    part_closed(data);
}

/* The thread has ended, or there never was one. */
static void close_handles(struct catalog *c) {
    if (c->open_parts) {
        return;
    }
    c->open_parts = 3;
    if (c->indexer) {
        indexer_free(take(c->indexer));
    }
    struct waiters all = take_all(c);
    for (struct waiter *w; (w = waiters_take(&all));) {
        answer(c, w, -ECANCELED);
    }
    uv_close((uv_handle_t *)&c->wake, handle_closed);
    uv_close((uv_handle_t *)&c->settle, handle_closed);
    watches_close(c->watches, watches_closed, c);
}

void catalog_close(struct catalog *c, void (*closed)(void *data), void *data) {
    c->closing = true;
    c->closed = closed;
    c->closed_data = data;
    uv_timer_stop(&c->settle);
    uv_ref((uv_handle_t *)&c->wake);
    if (c->indexer) {
        indexer_stop(c->indexer);
    }
    uv_async_send(&c->wake);
}

json_t *catalog_status(const struct catalog *c) {
    size_t count = 0;
    for (size_t i = 0; c->snapshot && i < c->snapshot->document_count; i++) {
        count += c->snapshot->shown[i] != UINT32_MAX;
    }
    return json_pack("{s:I, s:I, s:o*}", "skills", (json_int_t)count, "indexed_ms",
                     (json_int_t)c->indexed_ms, "problem",
                     c->problem[0] ? json_clean_z(c->problem) : NULL);
}
