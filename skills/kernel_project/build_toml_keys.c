/* The tables follow kernel-builder's own definitions of editions 4 and 5. */
#include "skills/kernel_project/build_toml_keys.h"

#include "base/find.h"

#define BOTH (BUILD_TOML_4 | BUILD_TOML_5)
#define NEW BUILD_TOML_5

struct toml_section {
    const char *section, *meaning;
};
struct backend_word {
    const char *name;
    unsigned bit;
};
#include "skills/build_toml_keys_table.h"
const size_t build_toml_key_count = ARRAY_LEN(build_toml_keys) - 1;

unsigned build_toml_backend(const char *word) {
    for (size_t i = 0; backends[i].name; i++) {
        if (strcmp(backends[i].name, word) == 0) {
            return backends[i].bit;
        }
    }
    return 0;
}

const char *build_toml_backend_name(unsigned bit) {
    for (size_t i = 0; backends[i].name; i++) {
        if (backends[i].bit == bit) {
            return backends[i].name;
        }
    }
    return NULL;
}

const char *build_toml_section_key(const char *section) {
    bool kernel = strncmp(section, "kernel.", 7) == 0 && !strchr(section + 7, '.');
    return kernel ? "kernel.*" : section;
}

const char *build_toml_section_meaning(const char *section) {
    const char *key = build_toml_section_key(section);
    for (size_t i = 0; sections[i].section; i++) {
        if (strcmp(sections[i].section, key) == 0) {
            return sections[i].meaning;
        }
    }
    return NULL;
}

const struct build_toml_key *build_toml_key_find(const char *section, const char *name,
                                                 unsigned editions) {
    section = build_toml_section_key(section);
    return list_find(key, build_toml_keys, build_toml_key_count,
                     (key->editions & editions) && strcmp(key->section, section) == 0 &&
                         strcmp(key->name, name) == 0);
}

const char *build_toml_type_name(enum build_toml_type type) {
    switch (type) {
    case KEY_TEXT:
    case KEY_NAME:
    case KEY_BACKEND:
        return "a string";
    case KEY_NUMBER:
    case KEY_EDITION:
        return "a whole number";
    case KEY_RELEASE:
        return "a string such as \"0.17.0\"";
    case KEY_VERSION:
        return "a string such as \"12.8\"";
    case KEY_KERNEL_DEPENDS:
        return "an array of tables";
    case KEY_STABLE_ABI:
        return "a version such as \"2.11\" or a table of them by backend";
    case KEY_TABLE:
    case KEY_KERNELS:
        return "a table";
    default:
        return "an array of strings";
    }
}
