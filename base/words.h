#pragma once
/* words: tells a JSON value by a text with places for its members.
 *
 *     {path}         the member as json_tell shows it. "a.b" is a member of a member, "."
 * the value itself, "@" its index in the list or its name in the object {path|text} the
 * text where the member has no value {path%.3g}     a number as printf shows it (d, f,
 * g), a text (s), or a share as a percentage (p, with the flags and precision of f)
 *     {path~200}     a text of at most so many bytes, with "…" where it was cut;
 * {path~200!}: with a newline, unless it ends in one
 *     {path#name}    as the caller's function of that name shows it (words_manner)
 *     {path-8}       how many items a list has beyond 8
 *     {path:text}    the text for each item of a list or member of an object, in which
 *                    {^path} is a member of the value that the list is in;
 *                    {path<8:text} for the first 8, {path/, /:text} with ", " between
 * two, {path<8/, /:text} both
 *     {?path} {!path} {?path=word} {!path=word} {?path=false} {?path>1}
 *                    conditions, which show nothing; {?path=*}: it is there, even if
 * empty [text]         left out where a member in it has no value or a condition does not
 * hold [text|text]    the first that is not left out
 *     \              in front of {}[]|\ where they stand for themselves
 *
 * A member has no value if it is missing, null, "", or an empty list or object.
 * Conditions do not hold for false and 0 either; the number of a list is the number of
 * its items. */
#include "base/mem.h"

#include <jansson.h>

void words_add(struct buf *out, const char *words, const json_t *value);

/* How values are shown where the text is not plain. */
struct words_manner {
    /* Escapes what a value became: all of out from there on. NULL: nothing. */
    void (*escape)(struct buf *out, size_t from);
    /* Functions that show a value in their own way, unescaped, up to one without a name;
     * or NULL. */
    const struct words_part {
        const char *name;
        void (*add)(struct buf *out, const json_t *value, const void *data);
    } *parts;
    const void *data; /* for them */
};
void words_add_as(struct buf *out, const struct words_manner *manner, const char *words,
                  const json_t *value);
/* Escapes so that a value stays one line: a blank for a newline or a tab. */
void words_one_line(struct buf *out, size_t from);
