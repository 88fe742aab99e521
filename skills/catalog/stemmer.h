#pragma once
/* stemmer: stems as the index of skills stores them, from SQLite's own tokenizer. */
#include "skills/catalog/thesaurus.h"

#include <sqlite3.h>

struct db;
struct stemmer;

/* -ENOTSUP without FTS5. Free it before closing its connection. */
int stemmer_new(struct db *db, struct stemmer **ret, struct err *err);
void stemmer_free(struct stemmer *s);
/* Registers an auxiliary function for the connection's full-text queries. */
int stemmer_function(struct stemmer *s, const char *name, void *data,
                     fts5_extension_function function, struct err *err);
/* A word_stemmer; data: struct stemmer *. "" if the index would not store exactly one
 * word. */
void stemmer_stem(void *data, const char *word, char ret[static STEM_SIZE]);
