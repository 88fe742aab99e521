#pragma once
/* stemmer: words as the index of skills keeps them, by SQLite's own tokenizer. */
#include "skills/catalog/thesaurus.h"

#include <sqlite3.h>

struct db;
struct err;
struct stemmer;

/* -ENOTSUP without FTS5. Freed before its connection is closed. */
int stemmer_new(struct db *db, struct stemmer **ret, struct err *err);
void stemmer_free(struct stemmer *s);
/* Makes an auxiliary function known to the connection's full-text queries. */
int stemmer_function(struct stemmer *s, const char *name, void *data,
                     fts5_extension_function function, struct err *err);
/* A word_stemmer; data: struct stemmer *. "" where the index would hold no single word.
 */
void stemmer_stem(void *data, const char *word, char ret[static STEM_SIZE]);
