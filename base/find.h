#pragma once
/* find: which numbers of a range, items of a list or values of a JSON array fulfil a
 * condition; and loops over a list.
 *
 * `i` and `item` are declared for the condition or the loop only:
 *     any_of(i, 0, s->count, s->files[i].open)
 *     list_find(file, s->files, s->count, strcmp(file->path, path) == 0)
 *     json_any(findings, finding, json_says(finding, "severity", "error")) */
#include "base/mem.h"

/* The first number of [from, to) for which `holds` is true; else to. */
#define first_of(i, from, to, holds)                                                     \
    ({                                                                                   \
        __typeof__((from) + (to)) i = (from);                                            \
        while (i < (to) && !(holds)) {                                                   \
            i++;                                                                         \
        }                                                                                \
        i;                                                                               \
    })
#define any_of(i, from, to, holds)                                                       \
    ({                                                                                   \
        bool i##_any = false;                                                            \
        for (__typeof__((from) + (to)) i = (from); i < (to) && !i##_any; i++) {          \
            i##_any = (holds);                                                           \
        }                                                                                \
        i##_any;                                                                         \
    })
#define all_of(i, from, to, holds) (!any_of(i, from, to, !(holds)))

/* Loops over the items of a list; `item` points to the one with the index `i`. break and
 * continue work as usual.
 *     list_each(i, file, s->files, s->count) { … } */
#define list_each(i, item, list, count)                                                  \
    for (__typeof__(*(list)) *item = (list), *item##_of = item; item##_of;               \
         item##_of = NULL)                                                               \
        for (__typeof__((count) + 0) i = 0; i < (count) && (item = &(list)[i], true); i++)

/* The first item for which `holds` is true, or NULL; `item` points to it. */
#define list_find(item, list, count, holds)                                              \
    ({                                                                                   \
        __typeof__(*(list)) *item, *item##_found = NULL;                                 \
        for (__typeof__((count) + 0) item##_at = 0;                                      \
             item##_at < (count) && !item##_found; item##_at++) {                        \
            item = &(list)[item##_at];                                                   \
            item##_found = (holds) ? item : NULL;                                        \
        }                                                                                \
        item##_found;                                                                    \
    })
#define list_any(item, list, count, holds) (list_find(item, list, count, holds) != NULL)

/* The sum of a term over the numbers of [from, to); of a condition: how many fulfil it. */
#define total_of(type, i, from, to, term)                                                \
    ({                                                                                   \
        type i##_sum = 0;                                                                \
        for (__typeof__((from) + (to)) i = (from); i < (to); i++) {                      \
            i##_sum += (term);                                                           \
        }                                                                                \
        i##_sum;                                                                         \
    })

/* The same for the values of an array (json.h); borrowed. */
#define json_find(array, item, holds)                                                    \
    ({                                                                                   \
        json_t *item##_found = NULL;                                                     \
        json_each(array, item##_at, item) {                                              \
            if (holds) {                                                                 \
                item##_found = item;                                                     \
                break;                                                                   \
            }                                                                            \
        }                                                                                \
        item##_found;                                                                    \
    })
#define json_any(array, item, holds) (json_find(array, item, holds) != NULL)

#define json_total(type, array, item, term)                                                \
    ({                                                                                   \
        type item##_sum = 0;                                                             \
        json_each(array, item##_at, item) {                                              \
            item##_sum += (term);                                                        \
        }                                                                                \
        item##_sum;                                                                      \
    })

/* New arrays: of a new value for each number of [from, to), or for each of an array. */
#define json_list(i, from, to, value)                                                    \
    ({                                                                                   \
        json_t *i##_list = json_array();                                                 \
        for (__typeof__((from) + (to)) i = (from); i < (to); i++) {                      \
            json_array_append_new(i##_list, (value));                                    \
        }                                                                                \
        i##_list;                                                                        \
    })
#define json_map(array, item, value)                                                     \
    ({                                                                                   \
        json_t *item##_list = json_array();                                              \
        json_each(array, item##_at, item) {                                              \
            json_array_append_new(item##_list, (value));                                 \
        }                                                                                \
        item##_list;                                                                     \
    })
