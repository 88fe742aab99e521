#include "base/mem.h"
#include "base/random.h"

#include <criterion/criterion.h>

/* Of the seed 0 the first is the one of Java's SplittableRandom; those of 1234567 are on
 * Rosetta Code. */
Test(random, numbers_are_those_of_splitmix64) {
    static const uint64_t want[] = {6457827717110365317u, 3203168211198807973u,
                                    9817491932198370423u, 4593380528125082431u,
                                    16408922859458223821u};
    uint64_t state = 1234567, zero = 0;
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        cr_expect_eq(random_next(&state), want[i], "number %zu", i);
    }
    cr_expect_eq(random_next(&zero), 0xe220a8397b1dcdafu);
}
