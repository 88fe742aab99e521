/* From a task to what the index is asked for: its words by stem, weighed by how rare they
 * are among skills, and their other names. */
#include "base/find.h"
#include "skills/catalog/catalog_search.h"

#include <math.h>

#define IDIOM_WORD 0.7 /* of a word that stands in a phrase with another sense */
#define UNKNOWN_LONG_WEIGHT 0.125 /* in a long task, of words that no skill holds */
#define LONG_TASK 50              /* words */

struct frequency {
    int64_t documents; /* that hold a word */
    int64_t described; /* in their descriptions */
};

struct idiom { /* a phrase of the task that the thesaurus knows */
    char text[48], key[PHRASE_WORDS_MAX * STEM_SIZE];
    unsigned position, length; /* in words of the task */
};

struct candidate {
    char word[48], stem[STEM_SIZE]; /* no stem: a phrase none of whose words says much */
    double weight;
    struct frequency frequency;
    unsigned position;
    bool optional;
    bool in_phrase; /* that has other names: what no skill holds of it is not missing */
    const struct idiom *idiom;
};

/* --- stems and rarity --- */

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
    return list_find(one, list, count, strcmp(one->stem, stem) == 0);
}

static size_t read_candidates(struct ranker *r, const struct key_terms *terms,
                              struct candidate *list) {
    size_t count = 0;
    list_each(i, t, terms->list, terms->count) {
        struct candidate c = {
            .weight = t->weight, .position = t->position, .optional = t->optional};
        memcpy(c.word, t->word, strlen(t->word) + 1);
        stemmer_stem(r->stemmer, c.word, c.stem);
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
    snprintf(p->word, sizeof p->word, "%.47s", word);
    snprintf(p->stem, sizeof p->stem, "%.47s", stem);
}

static bool is_asked(const struct search *q, const char *stem) {
    return any_of(i, 0, q->phrase_count, strcmp(q->phrases[i].stem, stem) == 0);
}

/* In a long task a word that no description uses is mostly one of the story told. */
static double candidate_value(const struct candidate *c, int64_t total, bool is_long) {
    if (c->frequency.documents) {
        double weight = is_long && !c->frequency.described ? c->weight * 0.4 : c->weight;
        return weight * rarity(total, c->frequency.documents);
    }
    return c->optional
               ? 0
               : c->weight * rarity(total, 1) * (is_long ? UNKNOWN_LONG_WEIGHT : 1);
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

static void add_concept(struct search *q, const struct valued *v) {
    struct ranking *k = q->ranking;
    const struct candidate *c = v->candidate;
    size_t i = k->concept_count++;
    int64_t total = q->snapshot->indexed, documents = c->frequency.documents;
    k->concepts[i] = (struct concept){
        .weight = v->value,
        .known = documents > 0,
        .rarity = documents ? rarity(total, documents) / rarity(total, 1) : 0};
    snprintf(k->concepts[i].word, sizeof k->concepts[i].word, "%s",
             c->idiom ? c->idiom->text : c->word);
    k->concepts[i].product = word_is_product(c->word);
    k->product_count += k->concepts[i].product;
    q->positions[i] = c->position;
    if (documents && q->phrase_count < PHRASES_MAX) {
        add_phrase(q, c->word, c->stem, i, c->idiom ? IDIOM_WORD : 1, documents);
        q->phrases[q->phrase_count - 1].own = true;
    }
}

/* --- other names --- */

struct name_found {
    char stem[STEM_SIZE];
    const struct other_name *name;
    int64_t documents;
};

/* In a long task most words are of the story told: fewer names of them are asked for. */
static size_t names_limit(const struct search *q) {
    return q->is_long ? NAMES_LONG_MAX : NAMES_MAX;
}

/* Of the names for a concept those that some skill holds and that are not asked for. */
static size_t find_names(struct ranker *r, const struct search *q,
                         const struct candidate *c, struct other_name *names,
                         struct name_found *ret) {
    size_t count = thesaurus_names(r->thesaurus, c->idiom ? c->idiom->key : c->stem,
                                   names, names_limit(q));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct name_found *f = &ret[kept];
        stemmer_stem(r->stemmer, names[i].word, f->stem);
        if (!f->stem[0] || is_asked(q, f->stem) ||
            words_are_rivals(c->word, names[i].word)) {
            continue;
        }
        f->documents = find_frequency(r, f->stem).documents;
        f->name = &names[i];
        kept += f->documents > 0;
    }
    return kept;
}

/* A name commoner than the word it stands for says that much less. */
static void add_names(struct ranker *r, struct search *q, const struct candidate *c,
                      size_t concept) {
    struct other_name names[NAMES_MAX];
    struct name_found found[NAMES_MAX];
    size_t count = find_names(r, q, c, names, found);
    struct concept *k = &q->ranking->concepts[concept];
    int64_t total = q->snapshot->indexed;
    double own = c->frequency.documents ? rarity(total, c->frequency.documents) : 0;
    for (size_t i = 0; i < count && !c->frequency.documents; i++) {
        own = fmax(own, rarity(total, found[i].documents));
    }
    if (count && !k->known) {
        k->known = true;
        k->weight = c->weight * own;
    }
    for (size_t i = 0; i < count && q->phrase_count < PHRASES_MAX; i++) {
        double share = sqrt(fmin(1, rarity(total, found[i].documents) / own));
        if (!is_asked(q, found[i].stem)) {
            add_phrase(q, found[i].name->word, found[i].stem, concept,
                       found[i].name->quality * share, found[i].documents);
            q->phrases[q->phrase_count - 1].wider = found[i].name->wider;
        }
    }
}

/* --- phrases --- */

#define TASK_WORDS_MAX 256
#define IDIOMS_MAX 16

struct task_words {
    struct ranker *ranker;
    char words[TASK_WORDS_MAX][WORD_MAX + 1], stems[TASK_WORDS_MAX][STEM_SIZE];
    size_t count;
};

static void keep_word(void *data, const char *word, size_t len, enum word_kind kind) {
    struct task_words *t = data;
    if (kind != WORD_WHOLE && t->count < TASK_WORDS_MAX) {
        memcpy(t->words[t->count], word, len + 1);
        stemmer_stem(t->ranker->stemmer, word, t->stems[t->count++]);
    }
}

static bool write_idiom(const struct task_words *t, size_t at, size_t length,
                        struct idiom *ret) {
    size_t key = 0, text = 0;
    *ret = (struct idiom){.position = (unsigned)at, .length = (unsigned)length};
    for (size_t i = at; i < at + length; i++) {
        const char *joint = i > at ? "_" : "";
        if (!t->stems[i][0]) {
            return false;
        }
        key += (size_t)snprintf(ret->key + key, sizeof ret->key - key, "%s%s", joint,
                                t->stems[i]);
        if (text < sizeof ret->text) {
            text += (size_t)snprintf(ret->text + text, sizeof ret->text - text, "%s%s",
                                     i > at ? " " : "", t->words[i]);
        }
    }
    return key < sizeof ret->key;
}

/* From left to right, the longest first. */
static size_t find_idioms(struct ranker *r, const char *task, struct idiom *ret) {
    autofree struct task_words *t = xcalloc(1, sizeof *t);
    struct other_name name;
    size_t count = 0;
    t->ranker = r;
    words_split(task, strnlen(task, KEY_TASK_MAX), keep_word, t);
    for (size_t at = 0; at < t->count && count < IDIOMS_MAX; at++) {
        size_t longest =
            t->count - at < PHRASE_WORDS_MAX ? t->count - at : (size_t)PHRASE_WORDS_MAX;
        for (size_t length = longest; length > 1; length--) {
            if (write_idiom(t, at, length, &ret[count]) &&
                thesaurus_names(r->thesaurus, ret[count].key, &name, 1)) {
                count++;
                at += length - 1;
                break;
            }
        }
    }
    return count;
}

static void mark_words(const struct idiom *d, struct candidate *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        list[i].in_phrase |=
            list[i].position >= d->position && list[i].position < d->position + d->length;
    }
}

/* A phrase is asked for with the weightiest of its words, or as a word of its own. */
static size_t add_idioms(struct idiom *idioms, size_t idiom_count, struct candidate *list,
                         size_t count) {
    list_each(i, d, idioms, idiom_count) {
        struct candidate *carrier = NULL;
        list_each(k, c, list, count) {
            if (!c->idiom && c->position >= d->position &&
                c->position < d->position + d->length && c->weight >= 0.5 &&
                (!carrier || c->frequency.documents < carrier->frequency.documents)) {
                carrier = c;
            }
        }
        if (!carrier) {
            carrier = &list[count++];
            *carrier = (struct candidate){.weight = 1, .position = d->position};
        }
        carrier->idiom = d;
        mark_words(d, list, count);
    }
    return count;
}

static void share_weights(struct ranking *k, double rarest) {
    double sum = total_of(double, i, 0, k->concept_count, k->concepts[i].weight);
    for (size_t i = 0; i < k->concept_count && sum > 0; i++) {
        k->concepts[i].weight /= sum;
    }
    k->content = sum / rarest;
}

/* What none of several hundred skills ever mentions is what the task is about and they
 * are not; that one of three lacks a word tells nothing. */
#define COLLECTION_FULL 400.0

static void measure_unknown(struct ranking *k, int64_t total) {
    for (size_t i = 0; i < k->concept_count; i++) {
        k->unknown += k->concepts[i].known ? 0 : k->concepts[i].weight;
    }
    k->unknown *= fmin(1, (double)total / COLLECTION_FULL);
}

static size_t choose_values(const struct search *q, struct candidate *list, size_t count,
                            struct valued *ret) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        double value = candidate_value(&list[i], q->snapshot->indexed, q->is_long);
        if (value > 0) {
            ret[kept++] = (struct valued){&list[i], value};
        }
    }
    qsort(ret, kept, sizeof *ret, by_value);
    kept = kept > RANK_CONCEPTS_MAX ? RANK_CONCEPTS_MAX : kept;
    qsort(ret, kept, sizeof *ret, by_position);
    return kept;
}

void search_choose_concepts(struct ranker *r, struct search *q, const char *task) {
    struct key_terms terms;
    struct idiom idioms[IDIOMS_MAX];
    key_terms_read(&terms, task);
    autofree struct candidate *list = xcalloc(terms.count + IDIOMS_MAX + 1, sizeof *list);
    size_t count = read_candidates(r, &terms, list);
    count = add_idioms(idioms, find_idioms(r, task, idioms), list, count);
    autofree struct valued *values = xcalloc(count + 1, sizeof *values);
    q->is_long = terms.words > LONG_TASK;
    size_t kept = choose_values(q, list, count, values);
    for (size_t i = 0; i < kept; i++) {
        add_concept(q, &values[i]);
    }
    list_each(i, k, q->ranking->concepts, kept) {
        add_names(r, q, values[i].candidate, i);
        k->weight =
            k->known || !values[i].candidate->in_phrase || values[i].candidate->idiom
                ? k->weight
                : 0;
    }
    share_weights(q->ranking, rarity(q->snapshot->indexed, 1));
    measure_unknown(q->ranking, q->snapshot->indexed);
    key_terms_finish(&terms);
}
