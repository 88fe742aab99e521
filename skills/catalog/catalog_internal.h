#pragma once
/* Declarations shared by the files of the catalog.
 *
 * There are two threads: the loop's, which owns `struct catalog`, the snapshot and the
 * reading connection, and the indexer's, which owns the writing connection. They exchange
 * orders and outcomes, one of each at a time. */
#include "base/db.h"
#include "base/err.h"
#include "skills/catalog/catalog.h"
#include "skills/catalog/catalog_meaning.h"
#include "skills/catalog/catalog_spelling.h"

#include <stdatomic.h>
#include <sys/types.h>

/* --- skills found on disk (catalog_scan.c) --- */

#define CATALOG_MAX_DEPTH 6
#define CATALOG_MAX_DIRECTORIES 2000 /* without a skill, per folder */
#define CATALOG_MAX_SKILLS 20000     /* per folder */

struct catalog_stamp { /* a file with an unchanged stamp counts as unchanged */
    int64_t mtime_ns, size, inode;
};
struct found_skill {
    char *path;       /* of its folder, absolute */
    const char *file; /* "SKILL.md" or "skill.md" */
    struct catalog_stamp stamp;
    int64_t meta_ns; /* mtime of skill_meta.json, 0 without */
    int64_t beside;  /* changes when another file of the folder does; 0: there is none */
};
enum directory_kind { DIRECTORY_SEARCHED, DIRECTORY_SKILL, DIRECTORY_PARENT };
struct found_directory {
    char *path;
    ino_t inode;
    enum directory_kind kind;
};
struct found {
    struct found_skill *skills; /* sorted by path */
    struct found_directory *directories;
    size_t skill_count, directory_count;
    bool missing; /* the folder does not exist */
    /* nor does its parent: creating the folders in between may go unnoticed */
    bool distant;
    bool truncated; /* a limit was reached */
    bool remote;    /* a file system that does not report changes by other machines */
};
/* FNV-1a of further bytes; begin with FNV_SEED. */
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
    int64_t id;                      /* to which its text must be added, 0: none */
    char digest[72];                 /* of all its files, so that copies have the same */
    char *name, *description;        /* as shown */
    char *fields[CATALOG_FIELDS];    /* as searched */
    int64_t lengths[CATALOG_FIELDS]; /* in words */
    uint8_t meaning[MEANING_SIZE_MAX]; /* of meaning_write */
    size_t meaning_size;
    bool listed;  /* it has a description; a skill without one is not listed */
    char *danger; /* of the folder from which it was read, as JSON text; NULL: none */
};
/* Updates the index with one folder. *changed: something was written. Ends early if
 * work_is_stopped, as folder_walk does. */
int index_folder(struct db *db, const char *path, const struct found *found,
                 bool *changed, struct err *err);
/* Updates the rarity of words, and drops folders that nobody asked for in a month. */
int index_tidy(struct db *db, struct err *err);
int64_t index_generation(struct db *db);
struct reading_left { /* the bytes that may still be read while looking at one folder */
    size_t searched;  /* searched in full for danger (skills/check/danger.h) */
    size_t hashed; /* hashed of files beside SKILL.md; skills after that have no copies */
};
/* Reads SKILL.md of a found skill and searches all its files for danger, which reduces
 * `left`. -ENOENT and others if it cannot be read. */
int document_read(const struct found_skill *skill, struct stemmer *stemmer,
                  struct reading_left *left, struct index_document *ret);
void document_finish(struct index_document *d);

/* --- measured lifts (catalog_lift.c) --- */

enum lift_proof { LIFT_UNPROVEN, LIFT_HELPS, LIFT_HURTS };
struct model_lift {
    double lift, low, high; /* -1…1; low and high NAN without an interval */
    enum lift_proof proof;
};
/* The mean over the models of the latest lift that skill_meta.json records for each, NAN
 * without any; *ret_text: those lifts as the index stores them (NULL without), freed by
 * the caller. */
double lifts_read(const char *folder, char **ret_text);
/* The recorded lift for a model, found by its name or the part after its last slash. */
bool lifts_of_model(const char *lifts, const char *model, struct model_lift *ret);
/* The rank of a skill among those that fit: a proven benefit raises it, proven harm puts
 * it last. */
double lifts_order(double fit, const struct model_lift *m);
void lifts_explain(struct buf *out, const struct model_lift *m, const char *model);

/* --- the snapshot: the skills of the requested folders, in memory --- */

struct snapshot_document {
    int64_t id;
    const char *name, *description;
    char digest[33]; /* its first 32 digits */
    uint16_t lengths[CATALOG_FIELDS];
    uint16_t meaning_size;
    const uint8_t *meaning; /* NULL: none of its words is in the table */
    struct spelling spelling;
};
struct snapshot_place {
    const char *path, *name;
    uint32_t document; /* in documents */
    uint32_t folder;   /* in the catalog's folders */
    uint32_t winner; /* the place that is shown for this name; its own index if it wins */
    /* the first place of the same name and document; its own index if it is the first */
    uint32_t first;
    uint32_t next; /* the next place of the same name and document, UINT32_MAX: none */
    float lift;    /* NAN: not measured */
    const char *lifts;  /* for lifts_of_model; NULL: not measured */
    const char *danger; /* JSON text; NULL: the safety rules found nothing */
};
struct snapshot {
    struct snapshot_document *documents; /* sorted by id */
    struct snapshot_place *places;       /* sorted by name, then precedence */
    size_t document_count, place_count;
    uint32_t *shown; /* per document the first place that is shown, UINT32_MAX: none */
    int64_t indexed; /* documents in the whole index */
    double averages[CATALOG_FIELDS];
    uint16_t *grams; /* of all documents' spelling */
    uint16_t *spelt; /* per hash of a gram, how many documents have it */
    int64_t generation;
    uint64_t signature; /* changes when the set of skills changes */
    struct chunk *chunks;
};
struct catalog_folders {
    struct catalog_folder *list; /* owned strings */
    size_t count;
};
int snapshot_load(struct db *db, const struct catalog_folders *folders,
                  struct snapshot **ret, struct err *err);
void snapshot_free(struct snapshot *s);
/* The first place whose name is not less than `name`. */
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
    struct snapshot *snapshot; /* NULL: the loop's snapshot is still current */
    struct db *reader;         /* if it was wanted */
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
/* Whether the same path occurs earlier: a folder of several agents. */
bool folder_is_repeated(const struct catalog_folders *f, size_t i);

struct indexer;
/* Sends `wake` when an outcome is ready or the thread has ended. */
struct indexer *indexer_start(const char *db_path, uv_async_t *wake);
void indexer_order(struct indexer *i,
                   struct order *order);         /* one at a time; takes ownership */
struct outcome *indexer_take(struct indexer *i); /* NULL: none yet */
void indexer_stop(struct indexer *i);            /* makes the thread end soon */
bool indexer_ended(struct indexer *i);
void indexer_free(struct indexer *i); /* joins the thread: call it after it has ended */

/* --- watches (catalog_watch.c) --- */

/* A folder that needs more is not watched. */
#define CATALOG_MAX_WATCHES 2048

struct watches;
struct watches_events {
    /* Something changed in a folder of skills. */
    void (*changed)(void *data, uint32_t folder);
    /* New watches of a folder are in place: earlier changes may have been missed. */
    void (*settled)(void *data, uint32_t folder);
    void *data;
};
struct watches *watches_new(uv_loop_t *loop, const struct watches_events *events);
/* Sets the directories to watch for a folder. root: the folder's own path; if it does not
 * exist, an existing ancestor is watched for the next part. Watches no longer wanted are
 * removed. Only some new ones are started per turn of the loop. */
void watches_set(struct watches *w, uint32_t folder, const char *root,
                 const struct found *found);
void watches_clear(struct watches *w); /* of all folders */
/* Whether every change in this folder will be reported. */
bool watches_trusted(const struct watches *w, uint32_t folder);
void watches_close(struct watches *w, void (*closed)(void *data), void *data);

/* --- ranking (catalog_rank.c), on the loop's thread --- */

struct ranker;
int ranker_new(struct db *reader, struct ranker **ret, struct err *err);
void ranker_free(struct ranker *r); /* call it before closing its connection */

#define RANK_CONCEPTS_MAX 28
#define RANK_NAMES_MAX 96
#define PAIR_REACH 2 /* a word of a task is paired with so many after it */
#define PAIRS_MAX (RANK_CONCEPTS_MAX * PAIR_REACH)
#define RANK_THRESHOLD 0.5 /* a skill whose `fit` is lower does not fit by itself */

struct concept { /* a word of the task, and its other names */
    char word[48];
    double weight; /* its share of the task's content; all sum to 1 */
    double rarity; /* of its own word among the skills, 1 for the rarest; 0 if unknown */
    bool known;    /* some skill contains it */
    bool product;  /* the name of a product, which no other product can replace */
};
struct ranked {
    uint32_t document; /* in the snapshot */
    double fit;        /* 0…1, independent of other skills; orders the list */
    double score;      /* the probability that it is the intended skill, 0…1 */
    double cover;      /* the share of the task that the skill covers, 0…1 */
    double said;       /* how much of its own words, in units of the rarest word */
    double named,
        described; /* share of the task in its name; in its name or description */
    /* share of the task anywhere in it, less in a long body; and as neighbouring words */
    double mentioned, adjacent;
    double in_body; /* what words count that only its body has */
    uint64_t pairs, headed_pairs; /* that stand together; those not in the body alone */
    double together; /* how much that tells, some 0…1.5 */
    struct meaning meaning; /* the words of the task that its words are near to */
    double spelling;        /* how alike its name and description are spelt */
    double near;            /* from search_outstanding, 0 where not measured */
    double foreign;         /* share of the task's products that the skill is not about */
    /* per concept one bit for each field that contains it */
    uint8_t fields[RANK_CONCEPTS_MAX];
    /* 0: matched by its own word, else 1 + index in names */
    uint8_t by[RANK_CONCEPTS_MAX];
    uint8_t told[RANK_CONCEPTS_MAX]; /* the same in the first of its fields */
};
struct ranking {
    struct ranked *list; /* best first */
    size_t count;
    struct concept concepts[RANK_CONCEPTS_MAX];
    size_t concept_count;
    size_t product_count; /* concepts that name a product */
    /* share of the task in words that no skill contains, 0…1; reduced in a small
     * collection, where most words are unknown */
    double unknown;
    struct task_meaning task;
    const struct snapshot *snapshot; /* must outlive the ranking */
    struct stemmer *stemmer;        /* the ranker's, which must outlive the ranking too */
    char names[RANK_NAMES_MAX][48]; /* the names searched for */
    bool wider[RANK_NAMES_MAX];     /* a wider term, not a name of the concept */
    double content; /* the content of the task, in units of the rarest word */
    double alone;   /* the weight of the words by themselves, 1 without vectors */
    double none;    /* the probability that no skill is the intended one, 0…1 */
};
/* allowed: one per document of the snapshot. near: from catalog_find_near. */
int ranker_rank(struct ranker *r, const struct snapshot *s, const char *task,
                const bool *allowed, size_t limit, const json_t *near,
                struct ranking *ret, struct err *err);
void ranking_finish(struct ranking *r);
/* A text: why it fits, or which part of the task it does not cover. Malloc'ed. */
char *ranking_why(const struct ranking *r, const struct ranked *m);
char *ranking_why_not(const struct ranking *r, const struct ranked *m);
