#include "gpu/facts/cubin.h"

#include "base/err.h"
#include "base/find.h"

#include <elf.h>

/* What ptxas writes where ELF leaves room for the machine's own. */
#define MACHINE_CUDA 190
#define OSABI_NEW 0x41    /* CUDA 13: the architecture is in the second byte of e_flags */
#define SYMBOL_ENTRY 0x10 /* st_other of a __global__ function */
#define RESERVED_SHARED_SM90 1024 /* counted in .nv.shared.* from sm_90 on */

#define MAX_KERNELS 65536
#define MAX_NAME 4096

enum attribute {
    ATTRIBUTE_MAX_THREADS = 0x05,
    ATTRIBUTE_REQUIRED_THREADS = 0x10,
    ATTRIBUTE_FRAME_SIZE = 0x11,
    ATTRIBUTE_PARAM_INFO = 0x17,
    ATTRIBUTE_PARAM_BYTES = 0x19,
    ATTRIBUTE_REGISTERS = 0x2f,
    ATTRIBUTE_CLUSTER = 0x3d,
    ATTRIBUTE_PARAM_INFO_LARGE = 0x45, /* kernels with over 4 KB of parameters */
    ATTRIBUTE_BARRIERS = 0x4c,
};

struct bytes {
    const unsigned char *at;
    size_t len;
};

struct elf {
    struct bytes file;
    Elf64_Ehdr header;
    struct bytes section_names, symbols, symbol_names;
    size_t symbol_count;
};

struct record { /* one attribute of an .nv.info section */
    unsigned char attribute;
    struct bytes value;
};

static bool part_of(struct bytes whole, uint64_t offset, uint64_t len,
                    struct bytes *ret) {
    if (offset > whole.len || len > whole.len - offset) {
        return false;
    }
    *ret = (struct bytes){whole.at + offset, (size_t)len};
    return true;
}

static uint32_t read_number(struct bytes b, size_t offset, size_t size) {
    uint32_t value = 0;
    if (offset + size <= b.len) {
        memcpy(&value, b.at + offset, size);
    }
    return value;
}

/* Figures of a real kernel are far below this; a larger one is a damaged file. */
static int as_figure(uint64_t value) {
    return value > (1u << 30) ? -1 : (int)value;
}

static bool section_at(const struct elf *e, size_t index, Elf64_Shdr *ret) {
    struct bytes raw;
    if (index >= e->header.e_shnum ||
        !part_of(e->file, e->header.e_shoff + index * sizeof *ret, sizeof *ret, &raw)) {
        return false;
    }
    memcpy(ret, raw.at, sizeof *ret);
    return true;
}

static bool section_bytes(const struct elf *e, const Elf64_Shdr *section,
                          struct bytes *ret) {
    return section->sh_type != SHT_NOBITS &&
           part_of(e->file, section->sh_offset, section->sh_size, ret);
}

/* A NUL-terminated name inside a string table, or "". */
static const char *name_at(struct bytes table, size_t offset) {
    if (offset >= table.len) {
        return "";
    }
    size_t room = table.len - offset < MAX_NAME ? table.len - offset : MAX_NAME;
    return memchr(table.at + offset, '\0', room) ? (const char *)table.at + offset : "";
}

static int read_header(struct elf *e, struct err *err) {
    struct bytes raw;
    if (!part_of(e->file, 0, sizeof e->header, &raw)) {
        return err_set(err, -EBADMSG, "the compiled kernel is shorter than its header");
    }
    memcpy(&e->header, raw.at, sizeof e->header);
    const Elf64_Ehdr *h = &e->header;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE_CUDA) {
        return err_set(err, -EBADMSG, "the compiled kernel is not a CUDA binary");
    }
    Elf64_Shdr names;
    if (h->e_shentsize != sizeof names || h->e_shoff > e->file.len ||
        !section_at(e, h->e_shstrndx, &names) ||
        !section_bytes(e, &names, &e->section_names)) {
        return err_set(err, -EBADMSG, "the compiled kernel's section table is damaged");
    }
    return 0;
}

static int find_symbols(struct elf *e, struct err *err) {
    Elf64_Shdr section, names;
    for (size_t i = 0; section_at(e, i, &section); i++) {
        if (section.sh_type != SHT_SYMTAB) {
            continue;
        }
        if (!section_bytes(e, &section, &e->symbols) ||
            !section_at(e, section.sh_link, &names) ||
            !section_bytes(e, &names, &e->symbol_names)) {
            break;
        }
        e->symbol_count = e->symbols.len / sizeof(Elf64_Sym);
        return 0;
    }
    return err_set(err, -EBADMSG, "the compiled kernel has no symbol table");
}

static bool symbol_at(const struct elf *e, size_t index, Elf64_Sym *ret) {
    if (index >= e->symbol_count) {
        return false;
    }
    memcpy(ret, e->symbols.at + index * sizeof *ret, sizeof *ret);
    return true;
}

static int compute_sm(const Elf64_Ehdr *h) {
    return h->e_ident[EI_OSABI] == OSABI_NEW ? (int)(h->e_flags >> 8 & 0xff)
                                             : (int)(h->e_flags & 0xff);
}

static void add_kernel(struct cubin *c, const char *symbol, size_t code_bytes) {
    c->kernels = xreallocarray(c->kernels, c->count + 1, sizeof *c->kernels);
    c->kernels[c->count++] = (struct cubin_kernel){
        .symbol = xstrdup(symbol),
        .registers = -1,
        .stack_bytes = -1,
        .static_shared_bytes = 0,
        .max_threads = 1024,
        .code_bytes = code_bytes,
    };
}

static int collect_kernels(struct cubin *c, const struct elf *e, struct err *err) {
    Elf64_Sym symbol;
    for (size_t i = 0; symbol_at(e, i, &symbol); i++) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) {
            continue;
        }
        if (!(symbol.st_other & SYMBOL_ENTRY)) {
            c->functions += symbol.st_shndx != SHN_UNDEF;
            continue;
        }
        const char *name = name_at(e->symbol_names, symbol.st_name);
        if (!*name) {
            continue;
        }
        if (c->count >= MAX_KERNELS) {
            return err_set(err, -E2BIG, "more than %d kernels in one file", MAX_KERNELS);
        }
        size_t code = symbol.st_size <= e->file.len ? (size_t)symbol.st_size : 0;
        add_kernel(c, name, code);
    }
    return 0;
}

static struct cubin_kernel *find_kernel(struct cubin *c, const char *symbol) {
    return list_find(one, c->kernels, c->count, strcmp(one->symbol, symbol) == 0);
}

/* Formats 1 to 3 hold two bytes inline, format 4 a length and that many bytes. */
static bool record_next(struct bytes *rest, struct record *ret) {
    if (rest->len < 4) {
        return false;
    }
    size_t used = 4;
    *ret = (struct record){rest->at[1], {rest->at + 2, 2}};
    if (rest->at[0] == 4) {
        size_t len = read_number(*rest, 2, 2);
        if (!part_of(*rest, 4, len, &ret->value)) {
            return false;
        }
        used += len;
    }
    *rest = (struct bytes){rest->at + used, rest->len - used};
    return true;
}

/* .nv.info: pairs of symbol index and figure for the whole module. */
static void read_module_info(struct cubin *c, const struct elf *e, struct bytes rest) {
    struct record record;
    while (record_next(&rest, &record)) {
        bool registers = record.attribute == ATTRIBUTE_REGISTERS;
        Elf64_Sym symbol;
        if ((!registers && record.attribute != ATTRIBUTE_FRAME_SIZE) ||
            record.value.len < 8 ||
            !symbol_at(e, read_number(record.value, 0, 4), &symbol)) {
            continue;
        }
        struct cubin_kernel *kernel =
            find_kernel(c, name_at(e->symbol_names, symbol.st_name));
        if (kernel) {
            *(registers ? &kernel->registers : &kernel->stack_bytes) =
                as_figure(read_number(record.value, 4, 4));
        }
    }
}

static void read_triple(struct bytes value, int ret[3]) {
    for (size_t i = 0; i < 3; i++) {
        ret[i] = as_figure(read_number(value, i * 4, 4));
    }
}

static int triple_product(const int triple[3], int fallback) {
    int64_t product = 1;
    for (size_t i = 0; i < 3; i++) {
        if (triple[i] <= 0 || triple[i] > (1 << 16)) {
            return fallback;
        }
        product *= triple[i];
    }
    return product > (1 << 30) ? fallback : (int)product;
}

static void read_kernel_record(struct cubin_kernel *k, const struct record *record) {
    int threads[3];
    switch (record->attribute) {
    case ATTRIBUTE_MAX_THREADS:
        read_triple(record->value, threads);
        k->max_threads = triple_product(threads, k->max_threads);
        break;
    case ATTRIBUTE_REQUIRED_THREADS:
        read_triple(record->value, k->required_threads);
        k->max_threads = triple_product(k->required_threads, k->max_threads);
        break;
    case ATTRIBUTE_CLUSTER:
        read_triple(record->value, k->cluster);
        break;
    case ATTRIBUTE_PARAM_BYTES:
        k->param_bytes = (int)read_number(record->value, 0, 2);
        break;
    case ATTRIBUTE_PARAM_INFO:
    case ATTRIBUTE_PARAM_INFO_LARGE:
        k->param_count++;
        break;
    case ATTRIBUTE_BARRIERS:
        if (record->value.len > 0 && record->value.at[0] > k->barriers) {
            k->barriers = record->value.at[0];
        }
        break;
    default:
        break;
    }
}

static void read_kernel_info(struct cubin_kernel *k, struct bytes rest) {
    struct record record;
    while (record_next(&rest, &record)) {
        read_kernel_record(k, &record);
    }
    /* __block_size__ alone states a cluster of one block: that is none. */
    if (triple_product(k->cluster, 1) <= 1) {
        memset(k->cluster, 0, sizeof k->cluster);
    }
}

static const char *after_prefix(const char *s, const char *prefix) {
    size_t len = strlen(prefix);
    return strncmp(s, prefix, len) == 0 ? s + len : NULL;
}

static void read_shared(struct cubin_kernel *k, uint64_t size, int sm) {
    uint64_t reserved = sm >= 90 ? RESERVED_SHARED_SM90 : 0;
    k->static_shared_bytes = as_figure(size > reserved ? size - reserved : 0);
}

/* Before CUDA 13 the barriers were no attribute but stood in the code section's flags. */
static void read_code_flags(struct cubin_kernel *k, uint64_t flags) {
    int barriers = (int)(flags >> 20 & 0x7f);
    k->barriers = barriers > k->barriers ? barriers : k->barriers;
}

static void read_sections(struct cubin *c, const struct elf *e) {
    Elf64_Shdr section;
    for (size_t i = 0; section_at(e, i, &section); i++) {
        const char *name = name_at(e->section_names, section.sh_name);
        const char *symbol;
        struct bytes bytes;
        struct cubin_kernel *kernel;
        if (strcmp(name, ".nv.info") == 0) {
            if (section_bytes(e, &section, &bytes)) {
                read_module_info(c, e, bytes);
            }
        } else if ((symbol = after_prefix(name, ".nv.info."))) {
            kernel = find_kernel(c, symbol);
            if (kernel && section_bytes(e, &section, &bytes)) {
                read_kernel_info(kernel, bytes);
            }
        } else if ((symbol = after_prefix(name, ".text."))) {
            kernel = find_kernel(c, symbol);
            if (kernel) {
                read_code_flags(kernel, section.sh_flags);
            }
        } else if ((symbol = after_prefix(name, ".nv.shared."))) {
            kernel = find_kernel(c, symbol);
            if (kernel) {
                read_shared(kernel, section.sh_size, c->sm);
            }
        }
    }
}

int cubin_read(struct cubin *ret, const void *bytes, size_t len, struct err *err) {
    *ret = (struct cubin){0};
    struct elf e = {.file = {bytes, len}};
    int r = read_header(&e, err);
    if (r == 0) {
        r = find_symbols(&e, err);
    }
    if (r == 0) {
        ret->sm = compute_sm(&e.header);
        r = collect_kernels(ret, &e, err);
    }
    if (r < 0) {
        cubin_finish(ret);
        return r;
    }
    read_sections(ret, &e);
    return 0;
}

void cubin_finish(struct cubin *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->kernels[i].symbol);
    }
    free(c->kernels);
    *c = (struct cubin){0};
}
