/* Why a skill fits, or what of the task it does not speak of. */
#include "base/buf.h"
#include "base/find.h"
#include "skills/catalog/catalog_internal.h"

#define NEAR_ENOUGH 0.5 /* to be called near */
#define NEAR_WORDS_MAX 3

/* A product of which only the kind is spoken of is not there. */
static bool is_missing(const struct ranking *r, const struct ranked *m, size_t i) {
    const struct concept *c = &r->concepts[i];
    bool kind = c->product && m->by[i] && r->wider[m->by[i] - 1] &&
                !words_are_aliases(c->word, r->names[m->by[i] - 1]);
    return c->weight > 0 && (!m->fields[i] || kind);
}

/* mask: the fields, not_mask: those told before; mask 0: what is missing. */
static void add_words(struct buf *out, const struct ranking *r, const struct ranked *m,
                      unsigned mask, unsigned not_mask) {
    unsigned count = 0;
    for (size_t i = 0; i < r->concept_count; i++) {
        bool in = mask ? (m->fields[i] & mask) && !(m->fields[i] & not_mask)
                       : is_missing(r, m, i);
        if (in && count++ < 6) {
            buf_addf(out, "%s\"%s\"", count > 1 ? ", " : "", r->concepts[i].word);
            if (mask && m->told[i]) {
                buf_addf(out, " (\"%s\")", r->names[m->told[i] - 1]);
            }
        }
    }
}

static bool stands_there(const struct ranking *r, const struct ranked *m,
                         const char *word) {
    return any_of(i, 0, r->concept_count,
                  m->fields[i] && strcmp(r->concepts[i].word, word) == 0);
}

/* "game" near "godot", for words of the task that do not stand there. */
static void add_near_words(struct buf *out, const struct ranking *r,
                           const struct ranked *m) {
    const struct snapshot_document *d = &r->snapshot->documents[m->document];
    const char *const texts[] = {d->name, d->description};
    unsigned count = 0;
    for (size_t i = 0; i < r->task.count && count < NEAR_WORDS_MAX; i++) {
        const char *word = r->task.words[i].word;
        char theirs[48];
        if ((double)m->meaning.near[i] >= NEAR_ENOUGH && !stands_there(r, m, word) &&
            meaning_spelling(r->stemmer, texts, ARRAY_LEN(texts), m->meaning.by[i],
                             theirs) &&
            strcasecmp(word, theirs) != 0) {
            buf_addf(out, "%s\"%s\" near \"%s\"", count++ ? ", " : "", word, theirs);
        }
    }
    buf_adds(out, count ? " in meaning" : "");
}

char *ranking_why(const struct ranking *r, const struct ranked *m) {
    static const char *const names[CATALOG_FIELDS] = {"name", "description", "headings",
                                                      "body"};
    struct buf out = BUF_INIT(4096);
    autobuf near = BUF_INIT(1024);
    for (unsigned field = 0; field < CATALOG_FIELDS; field++) {
        autobuf words = BUF_INIT(1024);
        add_words(&words, r, m, 1u << field, (1u << field) - 1);
        if (words.len) {
            buf_addf(&out, "%s%s in its %s", out.len ? "; " : "", words.data,
                     names[field]);
        }
    }
    add_near_words(&near, r, m);
    if (near.len) {
        buf_addf(&out, "%s%s", out.len ? "; " : "", near.data);
    }
    return out.len ? buf_detach(&out) : xstrdup("near the task as a whole");
}

char *ranking_why_not(const struct ranking *r, const struct ranked *m) {
    autofree char *why = ranking_why(r, m);
    struct buf out = BUF_INIT(8192);
    autobuf missing = BUF_INIT(1024);
    add_words(&missing, r, m, 0, 0);
    buf_addf(&out, "%s", why);
    if (missing.len) {
        buf_addf(&out, ", but nothing about %s", missing.data);
    } else {
        buf_adds(&out, r->concept_count == 1
                           ? ", but one such word is too little"
                           : ", but only in passing");
    }
    return buf_detach(&out);
}
