/* The rows by the stems of their words: a sorted array of hashes, for a table of some
 * thousand words is asked a dozen times per task. */
#include "skills/catalog/thesaurus.h"

#include "base/find.h"
#include "skills/thesaurus_rows.h"

#define NAME_QUALITY 0.75
#define WIDER_QUALITY 0.5
#define KEY_SIZE (PHRASE_WORDS_MAX * STEM_SIZE)

struct entry {
    uint64_t key; /* hash of the stems */
    const char *row, *own;
    size_t place; /* of the row in the table */
};
struct thesaurus {
    struct entry *entries; /* by key, then as in the table */
    size_t count;
};

/* FNV-1a: among some thousand keys that we wrote no two meet in 64 bits. */
static uint64_t hash_key(const char *key) {
    uint64_t h = 14695981039346656037u;
    for (; *key; key++) {
        h = (h ^ (unsigned char)*key) * 1099511628211u;
    }
    return h;
}

/* --- building --- */

/* The stems of a word or of a phrase's words; "" where one has none. */
static void write_key(word_stemmer *stem, void *data, const char *word, size_t len,
                      char ret[static KEY_SIZE]) {
    size_t used = 0;
    for (size_t i = 0, n; i < len; i += n + 1) {
        char one[WORD_MAX + 1] = "", stemmed[STEM_SIZE];
        const char *end = memchr(word + i, '_', len - i);
        n = end ? (size_t)(end - word) - i : len - i;
        memcpy(one, word + i, n < WORD_MAX ? n : WORD_MAX);
        stem(data, one, stemmed);
        size_t size = strlen(stemmed);
        if (!size || used + size + 2 > KEY_SIZE) {
            used = 0;
            break;
        }
        if (i) {
            ret[used++] = '_';
        }
        memcpy(ret + used, stemmed, size);
        used += size;
    }
    ret[used] = '\0';
}

static void add_row(struct thesaurus *t, const char *row, size_t place,
                    word_stemmer *stem, void *data) {
    char key[KEY_SIZE];
    for (const char *at = row; *at && *at != '>';) {
        size_t n = strcspn(at, " ");
        write_key(stem, data, at, n, key);
        if (key[0]) {
            if (t->count % 256 == 0) {
                t->entries =
                    xreallocarray(t->entries, t->count + 256, sizeof *t->entries);
            }
            t->entries[t->count++] = (struct entry){hash_key(key), row, at, place};
        }
        at += n + (at[n] == ' ');
    }
}

static int by_key(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->place > y->place) - (x->place < y->place);
}

struct thesaurus *thesaurus_new(word_stemmer *stem, void *data) {
    struct thesaurus *t = xcalloc(1, sizeof *t);
    for (size_t i = 0; thesaurus_rows[i]; i++) {
        add_row(t, thesaurus_rows[i], i, stem, data);
    }
    qsort(t->entries, t->count, sizeof *t->entries, by_key);
    return t;
}

void thesaurus_free(struct thesaurus *t) {
    if (t) {
        free(t->entries);
        free(t);
    }
}

/* --- asking --- */

static bool is_there(const struct other_name *list, size_t count, const char *word,
                     size_t len) {
    return any_of(i, 0, count,
                  strncmp(list[i].word, word, len) == 0 && list[i].word[len] == '\0');
}

/* What one side of a row adds. */
static size_t add_names(const struct entry *e, bool wider, struct other_name *ret,
                        size_t count, size_t max) {
    const char *at = e->row;
    for (bool behind = false; *at && count < max;) {
        size_t n = strcspn(at, " ");
        if (*at == '>') {
            behind = true;
        } else if (behind == wider && at != e->own && !memchr(at, '_', n) &&
                   n <= WORD_MAX && !is_there(ret, count, at, n)) {
            memcpy(ret[count].word, at, n);
            ret[count].word[n] = '\0';
            ret[count].wider = wider;
            ret[count++].quality = wider ? WIDER_QUALITY : NAME_QUALITY;
        }
        at += n + (at[n] == ' ');
    }
    return count;
}

static size_t first_entry(const struct thesaurus *t, uint64_t key) {
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->entries[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t thesaurus_names(const struct thesaurus *t, const char *key, struct other_name *ret,
                       size_t max) {
    uint64_t hash = hash_key(key);
    size_t count = 0, first = first_entry(t, hash);
    for (int wider = 0; wider < 2; wider++) {
        for (size_t i = first; i < t->count && t->entries[i].key == hash; i++) {
            count = add_names(&t->entries[i], wider, ret, count, max);
        }
    }
    return count;
}
