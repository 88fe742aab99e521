#pragma once
/* What the files of the catalog share. Two threads: the loop's, which owns `struct
 * catalog`, the snapshot and the reading connection; and the indexer's, which owns the
 * writing connection. They meet in orders and outcomes, one of each at a time. */
#include "base/db.h"
#include "base/err.h"
#include "base/json.h"
#include "skills/catalog/catalog.h"
#include "skills/catalog/catalog_meaning.h"

#include <stdatomic.h>
#include <sys/types.h>

/* --- what is found on the disk (catalog_scan.c) --- */

#define CATALOG_MAX_DEPTH 6
#define CATALOG_MAX_DIRECTORIES 2000 /* that hold no skill, per folder */
#define CATALOG_MAX_SKILLS 20000     /* per folder */

struct catalog_stamp { /* a file that keeps these is taken to be unchanged */
    int64_t mtime_ns, size, inode;
};
struct found_skill {
    char *path;       /* of its folder, absolute */
    const char *file; /* "SKILL.md" or "skill.md" */
    struct catalog_stamp stamp;
    int64_t meta_ns; /* mtime of skill_meta.json, 0 without */
    int64_t beside;  /* differs when another file of it does; 0: there is none */
};
enum directory_kind { DIRECTORY_SEARCHED, DIRECTORY_SKILL, DIRECTORY_PARENT };
struct found_directory {
    char *path;
    ino_t inode;
    enum directory_kind kind;
};
struct found {
    struct found_skill *skills; /* by path */
    struct found_directory *directories;
    size_t skill_count, directory_count;
    bool missing;   /* the folder is not there */
    bool distant;   /* nor is its parent: what comes between may go unseen */
    bool truncated; /* a limit was met */
    bool remote;    /* a file system that reports no changes of others */
};
/* FNV-1a of further bytes; the first are added to FNV_SEED. */
#define FNV_SEED 0xcbf29ce484222325u
uint64_t fnv_add(uint64_t h, const void *bytes, size_t len);
void folder_walk(const struct catalog_folder *folder, struct found *ret);
void found_finish(struct found *f);

/* --- the index (catalog_index.c), on the indexer's thread --- */

#define CATALOG_FIELDS 4 /* name, description, headings, body */
#define CATALOG_BODY_MAX (24u << 10)
#define CATALOG_NAME_MAX 256u
#define CATALOG_DESCRIPTION_MAX 4096u

extern const struct db_schema catalog_schema;

struct index_document {
    int64_t id;                      /* where its text is still to be added, 0: nowhere */
    char digest[72];                 /* of all its files: copies have the same */
    char *name, *description;        /* as shown */
    char *fields[CATALOG_FIELDS];    /* as searched */
    int64_t lengths[CATALOG_FIELDS]; /* in words */
    uint8_t meaning[MEANING_SIZE_MAX]; /* of meaning_write */
    size_t meaning_size;
    bool listed;  /* it has a description, without which it is no skill */
    char *danger; /* of the folder it was read in, as JSON text; NULL: none */
};
/* Bring the index up to date with one folder. *changed: it was written to. Ends early
 * when work_is_stopped, as folder_walk does. */
int index_folder(struct db *db, const char *path, const struct found *found,
                 bool *changed, struct err *err);
/* Refresh what is known of words' rarity, and forget folders nobody asked for in a month.
 */
int index_tidy(struct db *db, struct err *err);
int64_t index_generation(struct db *db);
struct reading_left { /* of what one look at a folder may cost, in bytes */
    size_t searched;  /* closely, for danger (skills/check/danger.h) */
    size_t hashed; /* of files beside SKILL.md; skills that come behind have no copies */
};
/* Read SKILL.md of a found skill, and look through all its files for danger, which
 * lessens what is left; -ENOENT and others when it cannot be read. */
int document_read(const struct found_skill *skill, struct stemmer *stemmer,
                  struct reading_left *left, struct index_document *ret);
void document_finish(struct index_document *d);

/* --- measured lifts (catalog_lift.c) --- */

enum lift_proof { LIFT_UNPROVEN, LIFT_HELPS, LIFT_HURTS };
struct model_lift {
    double lift, low, high; /* -1…1; low and high NAN without an interval */
    enum lift_proof proof;
};
/* Mean over the models of the latest lift that skill_meta.json notes for each, NAN
 * without any; *ret_text: those lifts as the index keeps them (NULL without), to be
 * freed. */
double lifts_read(const char *folder, char **ret_text);
/* What is noted for a model, by its name or what stands behind its last slash. */
bool lifts_of_model(const char *lifts, const char *model, struct model_lift *ret);
/* Where a skill stands among those that fit: proven help lifts it, proven harm puts it
 * behind all others. */
double lifts_order(double fit, const struct model_lift *m);
struct buf;
void lifts_explain(struct buf *out, const struct model_lift *m, const char *model);

/* --- the snapshot: the skills of the folders asked for, in memory --- */

struct snapshot_document {
    int64_t id;
    const char *name, *description;
    char digest[33]; /* its first 32 digits */
    uint16_t lengths[CATALOG_FIELDS];
    uint16_t meaning_size;
    const uint8_t *meaning; /* NULL: none of its words is known */
};
struct snapshot_place {
    const char *path, *name;
    uint32_t document; /* in documents */
    uint32_t folder;   /* in the catalog's folders */
    uint32_t winner;   /* place that is shown for this name; itself when it wins */
    uint32_t first;    /* first place of the same name and document; itself when first */
    uint32_t next; /* the next place of the same name and document, UINT32_MAX: none */
    float lift;    /* NAN: not measured */
    const char *lifts;  /* for lifts_of_model; NULL: not measured */
    const char *danger; /* JSON text; NULL: the safety rules hold nothing against it */
};
struct snapshot {
    struct snapshot_document *documents; /* by id */
    struct snapshot_place *places;       /* by name, then precedence */
    size_t document_count, place_count;
    uint32_t *shown; /* per document the first place that is shown, UINT32_MAX: none */
    int64_t indexed; /* documents in the whole index */
    double averages[CATALOG_FIELDS];
    int64_t generation;
    uint64_t signature; /* changes when the set of skills does */
    struct chunk *chunks;
};
struct catalog_folders {
    struct catalog_folder *list; /* owned strings */
    size_t count;
};
int snapshot_load(struct db *db, const struct catalog_folders *folders,
                  struct snapshot **ret, struct err *err);
void snapshot_free(struct snapshot *s);
/* The first place whose name is not before `name`. */
size_t snapshot_find_name(const struct snapshot *s, const char *name);
const struct snapshot_document *snapshot_document(const struct snapshot *s, int64_t id);

/* --- between the threads --- */

struct order {
    struct catalog_folders folders;
    bool *look;    /* per folder: walk it */
    int64_t known; /* generation of the loop's snapshot, -1 without */
    bool rebuild;  /* the index is damaged */
    bool wants_reader;
};
struct outcome {
    struct snapshot *snapshot; /* NULL: the loop's is still right */
    struct db *reader;         /* when it was wanted */
    struct found *found;       /* per folder of the order; skills already dropped */
    size_t folder_count;
    uint64_t took_ms;
    int status;
    char problem[256];
};
struct order *order_new(const struct catalog_folders *folders);
void outcome_free(struct outcome *o);
void folders_copy(struct catalog_folders *ret, const struct catalog_folder *list,
                  size_t count);
void folders_finish(struct catalog_folders *f);
/* The same path stands before it: for several agents. */
bool folder_is_repeated(const struct catalog_folders *f, size_t i);

struct indexer;
/* `wake` is sent when an outcome is there or the thread has ended. */
struct indexer *indexer_start(const char *db_path, uv_async_t *wake);
void indexer_order(struct indexer *i,
                   struct order *order);         /* one at a time; taken over */
struct outcome *indexer_take(struct indexer *i); /* NULL: none yet */
void indexer_stop(struct indexer *i);            /* hastens the end */
bool indexer_ended(struct indexer *i);
void indexer_free(struct indexer *i); /* joins: call it when it has ended */

/* --- watches (catalog_watch.c) --- */

/* A folder over the limit keeps none. */
#define CATALOG_MAX_WATCHES 2048

struct watches;
struct watches_events {
    /* Something changed in a folder of skills. */
    void (*changed)(void *data, uint32_t folder);
    /* New watches of a folder are in place: what changed before went unseen. */
    void (*settled)(void *data, uint32_t folder);
    void *data;
};
struct watches *watches_new(uv_loop_t *loop, const struct watches_events *events);
/* The directories to watch for a folder from now on; root: the folder's own path, whose
 * next part is waited for in an ancestor. Old watches of it that are not wanted any more
 * go. New ones are started some per turn of the loop. */
void watches_set(struct watches *w, uint32_t folder, const char *root,
                 const struct found *found);
void watches_clear(struct watches *w); /* of all folders */
/* Every change in this folder will be reported. */
bool watches_trusted(const struct watches *w, uint32_t folder);
void watches_close(struct watches *w, void (*closed)(void *data), void *data);

/* --- ranking (catalog_rank.c), on the loop's thread --- */

struct ranker;
int ranker_new(struct db *reader, struct ranker **ret, struct err *err);
void ranker_free(struct ranker *r); /* before its connection is closed */

#define RANK_CONCEPTS_MAX 28
#define RANK_NAMES_MAX 96
#define RANK_THRESHOLD 0.5 /* of `fit`: below it a skill does not */

struct concept { /* a word of the task, with its other names */
    char word[48];
    double weight; /* its share of what the task says; all sum to 1 */
    bool known;    /* some skill holds it */
    bool product;  /* the name of one, of which another will not do */
};
struct ranked {
    uint32_t document; /* in the snapshot */
    double fit;        /* 0…1, by itself; orders the list */
    double score;      /* how likely it is the one that is meant, 0…1 */
    double cover;      /* how much of the task the skill speaks of, 0…1 */
    double named,
        described; /* share of the task in its name; there or in its description */
    double mentioned, adjacent; /* share of it anywhere, less in a long body; and as
                                   neighbours */
    struct meaning meaning;     /* what its words are near to */
    double near;                /* of search_outstanding, 0 where nobody measured it */
    double foreign;             /* share of the task's products that it is not about */
    uint8_t fields[RANK_CONCEPTS_MAX]; /* per concept a bit for each field it stands in */
    uint8_t by[RANK_CONCEPTS_MAX];     /* 0: by its own word, else 1 + place in names */
};
struct ranking {
    struct ranked *list; /* best first */
    size_t count;
    struct concept concepts[RANK_CONCEPTS_MAX];
    size_t concept_count;
    size_t product_count; /* concepts that name one */
    double unknown; /* share of the task in words that no skill holds, 0…1; in a small
                       collection, where most words are such, less */
    struct task_meaning task;
    const struct snapshot *snapshot; /* must outlive the ranking, and so must */
    struct stemmer *stemmer;         /* the ranker */
    char names[RANK_NAMES_MAX][48];  /* that were asked for */
    bool wider[RANK_NAMES_MAX];      /* what it belongs to, not a name of it */
    double content; /* what the task says, in words as rare as words get */
    double
        alone; /* how far the words decide alone, beside somebody else's measure: 0…1 */
};
/* allowed: per document of the snapshot. near: of catalog_find_near. */
int ranker_rank(struct ranker *r, const struct snapshot *s, const char *task,
                const bool *allowed, size_t limit, const json_t *near,
                struct ranking *ret, struct err *err);
void ranking_finish(struct ranking *r);
/* In words, why it fits or what of the task it does not speak of. Malloc'ed. */
char *ranking_why(const struct ranking *r, const struct ranked *m);
char *ranking_why_not(const struct ranking *r, const struct ranked *m);
