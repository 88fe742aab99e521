/* From a task to what the index is asked for: its words by stem, weighed by how rare they
 * are among skills, and their other names. */
#include "base/mem.h"
#include "skills/catalog_search.h"
#include "skills/key_phrases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIAS_QUALITY 0.7  /* of a word by another name */
#define UNKNOWN_WEIGHT 0.5 /* of words that no skill holds */
#define LONG_TASK 50       /* words */

struct frequency {
    int64_t documents; /* that hold a word */
    int64_t described; /* in their descriptions */
};

struct candidate {
    char word[48], stem[48];
    double weight;
    struct frequency frequency;
    unsigned position;
    bool optional;
};

/* --- stems and rarity --- */

static int keep_stem(void *data, int flags, const char *token, int len, int start,
                     int end) {
    char *stem = data;
    (void)flags;
    (void)start;
    (void)end;
    if (stem[0] || len >= 48) {
        stem[0] = '\1'; /* no single word */
        stem[1] = '\0';
        return SQLITE_OK;
    }
    memcpy(stem, token, (size_t)len);
    stem[len] = '\0';
    return SQLITE_OK;
}

/* As the index does it. "" when the word is none there. */
static void find_stem(struct ranker *r, const char *word, char ret[static 48]) {
    ret[0] = '\0';
    r->tokenizer.xTokenize(r->stemmer, ret, FTS5_TOKENIZE_QUERY, word, (int)strlen(word),
                           keep_stem);
    if (ret[0] == '\1') {
        ret[0] = '\0';
    }
}

static int keep_frequency(sqlite3_stmt *stmt, void *data) {
    struct frequency *f = data;
    f->documents = sqlite3_column_int64(stmt, 0);
    f->described = sqlite3_column_int64(stmt, 1);
    return 0;
}

static struct frequency find_frequency(struct ranker *r, const char *stem) {
    struct frequency f = {0};
    db_query(r->db, NULL, keep_frequency, &f,
             "SELECT documents, described FROM term WHERE stem = ?1", "s", stem);
    return f;
}

/* As if there were this many more skills, about other things: among three skills for CUDA
 * "cuda" is still a word that tells something. */
#define OTHER_SKILLS 200

static double rarity(int64_t total, int64_t documents) {
    double n = (double)(total > documents ? total : documents) + OTHER_SKILLS,
           d = (double)documents;
    return log(1 + (n - d + 0.5) / (d + 0.5));
}

/* --- from the task to what is asked for --- */

static struct candidate *find_candidate(struct candidate *list, size_t count,
                                        const char *stem) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].stem, stem) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static size_t read_candidates(struct ranker *r, const struct key_terms *terms,
                              struct candidate *list) {
    size_t count = 0;
    for (size_t i = 0; i < terms->count; i++) {
        const struct key_term *t = &terms->list[i];
        struct candidate c = {
            .weight = t->weight, .position = t->position, .optional = t->optional};
        memcpy(c.word, t->word, strlen(t->word) + 1);
        find_stem(r, c.word, c.stem);
        struct candidate *same = find_candidate(list, count, c.stem);
        if (same) { /* "kernel" and "kernels" */
            same->weight = fmax(same->weight, c.weight) * 1.15;
        } else if (c.stem[0]) {
            c.frequency = find_frequency(r, c.stem);
            list[count++] = c;
        }
    }
    return count;
}

static void add_phrase(struct search *q, const char *word, const char *stem,
                       size_t concept, double quality, int64_t documents) {
    struct phrase *p = &q->phrases[q->phrase_count++];
    *p = (struct phrase){.concept = concept, .quality = quality, .documents = documents};
    snprintf(p->word, sizeof p->word, "%s", word);
    snprintf(p->stem, sizeof p->stem, "%s", stem);
}

static bool is_asked(const struct search *q, const char *stem) {
    for (size_t i = 0; i < q->phrase_count; i++) {
        if (strcmp(q->phrases[i].stem, stem) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns in how many documents the commonest of the other names stands. */
static int64_t add_aliases(struct ranker *r, struct search *q, const char *word,
                           size_t concept) {
    char aliases[ALIASES_MAX][WORD_MAX + 1], stem[48];
    size_t count = word_aliases(word, aliases, ALIASES_MAX);
    int64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        find_stem(r, aliases[i], stem);
        int64_t documents = stem[0] ? find_frequency(r, stem).documents : 0;
        if (documents && !is_asked(q, stem)) {
            add_phrase(q, aliases[i], stem, concept, ALIAS_QUALITY, documents);
            most = documents > most ? documents : most;
        }
    }
    return most;
}

/* In a long task a word that no description uses is mostly one of the story told. */
static double candidate_value(const struct candidate *c, int64_t total, bool is_long) {
    if (c->frequency.documents) {
        double weight = is_long && !c->frequency.described ? c->weight * 0.4 : c->weight;
        return weight * rarity(total, c->frequency.documents);
    }
    return c->optional ? 0
                       : c->weight * rarity(total, 1) *
                             (is_long ? UNKNOWN_WEIGHT / 4 : UNKNOWN_WEIGHT);
}

struct valued {
    struct candidate *candidate;
    double value;
};

static int by_value(const void *a, const void *b) {
    double x = ((const struct valued *)a)->value, y = ((const struct valued *)b)->value;
    return (x < y) - (x > y);
}

static int by_position(const void *a, const void *b) {
    const struct candidate *x = ((const struct valued *)a)->candidate,
                           *y = ((const struct valued *)b)->candidate;
    return (x->position > y->position) - (x->position < y->position);
}

static void add_concept(struct ranker *r, struct search *q, const struct valued *v) {
    struct ranking *k = q->ranking;
    const struct candidate *c = v->candidate;
    size_t i = k->concept_count++;
    k->concepts[i] =
        (struct concept){.weight = v->value, .known = c->frequency.documents > 0};
    snprintf(k->concepts[i].word, sizeof k->concepts[i].word, "%s", c->word);
    q->positions[i] = c->position;
    if (c->frequency.documents) {
        add_phrase(q, c->word, c->stem, i, 1, c->frequency.documents);
    }
    int64_t other = add_aliases(r, q, c->word, i);
    if (other && !c->frequency.documents) {
        k->concepts[i].known = true;
        k->concepts[i].weight = c->weight * rarity(q->snapshot->indexed, other);
    }
}

static void share_weights(struct ranking *k, double rarest) {
    double sum = 0;
    for (size_t i = 0; i < k->concept_count; i++) {
        sum += k->concepts[i].weight;
    }
    for (size_t i = 0; i < k->concept_count && sum > 0; i++) {
        k->concepts[i].weight /= sum;
    }
    k->content = sum / rarest;
}

void search_choose_concepts(struct ranker *r, struct search *q, const char *task) {
    struct key_terms terms;
    key_terms_read(&terms, task);
    struct candidate *list = xcalloc(terms.count + 1, sizeof *list);
    size_t count = read_candidates(r, &terms, list);
    struct valued *values = xcalloc(count + 1, sizeof *values);
    bool is_long = terms.words > LONG_TASK;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        double value = candidate_value(&list[i], q->snapshot->indexed, is_long);
        if (value > 0) {
            values[kept++] = (struct valued){&list[i], value};
        }
    }
    qsort(values, kept, sizeof *values, by_value);
    kept = kept > RANK_CONCEPTS_MAX ? RANK_CONCEPTS_MAX : kept;
    qsort(values, kept, sizeof *values, by_position);
    for (size_t i = 0; i < kept; i++) {
        add_concept(r, q, &values[i]);
    }
    share_weights(q->ranking, rarity(q->snapshot->indexed, 1));
    free(values);
    free(list);
    key_terms_finish(&terms);
}
