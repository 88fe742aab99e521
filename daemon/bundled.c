#include "daemon/bundled.h"

#include "base/file.h"
#include "base/mem.h"

#include <unistd.h>

/* Relative to the program's folder; the build says both. */
static const char *const places[] = {BUNDLED_INSTALLED, BUNDLED_SOURCE};

char *bundled_skills(void) {
    return beside_program(places, ARRAY_LEN(places), X_OK);
}
