#pragma once
/* device_templates: a file's templates of device code, and which of them nothing names.
 *
 * A template is compiled where something instantiates it. What no other code names is
 * instantiated nowhere; a name in comments or in such a template itself does not count.
 * The reverse is not said: what is named may still not be instantiated. */
#include <stdbool.h>
#include <stddef.h>

struct device_template {
    char *name;         /* without its scope */
    size_t offset, end; /* of the name */
    size_t from, to;    /* the whole declaration */
    bool kernel;
    bool used;
};
struct device_templates {
    struct device_template *list; /* function templates, and class templates with such
                                     functions; full specialisations are none */
    size_t count;
};

/* Empty where macros paste names together, and where there are too many tokens. text:
 * host code blanked or not. */
void device_templates_read(struct device_templates *ret, const char *text, size_t len);
/* Marks as used what is named outside of the templates, or in one that is used; t becomes
 * empty where that is too much work. The kernels among them stay as the caller marked
 * them. */
void device_templates_follow(struct device_templates *t, const char *text, size_t len);
void device_templates_finish(struct device_templates *t);
