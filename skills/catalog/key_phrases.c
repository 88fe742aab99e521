#include "skills/catalog/key_phrases.h"

#include "base/find.h"

#include <ctype.h>
#include <math.h>

#define TERMS_READ_MAX 512 /* distinct words of one task */
#define OPENING_WORDS 40u  /* people say first what they want */
#define TOPIC_WEIGHT 0.6   /* of what a thing wanted is for or about */

struct reading {
    struct key_terms *terms;
    unsigned position;
    bool in_topic; /* behind "for", "about" or "of" in its clause */
};

static struct key_term *find_term(struct key_terms *t, const char *word) {
    return list_find(one, t->list, t->count, strcmp(one->word, word) == 0);
}

static bool is_number(const char *word) {
    return word[strspn(word, "0123456789")] == '\0';
}

/* "ISO 14971" is another standard than "ISO 13485"; "2000 users" and "in 2024" count and
 * date. Taken for the name of something where a skill holds it. */
static bool names_something(const char *word, size_t len) {
    bool year = len == 4 && (strncmp(word, "19", 2) == 0 || strncmp(word, "20", 2) == 0);
    return is_number(word) && (len == 4 || len == 5) && !year &&
           strcmp(word + len - 2, "00") != 0;
}

/* Parts of compounds that mean nothing alone: "sm" and "90a", the "to" of "end-to-end".
 */
static bool says_nothing(const char *word, size_t len, enum word_kind kind) {
    return is_number(word)
               ? (kind != WORD_WHOLE || len < 3) && !names_something(word, len)
               : len < 2 || (kind == WORD_PART && len < 3);
}

static double kind_weight(enum word_kind kind) {
    return kind == WORD_WHOLE ? 0.6 : 1;
}

/* "deploy.sh" is a script for bash. Extensions that end products' names ("three.js",
 * "llama.cpp") or stand in compounds ("tf-idf") are left out. */
static const char *language_of(const char *extension) {
    static const struct {
        const char *extension, *language;
    } known[] = {{"ipynb", "jupyter"},  {"jsx", "react"}, {"kt", "kotlin"},
                 {"ps1", "powershell"}, {"py", "python"}, {"rb", "ruby"},
                 {"rs", "rust"},        {"sh", "bash"},   {"ts", "typescript"},
                 {"tsx", "react"}};
    size_t at = first_of(i, 0, sizeof known / sizeof known[0],
                         strcmp(extension, known[i].extension) == 0);
    return at < sizeof known / sizeof known[0] ? known[at].language : NULL;
}

static bool leads_to_topic(const char *word) {
    return strcmp(word, "for") == 0 || strcmp(word, "about") == 0 ||
           strcmp(word, "of") == 0;
}

static void read_word(void *data, const char *word, size_t len, enum word_kind kind) {
    struct reading *r = data;
    unsigned position = r->position;
    r->position += kind != WORD_WHOLE;
    const char *language = kind == WORD_PART ? language_of(word) : NULL;
    if (language) {
        word = language;
        len = strlen(word);
        kind = WORD_PLAIN;
    }
    r->in_topic |= r->terms->count > 0 && leads_to_topic(word);
    double weight = word_weight(word) * kind_weight(kind);
    if (weight <= 0 || says_nothing(word, len, kind)) {
        return;
    }
    struct key_term *term = find_term(r->terms, word);
    if (term) {
        term->count++;
        term->topic &= r->in_topic;
        return;
    }
    if (r->terms->count == TERMS_READ_MAX) {
        return;
    }
    term = &r->terms->list[r->terms->count++];
    *term =
        (struct key_term){.weight = weight,
                          .count = 1,
                          .position = position,
                          .kind = kind,
                          .topic = r->in_topic,
                          .optional = kind == WORD_WHOLE || names_something(word, len)};
    memcpy(term->word, word, len + 1);
}

/* A word said again and again is what a long task is about; its opening counts more. */
static void weigh(struct key_terms *t) {
    bool is_long = t->words > 2 * OPENING_WORDS;
    list_each(i, term, t->list, t->count) {
        term->weight *= 1 + 0.3 * log(term->count);
        if (!is_long && term->topic) {
            term->weight *= TOPIC_WEIGHT;
        }
        if (is_long && term->position > OPENING_WORDS) {
            term->weight *= 0.6;
        }
    }
}

/* Behind the punctuation mark that ends the clause which begins at `at`. */
static size_t clause_end(const char *task, size_t len, size_t at) {
    while (at < len) {
        char c = task[at++];
        if (c == '\n' ||
            (strchr(".,:;!?", c) && (at == len || isspace((unsigned char)task[at])))) {
            break;
        }
    }
    return at;
}

void key_terms_read(struct key_terms *ret, const char *task) {
    *ret = (struct key_terms){.list = xcalloc(TERMS_READ_MAX, sizeof *ret->list)};
    struct reading r = {.terms = ret};
    size_t len = strnlen(task, KEY_TASK_MAX);
    for (size_t at = 0; at < len;) {
        size_t end = clause_end(task, len, at);
        r.in_topic = false;
        words_split(task + at, end - at, read_word, &r);
        at = end;
    }
    ret->words = r.position;
    weigh(ret);
}

void key_terms_finish(struct key_terms *t) {
    free(t->list);
    *t = (struct key_terms){0};
}
