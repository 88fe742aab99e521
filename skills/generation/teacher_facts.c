#include "skills/generation/teacher_facts.h"

#include "base/buf.h"
#include "base/find.h"
#include "skills/check/hardware_table.h"
#include "skills/kernel_project/build_toml_keys.h"

static bool is_about_cuda(const char *text) {
    return strcasestr(text, "cuda") || strstr(text, "__global__");
}

/* --- hardware --- */

/* words: separated by '|'. A number counts only behind "sm_" or "capability ". */
static bool names_device(const char *text, const struct hardware_device *d) {
    for (const char *word = d->words; *word; word += strcspn(word, "|")) {
        word += *word == '|';
        char name[32] = {0};
        size_t len = strcspn(word, "|");
        bool number = strspn(word, "0123456789.") == len;
        if (!number && len < sizeof name) {
            memcpy(name, word, len);
        }
        if (*name && strcasestr(text, name)) {
            return true;
        }
    }
    return false;
}

/* Of several boards the first, which is the one that the name alone means. */
static const char *first_board(const char *device) {
    list_each(i, f, hardware_table, hardware_table_count) {
        if (strcmp(f->device, device) == 0 && *f->board) {
            return f->board;
        }
    }
    return "";
}

static void tell_device(struct buf *out, const char *device) {
    const char *board = first_board(device);
    size_t count = 0;
    list_each(i, f, hardware_table, hardware_table_count) {
        if (strcmp(f->device, device) != 0 ||
            (*f->board && strcmp(f->board, board) != 0)) {
            continue;
        }
        if (count++ == 0) {
            bool number = strspn(device, "0123456789.") == strlen(device);
            buf_addf(out, "- %s%s%s%s:", number ? "compute capability " : "", device,
                     *board ? " " : "", board);
        }
        buf_addf(out, "%s %s %s", count > 1 ? ";" : "",
                 hardware_quantity(f->quantity)->name, f->shown);
    }
    buf_adds(out, count ? "\n" : "");
}

static void tell_hardware(struct buf *out, const char *text) {
    bool told[64] = {false};
    buf_adds(out, "\nChecked numbers, for what the skill says of hardware; leave out "
                  "those that its task does not need:\n");
    bool any =
        any_of(i, 0, hardware_device_count, names_device(text, &hardware_devices[i]));
    for (size_t i = 0; i < hardware_device_count && i < 64; i++) {
        const struct hardware_device *d = &hardware_devices[i];
        bool named = any ? names_device(text, d) : strcmp(d->name, "H100") == 0;
        for (size_t k = 0; named && k < hardware_device_count && k < 64; k++) {
            told[k] |= k == i || strcmp(hardware_devices[k].name, d->capability) == 0;
        }
    }
    for (size_t i = 0; i < hardware_device_count && i < 64; i++) {
        if (told[i]) {
            tell_device(out, hardware_devices[i].name);
        }
    }
}

/* --- build.toml --- */

static bool is_for_cuda(const struct build_toml_key *k) {
    bool part = strcmp(k->section, "torch") == 0 || strcmp(k->section, "kernel.*") == 0;
    return (k->editions & BUILD_TOML_5) && k->type != KEY_TABLE &&
           k->type != KEY_KERNELS && (!k->backends || (k->backends & BACKEND_CUDA)) &&
           (part || (k->required && strcmp(k->section, "general") == 0));
}

static void tell_build_toml(struct buf *out) {
    const char *section = "";
    buf_adds(out, "\nOf what build.toml may say, what a CUDA kernel's has (* must be "
                  "there; a key that is not known is an error):\n");
    list_each(i, k, build_toml_keys, build_toml_key_count) {
        if (!is_for_cuda(k)) {
            continue;
        }
        if (strcmp(section, k->section) != 0) {
            section = k->section;
            buf_addf(out, "[%s]\n",
                     strcmp(section, "kernel.*") ? section : "kernel.NAME");
        }
        buf_addf(out, "- %s%s: %s\n", k->name, k->required ? "*" : "", k->meaning);
    }
}

void teacher_tell_facts(struct buf *out, const char *material) {
    bool cuda = is_about_cuda(material), builds = strcasestr(material, "build.toml") ||
                                                  strcasestr(material, "kernel-builder");
    if (cuda) {
        tell_hardware(out, material);
    }
    if (builds) {
        tell_build_toml(out);
    }
}
