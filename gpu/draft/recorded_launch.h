#pragma once
/* recorded_launch: the bytes of a recorded launch (gpu/runtime/run_report.h, "record").
 */
#include "base/json.h"

enum { RECORDED_MEMORY = 256, RECORDED_PARAM = 4096 };

struct recorded_param {
    uint8_t data[RECORDED_PARAM];
    size_t len;
};
/* False: the record does not have them. */
bool recorded_param(const json_t *record, size_t i, struct recorded_param *ret);
/* The memory that holds an address, or ends there; NULL: none that was recorded. */
const json_t *recorded_memory(const json_t *record, uint64_t address, size_t *ret,
                              uint64_t *offset);
uint64_t recorded_word(const uint8_t *bytes);
/* Whether one of its words is an address of what was recorded: at the same place in a
 * validation lies something else. */
bool recorded_pointers(const json_t *record, const json_t *memory);
