/* Which documents speak of a task, and how much of it.
 *
 * One FTS5 query over the task's words and their other names; a function of ours sees
 * every row and weighs it: per word a saturating, length-normalised count with field
 * weights (BM25F), summed by rarity, and divided by what a perfect match would have got,
 * so that scores of different tasks compare. What a skill is about counts beside its
 * words (catalog_near.c). */
#include "base/buf.h"
#include "skills/catalog/catalog_search.h"

#include <math.h>

#define SATURATION 2.0
#define KEPT_MAX 64
#define ROWS_BUDGET 1500 /* rows of the rarest words that are weighed, some 1 us each */
#define FOUND_MIN 16     /* of the best by words are compared by all measures */

static const double field_weight[CATALOG_FIELDS] = {8, 4, 2, 1};
static const double field_length[CATALOG_FIELDS] = {0, 0.4, 0.5, 0.75};
#define RICH_CONTENT                                                                     \
    2.5 /* of tasks, in rare words; with names behind a colon they have more */
#define LONG_CONTENT 5.5 /* hardly a short one has more */
#define CONTENT_MIN 0.5  /* less is one word of everyday English, "write a will" */
#define BODY_FULL 1000.0 /* words; a longer body mentions much that it is not about */

/* --- one document --- */

struct seen { /* of one concept in one document */
    double strength, own;           /* of the best of its words; of the task's */
    double quality[CATALOG_FIELDS]; /* of the best of its words in each field */
    double best;                    /* quality of the best of its words */
    uint8_t by;                     /* that word, as in struct ranked */
    uint8_t by_field[CATALOG_FIELDS]; /* the same in each field */
    uint8_t fields;
};

static void keep_place(struct word_places *places, int offset) {
    if (places->count < PLACES_MAX) {
        places->at[places->count++] = offset;
    }
}

static void see_phrase(const Fts5ExtensionApi *api, Fts5Context *context, int number,
                       const struct phrase *p, const struct search *q,
                       const struct snapshot_document *d, struct seen *seen,
                       struct word_places *places) {
    Fts5PhraseIter iterator;
    unsigned counts[CATALOG_FIELDS] = {0};
    int column, offset;
    if (api->xPhraseFirst(context, number, &iterator, &column, &offset) != SQLITE_OK) {
        return;
    }
    for (; column >= 0 && column < CATALOG_FIELDS;
         api->xPhraseNext(context, &iterator, &column, &offset)) {
        counts[column]++;
        if (p->own) {
            keep_place(&places[column], offset);
        }
    }
    uint8_t by = p->own ? 0 : (uint8_t)(1 + (p - q->phrases));
    double weight = 0;
    for (int i = 0; i < CATALOG_FIELDS; i++) {
        double b = field_length[i];
        weight += field_weight[i] * counts[i] /
                  (1 - b + b * d->lengths[i] / q->snapshot->averages[i]);
        seen->fields |= counts[i] ? (uint8_t)(1u << i) : 0;
        if (counts[i] && p->quality > seen->quality[i]) {
            seen->quality[i] = p->quality;
            seen->by_field[i] = by;
        }
    }
    if (weight > 0 && p->quality > seen->best) {
        seen->best = p->quality;
        seen->by = by;
    }
    double strength = weight / (weight + SATURATION);
    seen->own = p->own ? strength : seen->own;
    seen->strength = fmax(seen->strength, p->quality * strength);
}

/* How much of a product that the task names is not the skill's: half of it where only the
 * body has it, or where another thing of its kind stands; all where only the kind does.
 */
static double foreign_share(const struct search *q, size_t concept,
                            const struct seen *seen) {
    const struct ranking *k = q->ranking;
    const struct concept *c = &k->concepts[concept];
    if (!c->product) {
        return 0;
    }
    const struct phrase *p = seen->by ? &q->phrases[seen->by - 1] : NULL;
    bool own = !p || words_are_aliases(c->word, p->word), named = seen->fields & 7;
    bool absent = !seen->fields || (!own && (p->wider || !named));
    double share = absent ? 1 : own && named ? 0 : 0.5;
    return share / (double)k->product_count;
}

static void weigh_concepts(const struct search *q, const struct snapshot_document *d,
                           const struct seen *seen, struct ranked *m) {
    const struct ranking *k = q->ranking;
    m->in_body = fmin(1, sqrt(BODY_FULL / (d->lengths[CATALOG_FIELDS - 1] + 1)));
    for (size_t i = 0; i < k->concept_count; i++) {
        double weight = k->concepts[i].weight;
        m->fields[i] = seen[i].fields;
        m->by[i] = seen[i].by;
        m->told[i] = seen[i].fields ? seen[i].by_field[__builtin_ctz(seen[i].fields)] : 0;
        m->cover += weight * seen[i].strength;
        m->said += k->concepts[i].rarity * seen[i].own;
        const double *quality = seen[i].quality;
        double described = fmax(quality[0], quality[1]),
               headed = fmax(described, quality[2]);
        m->named += weight * quality[0];
        m->described += weight * described;
        m->foreign += foreign_share(q, i, &seen[i]);
        m->mentioned += weight * fmax(headed, quality[3] * m->in_body);
        bool beside = i > 0 && q->positions[i] - q->positions[i - 1] <= 2;
        if (beside && m->headed_pairs >> (i - 1) * PAIR_REACH & 1) {
            m->adjacent += fmin(weight, k->concepts[i - 1].weight);
        }
    }
}

static double order_of(const struct ranked *m) {
    return m->cover + 0.25 * m->adjacent + 0.1 * m->named + 0.15 * m->described;
}

/* In a collection of `few` skills half. */
static double many(const struct ranking *k, double few) {
    double n = (double)k->snapshot->document_count;
    return n / (n + few);
}

/* Fitted on the development halves of tests/unit/skills/data/lookup and of sets of tasks
 * over hundreds of public skills: how much was said of what was asked, in rare words; how
 * much of the task appears at all; whether its words stand together as they do in the
 * task; how much of it name and description speak of, and the name alone; how many of the
 * products it names are others than the skill's; how much of the task is in words that no
 * skill at all holds; what both are about: as a whole, and word by word; and how alike
 * they are spelt (catalog_spelling.h). */
#define CAUTION 0.3  /* where nobody else says what stands out */
#define ALIKE 0.26 /* among very many, by chance */
#define FEW_SPELT 1000.0 /* skills say half as surely as many which spellings are rare */

static double spelling_counts(const struct ranking *k, const struct ranked *m) {
    double share = many(k, FEW_SPELT);
    return share * (m->spelling - ALIKE * share);
}

static double logit_among_few(const struct ranking *k, const struct ranked *m) {
    double evidence = m->cover * k->content;
    double x = -CAUTION - 2.5 + 1.9 * log(0.05 + evidence) + 2.1 * m->mentioned +
               4.7 * m->adjacent + 2 * m->described + 3.2 * m->named - 2.8 * m->foreign -
               3.5 * k->unknown + 4.2 * m->meaning.direction + 2 * m->meaning.spoken +
               9 * spelling_counts(k, m);
    if (k->content > RICH_CONTENT) { /* of much that is said some is met by chance */
        x -= log(fmin(k->content, LONG_CONTENT) / RICH_CONTENT);
    }
    if (k->content > LONG_CONTENT) { /* no skill speaks of all that a story tells */
        x += 4.5 * log(k->content / LONG_CONTENT);
    }
    return x;
}

/* Among many skills the plainest measures find more than those above: how much a skill
 * says of the task's own words, which share of the task that is, and whether it says them
 * together. Of a story it is a part that counts. What both are about and how alike they
 * are spelt are added, and what no skill holds is held against it. Fitted on 150 tasks, in
 * two voices, and 88 that nothing fits, over 2,440 public skills
 * (docs/architecture/skills.md, "How often it is right"). */
#define FEW_SAID 300.0

static double said_of(const struct ranking *k, const struct ranked *m) {
    return m->said * fmin(1, LONG_CONTENT / fmax(k->content, 1));
}

static double share_said(const struct ranking *k, const struct ranked *m) {
    return m->said / fmax(k->content, 1);
}

static double logit_among_many(const struct ranking *k, const struct ranked *m) {
    return -3.4 + 1.4 * said_of(k, m) + 5.5 * share_said(k, m) + 1.7 * m->together -
           4 * k->unknown + m->meaning.direction + 12 * spelling_counts(k, m);
}

static double logit_of_words(const struct ranking *k, const struct ranked *m) {
    double share = many(k, FEW_SAID);
    return share * logit_among_many(k, m) + (1 - share) * logit_among_few(k, m);
}

/* Beside a model's vectors, which say what both are about, our own measure of that adds
 * nothing, and words that stand together hardly anything. */
static double logit_of_vectors(const struct ranking *k, const struct ranked *m) {
    return -5.4 + 8.8 * m->near + 1.8 * said_of(k, m) + 6.1 * share_said(k, m) -
           3.7 * k->unknown + 8.9 * spelling_counts(k, m);
}

static double logit_of(const struct ranking *k, const struct ranked *m) {
    double x = k->alone * logit_of_words(k, m) + (1 - k->alone) * logit_of_vectors(k, m);
    return k->concept_count < 2 && k->content < CONTENT_MIN ? x - 10 * k->alone : x;
}

static void add_nearness(struct ranking *k, const double *outstanding) {
    for (size_t i = 0; outstanding && i < k->count; i++) {
        double told = outstanding[k->list[i].document];
        k->list[i].near = isnan(told) ? 0 : told;
    }
}

static void add_spelling(struct ranking *k, const double *spelling) {
    for (size_t i = 0; i < k->count; i++) {
        k->list[i].spelling = spelling[k->list[i].document];
    }
}

/* Of rivals at most one is meant, and perhaps none is: what each has of the sum. Fitted
 * apart from the weights, so that of those told as 0.9 nine of ten are the one, and 85 of
 * 100 tasks that none fits get none. A few skills have little of the sum by chance. */
#define NONE_BY_WORDS 1.2
#define NONE_BY_VECTORS 0.85

static void score_all(struct ranking *k) {
    double chance = k->alone * NONE_BY_WORDS + (1 - k->alone) * NONE_BY_VECTORS;
    double none = exp(chance * many(k, FEW_SAID)), all = none;
    for (size_t i = 0; i < k->count; i++) {
        double x = logit_of(k, &k->list[i]);
        k->list[i].fit = 1 / (1 + exp(-x));
        k->list[i].score = exp(x);
        all += k->list[i].score;
    }
    for (size_t i = 0; i < k->count; i++) {
        k->list[i].score /= all;
    }
    k->none = none / all;
}

static void keep_best(struct search *q, const struct ranked *m) {
    struct ranking *k = q->ranking;
    size_t at = k->count;
    while (at > 0 && order_of(&k->list[at - 1]) < order_of(m)) {
        at--;
    }
    if (at == q->limit) {
        return;
    }
    k->count += k->count < q->limit;
    memmove(k->list + at + 1, k->list + at, (k->count - at - 1) * sizeof *k->list);
    k->list[at] = *m;
}

/* Called by SQLite for every row that holds a word of the task. */
static void see_row(const Fts5ExtensionApi *api, Fts5Context *context,
                    sqlite3_context *result, int, sqlite3_value **) {
    const struct ranker *r = api->xUserData(context);
    struct search *q = r->search;
    sqlite3_result_null(result);
    const struct snapshot_document *d =
        q ? snapshot_document(q->snapshot, api->xRowid(context)) : NULL;
    if (!d || !q->allowed[d - q->snapshot->documents]) {
        return;
    }
    struct seen seen[RANK_CONCEPTS_MAX];
    struct word_places places[RANK_CONCEPTS_MAX][CATALOG_FIELDS];
    for (size_t i = 0; i < q->ranking->concept_count; i++) {
        for (size_t k = 0; k < CATALOG_FIELDS; k++) {
            places[i][k].count = 0;
        }
        seen[i].strength = seen[i].own = 0;
        seen[i].fields = 0;
        seen[i].best = 0;
        seen[i].by = 0;
        memset(seen[i].quality, 0, sizeof seen[i].quality);
    }
    for (size_t i = 0; i < q->phrase_count; i++) {
        const struct phrase *p = &q->phrases[q->asked[i]];
        see_phrase(api, context, (int)(q->asked_from + i), p, q, d, &seen[p->concept],
                   places[p->concept]);
    }
    struct ranked m = {.document = (uint32_t)(d - q->snapshot->documents)};
    pairs_see(q->ranking->concept_count, places, &m);
    weigh_concepts(q, d, seen, &m);
    if (q->one) {
        *q->one = m;
    } else {
        pairs_count(q, &m);
        keep_best(q, &m);
    }
}

/* --- searching --- */

static int skip_row(sqlite3_stmt *, void *) {
    return 0;
}

static int by_fit(const void *a, const void *b) {
    double x = ((const struct ranked *)a)->fit, y = ((const struct ranked *)b)->fit;
    return (x < y) - (x > y);
}

/* Those of the rarest phrases whose documents together are at most ROWS_BUDGET, at least
 * one, choose the rows. */
static void order_asked(struct search *q) {
    int64_t budget = q->snapshot->indexed <= ROWS_BUDGET ? INT64_MAX : ROWS_BUDGET;
    for (size_t i = 0; i < q->phrase_count; i++) {
        size_t at = i;
        for (; at > 0 && q->phrases[q->asked[at - 1]].documents > q->phrases[i].documents;
             at--) {
            q->asked[at] = q->asked[at - 1];
        }
        q->asked[at] = (uint8_t)i;
    }
    for (; q->rare_count < q->phrase_count; q->rare_count++) {
        int64_t documents = q->phrases[q->asked[q->rare_count]].documents;
        if (q->rare_count && documents > budget) {
            break;
        }
        budget -= documents;
    }
}

static void write_phrases(const struct search *q, size_t count, struct buf *match) {
    for (size_t i = 0; i < count; i++) {
        buf_addf(match, "%s\"%s\"", i ? " OR " : "(", q->phrases[q->asked[i]].word);
    }
    buf_addc(match, ')');
}

/* What all words of the task say about m->document; m is left alone when no word of the
 * task stands there. */
static int look_at(struct ranker *r, struct search *q, struct ranked *m,
                   struct err *err) {
    autobuf match = BUF_INIT(PHRASES_MAX * 64);
    write_phrases(q, q->phrase_count, &match);
    q->asked_from = 0;
    q->one = m;
    int rc = q->phrase_count
                 ? db_query(r->db, err, skip_row, NULL,
                            "SELECT skill_see(text) FROM text WHERE text MATCH ?1"
                            " AND rowid = ?2",
                            "si", match.data, q->snapshot->documents[m->document].id)
                 : 0;
    q->one = NULL;
    return rc;
}

/* The rows of the rare words, each weighed once, for all words. */
static int search_words(struct ranker *r, struct search *q, struct err *err) {
    autobuf match = BUF_INIT(PHRASES_MAX * 128);
    if (!q->phrase_count) {
        return 0;
    }
    if (q->rare_count < q->phrase_count) {
        write_phrases(q, q->rare_count, &match);
        buf_adds(&match, " AND ");
        q->asked_from = q->rare_count;
    }
    write_phrases(q, q->phrase_count, &match);
    return db_query(r->db, err, skip_row, NULL,
                    "SELECT skill_see(text) FROM text WHERE text MATCH ?1", "s",
                    match.data);
}

static int search(struct ranker *r, struct search *q, struct err *err) {
    int rc = search_words(r, q, err);
    size_t found = q->ranking->count;
    if (rc == 0) {
        search_add_near(q);
    }
    for (size_t i = found; rc == 0 && i < q->ranking->count; i++) {
        rc = look_at(r, q, &q->ranking->list[i], err);
    }
    search_compare(q);
    pairs_measure(q);
    return rc;
}

int ranker_rank(struct ranker *r, const struct snapshot *s, const char *task,
                const bool *allowed, size_t limit, const json_t *near,
                struct ranking *ret, struct err *err) {
    *ret = (struct ranking){.snapshot = s, .stemmer = r->stemmer};
    limit = limit < FOUND_MIN ? FOUND_MIN : limit < KEPT_MAX ? limit : KEPT_MAX;
    ret->list = xcalloc(limit + 3 * NEAR_KEPT + 1, sizeof *ret->list);
    autofree double *outstanding = search_outstanding(s, near, &ret->alone);
    autofree double *spelling = spelling_compare(s, task);
    autofree struct search *q = xcalloc(1, sizeof *q);
    *q = (struct search){.snapshot = s,
                         .allowed = allowed,
                         .ranking = ret,
                         .outstanding = outstanding,
                         .spelling = spelling,
                         .limit = limit};
    search_choose_concepts(r, q, task);
    order_asked(q);
    task_meaning_read(r->stemmer, task, &ret->task);
    q->meaning = &ret->task;
    r->search = q;
    int rc = search(r, q, err);
    r->search = NULL;
    for (size_t i = 0; i < q->phrase_count; i++) {
        memcpy(ret->names[i], q->phrases[i].word, sizeof ret->names[i]);
        ret->wider[i] = q->phrases[i].wider;
    }
    if (rc < 0) {
        ranking_finish(ret);
        return rc;
    }
    add_nearness(ret, outstanding);
    add_spelling(ret, spelling);
    score_all(ret);
    qsort(ret->list, ret->count, sizeof *ret->list, by_fit);
    return 0;
}

void ranking_finish(struct ranking *r) {
    free(r->list);
    *r = (struct ranking){0};
}

/* --- life --- */

int ranker_new(struct db *reader, struct ranker **ret, struct err *err) {
    struct ranker *r = xcalloc(1, sizeof *r);
    r->db = reader;
    int rc = stemmer_new(reader, &r->stemmer, err);
    if (rc == 0) {
        rc = stemmer_function(r->stemmer, "skill_see", r, see_row, err);
    }
    if (rc < 0) {
        ranker_free(r);
        return rc;
    }
    r->thesaurus = thesaurus_new(stemmer_stem, r->stemmer);
    *ret = r;
    return 0;
}

void ranker_free(struct ranker *r) {
    if (r) {
        stemmer_free(r->stemmer);
        thesaurus_free(r->thesaurus);
    }
    free(r);
}
