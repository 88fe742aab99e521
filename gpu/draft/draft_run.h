#pragma once
/* draft_run: a program's run that is to show a launch: whether smaller numbers as arguments
 * would help it, since a check needs the launch and not its size, and why it showed none. */
#include "base/json.h"

enum { DRAFT_RUN_MOST = 256 };

/* The arguments with DRAFT_RUN_MOST for each larger whole number, and up to the `count`
 * that the program reads as numbers; NULL: they are the same. */
json_t *draft_run_smaller(const json_t *args, unsigned count);
/* Whether something of the launch is unknown that the program would tell; not what only
 * a person knows. */
bool draft_run_wanted(const json_t *unknown);
/* Appends each behind a space. */
void draft_run_words(const json_t *args, struct buf *out);
/* "recorded from ... with the arguments 50": for readers. New reference. */
json_t *draft_run_comment(const json_t *args, const char *kernel);
/* Whether time or memory ended it before the end of the launch: kernel/run's answer. */
bool draft_run_starved(const json_t *answer);
/* The first error among its findings, with its kernel and place, appended; false: it has
 * none. */
bool draft_run_error(const json_t *answer, struct buf *out);
/* Why it did not launch the kernel; appended. */
void draft_run_failure(const json_t *answer, const char *kernel, struct buf *out);
/* The first function that did nothing when the program called it; NULL: there is none. */
const char *draft_run_idle(const json_t *answer);
