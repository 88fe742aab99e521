/* Every offset of the file is checked before it is followed: the file may be anything. */
#include "clients/ctl/elf_needs.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

#include <elf.h>
#include <stdalign.h>
#include <stdio.h>

#define AT(image, offset, type)                                                          \
    ((const type *)at(image, offset, sizeof(type), alignof(type)))
#define MAX_PROGRAM ((size_t)256 << 20)

struct elf_image {
    const char *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    uint64_t strings, strings_size; /* file offsets of .dynstr */
    uint64_t versions, version_count;
    const Elf64_Dyn *dynamic;
    size_t dynamic_count;
};

/* size bytes at an aligned offset, or NULL when the file does not have them. */
static const void *at(const struct elf_image *image, uint64_t offset, uint64_t size,
                      size_t alignment) {
    return offset % alignment == 0 && offset <= image->size &&
                   size <= image->size - offset
               ? image->bytes + offset
               : NULL;
}

static const Elf64_Phdr *segment(const struct elf_image *image, size_t i) {
    return AT(image, image->header->e_phoff + i * sizeof(Elf64_Phdr), Elf64_Phdr);
}

/* Where an address of memory lies in the file; UINT64_MAX for nowhere. */
static uint64_t offset_of(const struct elf_image *image, uint64_t address) {
    for (size_t i = 0; i < image->header->e_phnum; i++) {
        const Elf64_Phdr *p = segment(image, i);
        if (p && p->p_type == PT_LOAD && address >= p->p_vaddr &&
            address - p->p_vaddr < p->p_filesz) {
            return p->p_offset + (address - p->p_vaddr);
        }
    }
    return UINT64_MAX;
}

/* A string of .dynstr; "" for one that is not there. */
static const char *string_at(const struct elf_image *image, uint64_t index) {
    if (index >= image->strings_size || image->strings > image->size ||
        image->strings_size > image->size - image->strings) {
        return "";
    }
    const char *s = image->bytes + image->strings + index;
    return memchr(s, '\0', image->strings_size - index) ? s : "";
}

static void dynamic_read(struct elf_image *image) {
    for (size_t i = 0; i < image->dynamic_count; i++) {
        const Elf64_Dyn *d = &image->dynamic[i];
        switch (d->d_tag) {
        case DT_STRTAB:
            image->strings = offset_of(image, d->d_un.d_ptr);
            break;
        case DT_STRSZ:
            image->strings_size = d->d_un.d_val;
            break;
        case DT_VERNEED:
            image->versions = offset_of(image, d->d_un.d_ptr);
            break;
        case DT_VERNEEDNUM:
            image->version_count = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

static bool dynamic_find(struct elf_image *image) {
    for (size_t i = 0; i < image->header->e_phnum; i++) {
        const Elf64_Phdr *p = segment(image, i);
        if (p && p->p_type == PT_DYNAMIC) {
            image->dynamic = at(image, p->p_offset, p->p_filesz, alignof(Elf64_Dyn));
            image->dynamic_count = p->p_filesz / sizeof *image->dynamic;
        }
    }
    return image->dynamic != NULL;
}

static void version_take(struct elf_needs *needs, const char *name) {
    unsigned major = 0, minor = 0;
    if (sscanf(name, "GLIBC_%3u.%3u", &major, &minor) == 2 &&
        (major > needs->glibc_major ||
         (major == needs->glibc_major && minor > needs->glibc_minor))) {
        needs->glibc_major = major;
        needs->glibc_minor = minor;
    }
}

/* A file of libraries, each with a chain of versions; both linked by distances. */
static void versions_read(const struct elf_image *image, struct elf_needs *needs) {
    uint64_t file = image->versions;
    for (uint64_t i = 0; i < image->version_count && i < ELF_MAX_LIBRARIES; i++) {
        const Elf64_Verneed *need = AT(image, file, Elf64_Verneed);
        if (!need) {
            return;
        }
        uint64_t one = file + need->vn_aux;
        for (unsigned k = 0; k < need->vn_cnt; k++) {
            const Elf64_Vernaux *version = AT(image, one, Elf64_Vernaux);
            if (!version) {
                return;
            }
            version_take(needs, string_at(image, version->vna_name));
            one += version->vna_next;
        }
        file += need->vn_next;
    }
}

static void libraries_read(const struct elf_image *image, struct elf_needs *needs) {
    for (size_t i = 0; i < image->dynamic_count; i++) {
        if (image->dynamic[i].d_tag == DT_NEEDED &&
            needs->library_count < ELF_MAX_LIBRARIES) {
            needs->libraries[needs->library_count++] =
                xstrdup(string_at(image, image->dynamic[i].d_un.d_val));
        }
    }
}

static const char *machine_name(unsigned machine) {
    return machine == EM_X86_64 ? "x86_64" : machine == EM_AARCH64 ? "aarch64" : NULL;
}

static int image_read(struct elf_image *image, struct elf_needs *needs, const char *path,
                      struct err *err) {
    image->header = AT(image, 0, Elf64_Ehdr);
    if (!image->header || memcmp(image->header->e_ident, ELFMAG, SELFMAG) != 0 ||
        image->header->e_ident[EI_CLASS] != ELFCLASS64 ||
        image->header->e_ident[EI_DATA] != ELFDATA2LSB ||
        !machine_name(image->header->e_machine)) {
        return err_set(err, -EINVAL, "%s: not a program for x86-64 or aarch64", path);
    }
    if (!dynamic_find(image)) {
        return err_set(err, -EINVAL, "%s: not a dynamic program", path);
    }
    dynamic_read(image);
    needs->machine = machine_name(image->header->e_machine);
    versions_read(image, needs);
    libraries_read(image, needs);
    return 0;
}

int elf_needs_read(const char *path, struct elf_needs *ret, struct err *err) {
    autobuf bytes = BUF_INIT(MAX_PROGRAM);
    int rc = file_read(path, &bytes, err);
    if (rc < 0) {
        return err_wrap(err, "%s", path);
    }
    struct elf_image image = {.bytes = bytes.data, .size = bytes.len};
    *ret = (struct elf_needs){0};
    return image_read(&image, ret, path, err);
}

void elf_needs_finish(struct elf_needs *needs) {
    for (size_t i = 0; i < needs->library_count; i++) {
        free(needs->libraries[i]);
    }
    *needs = (struct elf_needs){0};
}
