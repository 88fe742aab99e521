#pragma once
/* placebo: an irrelevant text of a wanted size, the same on every machine.
 *
 * A longer prompt alone can change how a model answers. The placebo arm holds a text that
 * reads like a skill and teaches nothing that a test could ask for: how a small library
 * of paper books is kept. It is made of placebo_prose.md's paragraphs, in order,
 * beginning again where they end. */
#include <stddef.h>

struct buf;

#define PLACEBO_NAME "shelf-keeping"
/* Append some `tokens` tokens (tokens.h; within a sentence of it, at least one sentence).
 */
void placebo_text(struct buf *out, size_t tokens);

/* Paragraphs of a heading and sentences, NULL-terminated; written for this project. */
extern const char *const placebo_prose[];
