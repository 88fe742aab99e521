#pragma once
/* key_phrases: the words of a task for which the index of skills is searched.
 *
 * Text is split the same way when it is indexed and when it is searched: a compound
 * ("cp.async", "sm_90a", "pre-commit", "useEffect") gives its parts and the joined form
 * ("cpasync"), so that either spelling finds the other; compounds within it
 * ("SELinux-aware") are split too; "c++" and "c#" become words. The index's tokenizer
 * does the stemming. */
#include "base/mem.h"

enum word_kind {
    WORD_PLAIN,  /* stands alone */
    WORD_PART,   /* part of a compound */
    WORD_WHOLE,  /* a compound, joined; follows its parts */
    WORD_PROPER, /* a capitalised compound ("GitHub"): never split */
};

#define WORD_MAX 40 /* bytes; longer runs are hashes and encodings, not words */

/* The word is lower case (ASCII), NUL-terminated, at most WORD_MAX bytes. */
typedef void word_visit(void *data, const char *word, size_t len, enum word_kind kind);
void words_split(const char *text, size_t len, word_visit *visit, void *data);
/* The words of a text separated by blanks, for the index. Stops at out's limit. */
void words_index(struct buf *out, const char *text, size_t len);

/* The importance of a word for a task: 0 for a function word, below 1 for a word that
 * most tasks contain, else 1. */
double word_weight(const char *word);
/* Whether it names a language or a product, which no other one can replace. */
bool word_is_product(const char *word);
/* Whether two products serve the same purpose and are alternatives to each other. */
bool words_are_rivals(const char *a, const char *b);
/* Whether they name the same product, or a product and its files. */
bool words_are_aliases(const char *a, const char *b);
#define KEY_TASK_MAX (64u << 10) /* bytes of a task that are read */

struct key_term {
    char word[WORD_MAX + 1];
    double weight;     /* by kind, place and count of the word; without rarity */
    unsigned count;    /* in the task */
    unsigned position; /* of its first occurrence, in words (function words count) */
    enum word_kind kind;
    bool topic; /* the topic of the thing that is wanted: "an ADR for moving to Kafka" */
    bool optional; /* the joined form of words that are here too: ignored if unknown */
};
struct key_terms {
    struct key_term *list; /* sorted by first occurrence */
    size_t count;
    unsigned words; /* of the task, before any were left out */
};
/* Every word of the task with a weight above 0, once per spelling. */
void key_terms_read(struct key_terms *ret, const char *task);
void key_terms_finish(struct key_terms *t);
