#include "skills/check/hardware_numbers.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

static double unit_factor(enum claim_unit unit, const char *word) {
    char c = (char)tolower((unsigned char)word[0]);
    double thousand = unit == UNIT_BYTES && c != 'g' && c != 't' ? 1024 : 1000;
    switch (c) {
    case 'k':
        return thousand;
    case 'm':
        return thousand * thousand;
    case 'g':
        return thousand * thousand * thousand;
    case 't':
        return thousand * thousand * thousand * thousand;
    case 'p':
        return 1e15;
    default:
        return 1;
    }
}

double hardware_number(const struct claim_shape *shape, const char *text,
                       const struct pattern_match *m) {
    char digits[40], word[16] = "";
    size_t n = 0;
    for (size_t i = m->start[1]; i < m->end[1] && n + 1 < sizeof digits; i++) {
        if (text[i] != ',') {
            digits[n++] = text[i];
        }
    }
    digits[n] = '\0';
    snprintf(word, sizeof word, "%.*s", (int)(m->end[2] - m->start[2]),
             text + m->start[2]);
    double value = strtod(digits, NULL);
    if (shape->quantity == HARDWARE_CAPABILITY) {
        return shape->unit == UNIT_SM ? value : (double)(int)(value * 10 + 0.5);
    }
    if (shape->quantity == HARDWARE_REGISTERS_PER_SM && word[0]) {
        return value * 1024;
    }
    return word[0] ? value * unit_factor(shape->unit, word) : value;
}

static bool is_about(const struct hardware_fact *f, const struct hardware_device *d,
                     const char *board, enum hardware_quantity quantity) {
    if (f->quantity != quantity ||
        (strcmp(f->device, d->name) != 0 && strcmp(f->device, d->capability) != 0)) {
        return false;
    }
    if (!f->board[0] || !board[0]) {
        return true;
    }
    char own[8] = "";
    for (size_t i = 0, n = 0; f->board[i] && n + 1 < sizeof own; i++) {
        if (f->board[i] != ' ') {
            own[n++] = (char)tolower((unsigned char)f->board[i]);
        }
    }
    /* Names of different kinds ("80 GB" and "SXM") do not exclude each other. */
    bool same_kind = isdigit((unsigned char)own[0]) == isdigit((unsigned char)board[0]);
    return !same_kind || strcmp(own, board) == 0;
}

static bool has_value(const struct hardware_fact *f, double value) {
    for (size_t i = 0; i < HARDWARE_VALUES && f->values[i] > 0; i++) {
        if (fabs(value - f->values[i]) <= f->values[i] * hardware_quantity(f->quantity)->tolerance) {
            return true;
        }
    }
    return false;
}

bool hardware_contradicts(const struct hardware_subject *s,
                          enum hardware_quantity quantity, double value,
                          bool below_is_fine, struct hardware_verdict *ret) {
    *ret = (struct hardware_verdict){0};
    for (size_t d = 0; d < hardware_device_count; d++) {
        bool board =
            strcmp(hardware_devices[d].name, hardware_devices[d].capability) != 0;
        if (!(s->devices >> d & 1) || (quantity == HARDWARE_CAPABILITY && !board)) {
            continue;
        }
        size_t known = 0;
        for (size_t i = 0; i < hardware_table_count; i++) {
            const struct hardware_fact *f = &hardware_table[i];
            bool same = is_about(f, &hardware_devices[d], s->board, quantity);
            if (!same && !is_about(f, &hardware_devices[d], s->board, hardware_quantity(quantity)->alike)) {
                continue;
            }
            if (has_value(f, value) || (below_is_fine && value < f->values[0])) {
                return false;
            }
            if (same) {
                known++;
                if (ret->count < ARRAY_LEN(ret->facts)) {
                    ret->facts[ret->count++] = f;
                }
            }
        }
        if (!known) {
            return false;
        }
        ret->device = &hardware_devices[d];
    }
    return ret->count > 0;
}
