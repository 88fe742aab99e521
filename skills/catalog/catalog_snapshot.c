/* The snapshot: what the loop needs to answer without asking the disk. Made on the
 * indexer's thread, then handed over whole. */
#include "base/file.h"
#include "base/find.h"
#include "skills/catalog/catalog_internal.h"

#include <math.h>

/* --- strings that live as long as the snapshot --- */

#define CHUNK_SIZE (64u << 10)

struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
};

static void *keep_bytes(struct snapshot *s, const void *bytes, size_t len) {
    struct chunk *c = s->chunks;
    if (!c || c->size - c->used < len) {
        size_t size = len > CHUNK_SIZE ? len : CHUNK_SIZE;
        c = xmalloc(sizeof *c + size);
        *c = (struct chunk){s->chunks, 0, size};
        s->chunks = c;
    }
    char *to = c->bytes + c->used;
    memcpy(to, bytes, len);
    c->used += len;
    return to;
}

static char *keep(struct snapshot *s, const char *text) {
    return keep_bytes(s, text, strlen(text) + 1);
}

void snapshot_free(struct snapshot *s) {
    if (!s) {
        return;
    }
    for (struct chunk *c = s->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(s->documents);
    free(s->places);
    free(s->shown);
    free(s->grams);
    free(s->spelt);
    free(s);
}

/* --- loading --- */

struct loading {
    struct snapshot *s;
    uint32_t folder;
};

static uint16_t cut16(int64_t n) {
    return n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
}

static int keep_document(sqlite3_stmt *stmt, void *data) {
    struct snapshot *s = data;
    if (s->document_count % 256 == 0) {
        s->documents =
            xreallocarray(s->documents, s->document_count + 256, sizeof *s->documents);
    }
    struct snapshot_document *d = &s->documents[s->document_count++];
    *d = (struct snapshot_document){.id = sqlite3_column_int64(stmt, 0),
                                    .name = keep(s, db_text(stmt, 2)),
                                    .description = keep(s, db_text(stmt, 3))};
    const char *digest = db_text(stmt, 1);
    if (strlen(digest) >= 7 + sizeof d->digest) {
        memcpy(d->digest, digest + 7, sizeof d->digest - 1);
    }
    for (int i = 0; i < CATALOG_FIELDS; i++) {
        d->lengths[i] = cut16(sqlite3_column_int64(stmt, 4 + i));
    }
    const void *meaning = sqlite3_column_blob(stmt, 8);
    size_t size = (size_t)sqlite3_column_bytes(stmt, 8);
    if (meaning && size > VECTOR_SIZE && size <= MEANING_SIZE_MAX) {
        d->meaning = keep_bytes(s, meaning, size);
        d->meaning_size = (uint16_t)size;
    }
    return 0;
}

static int keep_place(sqlite3_stmt *stmt, void *data) {
    struct loading *l = data;
    struct snapshot *s = l->s;
    const struct snapshot_document *d =
        snapshot_document(s, sqlite3_column_int64(stmt, 1));
    if (!d) {
        return 0;
    }
    if (s->place_count % 256 == 0) {
        s->places = xreallocarray(s->places, s->place_count + 256, sizeof *s->places);
    }
    const char *path = keep(s, db_text(stmt, 0));
    s->places[s->place_count++] = (struct snapshot_place){
        .path = path,
        .name = d->name[0] ? d->name : path_basename(path),
        .document = (uint32_t)(d - s->documents),
        .folder = l->folder,
        .lift = sqlite3_column_type(stmt, 2) == SQLITE_NULL
                    ? NAN
                    : (float)sqlite3_column_double(stmt, 2),
        .lifts = sqlite3_column_type(stmt, 3) == SQLITE_NULL ? NULL
                                                             : keep(s, db_text(stmt, 3)),
        .danger = sqlite3_column_type(stmt, 4) == SQLITE_NULL
                      ? NULL
                      : keep(s, db_text(stmt, 4))};
    return 0;
}

static int keep_totals(sqlite3_stmt *stmt, void *data) {
    struct snapshot *s = data;
    s->indexed = sqlite3_column_int64(stmt, 0);
    for (int i = 0; i < CATALOG_FIELDS; i++) {
        double mean = sqlite3_column_double(stmt, 1 + i);
        s->averages[i] = mean < 1 ? 1 : mean;
    }
    return 0;
}

bool folder_is_repeated(const struct catalog_folders *f, size_t i) {
    return any_of(k, 0, i, strcmp(f->list[k].path, f->list[i].path) == 0);
}

/* All in one read transaction, so that places and documents belong together. */
static int load_rows(struct db *db, const struct catalog_folders *folders,
                     struct snapshot *s, struct err *err) {
    struct loading l = {.s = s};
    s->generation = index_generation(db);
    int rc = db_query(db, err, keep_totals, s,
                      "SELECT count(*), avg(n0), avg(n1), avg(n2), avg(n3) FROM document"
                      " WHERE listed",
                      "");
    rc = rc < 0 ? rc
                : db_query(db, err, keep_document, s,
                           "SELECT id, digest, name, description, n0, n1, n2, n3, meaning"
                           " FROM document WHERE listed ORDER BY id",
                           "");
    for (size_t i = 0; rc == 0 && i < folders->count; i++) {
        if (folder_is_repeated(folders, i)) {
            continue;
        }
        l.folder = (uint32_t)i;
        rc = db_query(db, err, keep_place, &l,
                      "SELECT p.path, p.document, p.lift, p.lifts, p.danger FROM place p"
                      " JOIN root r"
                      " ON r.id = p.root WHERE r.path = ?1 AND p.document IS NOT NULL",
                      "s", folders->list[i].path);
    }
    return rc;
}

/* --- order --- */

/* Folders stand in their order of precedence. */
static int by_name(const void *a, const void *b) {
    const struct snapshot_place *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0) {
        order = (x->folder > y->folder) - (x->folder < y->folder);
    }
    return order ? order : strcmp(x->path, y->path);
}

/* last: per document the latest place of it so far. */
static void find_winners(struct snapshot *s, uint32_t *last) {
    for (uint32_t i = 0, group = 0; i < s->place_count; i++) {
        struct snapshot_place *p = &s->places[i];
        if (strcmp(s->places[group].name, p->name) != 0) {
            group = i;
        }
        p->winner = group;
        p->first = i;
        p->next = UINT32_MAX;
        uint32_t before = last[p->document];
        if (before != UINT32_MAX && before >= group) {
            p->first = s->places[before].first;
            s->places[before].next = i;
        }
        last[p->document] = i;
        if (p->winner == i) {
            uint32_t *shown = &s->shown[p->document];
            *shown = *shown == UINT32_MAX ? i : *shown;
        }
    }
}

static uint64_t sign(const struct snapshot *s) {
    uint64_t h = FNV_SEED;
    for (size_t i = 0; i < s->place_count; i++) {
        h = fnv_add(h, s->places[i].path, strlen(s->places[i].path) + 1);
        h = fnv_add(h, s->documents[s->places[i].document].digest,
                    sizeof s->documents->digest);
        const char *danger = s->places[i].danger ? s->places[i].danger : "";
        h = fnv_add(h, danger, strlen(danger) + 1);
    }
    return h;
}

/* UINT32_MAX for every document. */
static uint32_t *no_places(const struct snapshot *s) {
    uint32_t *list = xmalloc((s->document_count + 1) * sizeof *list);
    memset(list, 0xff, (s->document_count + 1) * sizeof *list);
    return list;
}

int snapshot_load(struct db *db, const struct catalog_folders *folders,
                  struct snapshot **ret, struct err *err) {
    struct snapshot *s = xcalloc(1, sizeof *s);
    int rc = db_run(db, err, "BEGIN", "");
    if (rc == 0) {
        rc = load_rows(db, folders, s, err);
        db_run(db, NULL, "COMMIT", "");
    }
    if (rc < 0) {
        snapshot_free(s);
        return rc;
    }
    spelling_load(s);
    s->shown = no_places(s);
    if (s->place_count) {
        qsort(s->places, s->place_count, sizeof *s->places, by_name);
    }
    autofree uint32_t *last = no_places(s);
    find_winners(s, last);
    s->signature = sign(s);
    *ret = s;
    return 0;
}

static int by_id(const void *key, const void *document) {
    int64_t id = *(const int64_t *)key,
            other = ((const struct snapshot_document *)document)->id;
    return (id > other) - (id < other);
}

const struct snapshot_document *snapshot_document(const struct snapshot *s, int64_t id) {
    return s->document_count ? bsearch(&id, s->documents, s->document_count,
                                       sizeof *s->documents, by_id)
                             : NULL;
}

size_t snapshot_find_name(const struct snapshot *s, const char *name) {
    size_t low = 0, high = s->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(s->places[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
