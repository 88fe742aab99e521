#pragma once
/* device_templates: the templates of device code in a file, and which of them are never
 * named.
 *
 * A template is compiled only if something instantiates it, so a template that no other
 * code names is never compiled; names in comments or in the template itself do not count.
 * The reverse does not hold: a named template may still not be instantiated. */
#include "base/mem.h"

struct device_template {
    char *name;         /* without its scope */
    size_t offset, end; /* of the name */
    size_t from, to;    /* the whole declaration */
    bool kernel;
    bool used;
};
struct device_templates {
    /* function templates, and class templates with such functions; without full
     * specialisations */
    struct device_template *list;
    size_t count;
};

/* Empty if macros paste names together, or if there are too many tokens. text: with or
 * without blanked host code. */
void device_templates_read(struct device_templates *ret, const char *text, size_t len);
/* Sets `used` for templates named outside the templates, or in a used one; t becomes
 * empty if that is too much work. The caller sets it for kernels. */
void device_templates_follow(struct device_templates *t, const char *text, size_t len);
void device_templates_finish(struct device_templates *t);
