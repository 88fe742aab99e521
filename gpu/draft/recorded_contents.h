#pragma once
/* recorded_contents: turns an array of a recorded launch into a check spec's "init": one
 * number, random floats in the recorded range, or a file with the bytes. */
#include "base/buf.h"
#include "base/json.h"
#include "gpu/tensor/tensor_type.h"

enum { RECORDED_FILES = 64, RECORDED_RANK = 6 };

struct recorded_files { /* .npy files that a spec names, for its folder */
    struct recorded_file {
        char *name;
        struct buf bytes;
    } list[RECORDED_FILES];
    size_t count;
};
void recorded_files_finish(struct recorded_files *f);

struct recorder {
    const char *stem; /* the beginning of files' names */
    struct recorded_files *files;
    json_t *unknown; /* see spec_draft.h */
};
struct recorded {
    const json_t *memory; /* of a record (gpu/runtime/run_report.h) */
    enum tensor_type type;
    /* it may hold data of unknown structure: random values would not do */
    bool structure;
    bool varies; /* the kernel only reads it: a constant would hide mistakes */
    int64_t extents[RECORDED_RANK];
    size_t rank;
};
/* name: the buffer's; member: the subject of a note. New reference. */
json_t *recorded_init(struct recorder *r, const char *name, const char *member,
                      const struct recorded *c);
/* Of memory that nobody wrote before the launch, and that the launch does not wholly
 * write: in an output that it does not read, numbers that nobody expects. New reference.
 */
json_t *recorded_unwritten(struct recorder *r, const char *member,
                           const struct recorded *c, bool output);
/* With no more digits than the type has. */
json_t *recorded_number(enum tensor_type type, double value);
