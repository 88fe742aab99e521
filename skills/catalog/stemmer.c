#include "skills/catalog/stemmer.h"

#include "base/db.h"
#include "base/err.h"

struct stemmer {
    fts5_tokenizer tokenizer;
    Fts5Tokenizer *porter;
    fts5_api *api;
};

/* FTS5 hands its interface out through a pointer bound to a query. */
static fts5_api *find_api(sqlite3 *handle) {
    fts5_api *api = NULL;
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(handle, "SELECT fts5(?1)", -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(stmt, 1, (void *)&api, "fts5_api_ptr", NULL);
        sqlite3_step(stmt);
    }
    sqlite3_finalize(stmt);
    return api;
}

int stemmer_new(struct db *db, struct stemmer **ret, struct err *err) {
    static const char *arguments[] = {"unicode61", "remove_diacritics", "2"};
    struct stemmer *s = xcalloc(1, sizeof *s);
    void *context = NULL;
    fts5_api *api = find_api(db_handle(db));
    if (!api ||
        api->xFindTokenizer(api, "porter", &context, &s->tokenizer) != SQLITE_OK ||
        s->tokenizer.xCreate(context, arguments, 3, &s->porter) != SQLITE_OK) {
        free(s);
        return err_set(err, -ENOTSUP, "this SQLite has no full-text search (FTS5)");
    }
    s->api = api;
    *ret = s;
    return 0;
}

int stemmer_function(struct stemmer *s, const char *name, void *data,
                     fts5_extension_function function, struct err *err) {
    return s->api->xCreateFunction(s->api, name, data, function, NULL) == SQLITE_OK
               ? 0
               : err_set(err, -ENOTSUP, "this SQLite takes no functions for searching");
}

void stemmer_free(struct stemmer *s) {
    if (s) {
        s->tokenizer.xDelete(s->porter);
    }
    free(s);
}

static int keep_stem(void *data, int, const char *token, int len, int, int) {
    char *stem = data;
    if (stem[0] || len >= STEM_SIZE) {
        stem[0] = '\1'; /* no single word */
        stem[1] = '\0';
        return SQLITE_OK;
    }
    memcpy(stem, token, (size_t)len);
    stem[len] = '\0';
    return SQLITE_OK;
}

void stemmer_stem(void *data, const char *word, char ret[static STEM_SIZE]) {
    struct stemmer *s = data;
    ret[0] = '\0';
    s->tokenizer.xTokenize(s->porter, ret, FTS5_TOKENIZE_QUERY, word, (int)strlen(word),
                           keep_stem);
    if (ret[0] == '\1') {
        ret[0] = '\0';
    }
}
