#pragma once
/* key_phrases: the words that carry a task, as the index of skills is asked for them.
 *
 * Text is cut the same way when it is indexed and when it is searched: compounds
 * ("cp.async", "sm_90a", "pre-commit", "useEffect") give their parts and themselves
 * joined ("cpasync"), so that either spelling finds the other, and so do compounds within
 * them ("SELinux-aware"); "c++" and "c#" become words. Stemming is left to the index's
 * tokenizer. */
#include <stdbool.h>
#include <stddef.h>

struct buf;

enum word_kind {
    WORD_PLAIN,  /* stands alone */
    WORD_PART,   /* of a compound */
    WORD_WHOLE,  /* a compound, joined; follows its parts */
    WORD_PROPER, /* a capitalised compound ("GitHub"): never taken apart */
};

#define WORD_MAX 40 /* bytes; longer runs are hashes and encodings, not words */

/* Lower case (ASCII), NUL-terminated, at most WORD_MAX bytes. */
typedef void word_visit(void *data, const char *word, size_t len, enum word_kind kind);
void words_split(const char *text, size_t len, word_visit *visit, void *data);
/* The words of a text separated by blanks, for the index. Stops at out's limit. */
void words_index(struct buf *out, const char *text, size_t len);

/* How much a word says about what is wanted: 0 a function word, below 1 a word that most
 * tasks hold, else 1. */
double word_weight(const char *word);
/* Whether it names a language or a product, of which another will not do. */
bool word_is_product(const char *word);
/* Whether two products do the same and who has one has not the other. */
bool words_are_rivals(const char *a, const char *b);
/* Whether they name the same product, or one and its files. */
bool words_are_aliases(const char *a, const char *b);
#define KEY_TASK_MAX (64u << 10) /* bytes of a task that are read */

struct key_term {
    char word[WORD_MAX + 1];
    double weight;     /* by kind, place and count of the word; without rarity */
    unsigned count;    /* in the task */
    unsigned position; /* of its first occurrence, in words (function words count) */
    enum word_kind kind;
    bool topic; /* what the thing wanted is for or about: "an ADR for moving to Kafka" */
    bool optional; /* the joined form of words that are here too: unknown, it says nothing
                    */
};
struct key_terms {
    struct key_term *list; /* by first occurrence */
    size_t count;
    unsigned words; /* of the task, before anything was left out */
};
/* Every word of the task that carries something, each once (by spelling). */
void key_terms_read(struct key_terms *ret, const char *task);
void key_terms_finish(struct key_terms *t);
