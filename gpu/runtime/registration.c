#include "gpu/runtime/registration.h"

#include "base/err.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/constants.h"
#include "gpu/runtime/fatbin.h"
#include "gpu/runtime/report.h"

struct fatbin_part { /* a fat binary: device code that was compiled together */
    struct fatbin_part *next;
    const void *wrapper;
    char *text;            /* its PTX, where the program loaded it; NULL */
    struct module *module; /* once read */
    cudart_error broken;   /* it could not be read; why stands in words */
    char why[256];
    uint64_t number;
    bool gone;
};

struct named {                 /* a kernel or a variable */
    struct named *next, *same; /* same: of the hash's slot */
    const void *host;
    const char *name; /* in device code; the program's */
    struct fatbin_part *part;
    struct kernel *kernel; /* once asked for */
    struct allocation *variable;
    void **pointer; /* of a managed variable: to be filled */
    bool is_variable;
};

#define SLOTS 1024u

static struct {
    struct fatbin_part *parts, **last_part;
    uint64_t count;
    struct named *slots[SLOTS];
    struct named *managed;
} registered = {.last_part = &registered.parts};

static struct named **slot_of(const void *host) {
    uint64_t h = (uint64_t)(uintptr_t)host * UINT64_C(0x9e3779b97f4a7c15);
    return &registered.slots[(h >> 40) % SLOTS];
}

static struct named *named_find(const void *host, bool is_variable) {
    struct named *n = *slot_of(host);
    while (n && (n->host != host || n->is_variable != is_variable || n->part->gone)) {
        n = n->same;
    }
    return n;
}

static struct named *named_add(void **handle, const void *host, const char *name,
                               bool is_variable) {
    struct named *n = xcalloc(1, sizeof *n);
    *n = (struct named){.host = host,
                        .name = name,
                        .part = (struct fatbin_part *)handle,
                        .is_variable = is_variable};
    pthread_mutex_lock(&runtime.lock);
    n->same = *slot_of(host);
    *slot_of(host) = n;
    pthread_mutex_unlock(&runtime.lock);
    return n;
}

/* ---- modules ---- */

/* Modules are read and kernels made ready beside launches: what a launch looks at stays
 * as it is, and a program may ask while a kernel waits for it. */
static cudart_error locked(int (*fn)(void *), void *of) {
    static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&reading);
    int code = fn(of);
    pthread_mutex_unlock(&reading);
    return code;
}

static struct fatbin_part *part_add(const void *wrapper, char *text) {
    struct fatbin_part *p = xcalloc(1, sizeof *p);
    p->wrapper = wrapper;
    p->text = text;
    pthread_mutex_lock(&runtime.lock);
    p->number = ++registered.count;
    *registered.last_part = p;
    registered.last_part = &p->next;
    pthread_mutex_unlock(&runtime.lock);
    return p;
}

static int part_fail(struct fatbin_part *p, cudart_error code, const struct err *err) {
    p->broken = code;
    (void)snprintf(p->why, sizeof p->why, "%.250s", err->msg);
    json_t *event = report_event("unsupported", 0, NULL);
    json_object_set_new(event, "what", json_string("module"));
    json_object_set_new(event, "message", json_clean_z(err->msg));
    report_line(event);
    return code;
}

/* A function for kernels that NVIDIA's tools take from their own library: the handle of a
 * condition is the address of its word (graph_conditions.h). */
#define SET_CONDITIONAL "cudaGraphSetConditional"

static int text_complete(struct buf *text) {
    static const char function[] =
        "\n.version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .func " SET_CONDITIONAL
        "(.param .b64 handle, .param .b32 value)\n"
        "{\n.reg .b64 %h;\n.reg .b32 %v;\n"
        "ld.param.b64 %h, [handle];\nld.param.b32 %v, [value];\n"
        "st.b32 [%h], %v;\nret;\n}\n";
    bool calls = memmem(text->data, text->len, SET_CONDITIONAL, strlen(SET_CONDITIONAL));
    return calls ? buf_add(text, function, strlen(function)) : 0;
}

static int part_read(void *of) {
    struct fatbin_part *p = of;
    autobuf text = BUF_INIT(PTX_MAX_TEXT);
    struct err err = {0};
    int rc = p->module ? 0
             : p->text ? buf_add(&text, p->text, strlen(p->text))
                       : fatbin_ptx(p->wrapper, &text, &err);
    rc = rc ? rc : text_complete(&text);
    if (rc) {
        return part_fail(p, CUDART_NO_KERNEL_IMAGE, &err);
    }
    bool is_new = !p->module;
    rc = is_new ? module_new(&p->module, &runtime.device, text.data, text.len, &err) : 0;
    if (is_new && !rc) {
        constants_add(p->module);
    }
    return rc ? part_fail(p, CUDART_INVALID_PTX, &err) : CUDART_SUCCESS;
}

static cudart_error part_need(struct fatbin_part *p) {
    if (p->module) {
        return CUDART_SUCCESS;
    }
    if (p->broken) {
        return explain(p->broken, "%s", p->why);
    }
    cudart_error code = locked(part_read, p);
    return p->broken ? explain(p->broken, "%s", p->why) : code;
}

/* ---- what was named ---- */

/* Why a kernel cannot run, for people: its first instruction that cannot, or err's words.
 */
static json_t *unsupported_words(const struct kernel *k, const json_t *list,
                                 const struct err *err) {
    const json_t *first = json_array_get(list, 0);
    return first ? json_sprintf("%.200s cannot be executed here: it has %.200s (line %d)",
                                k->entry->name, json_get_string(first, "opcode", "?"),
                                (int)json_get_integer(first, "line", 0))
                 : json_clean_z(err->msg);
}

static void report_unsupported(const struct kernel *k, json_t *list,
                               const struct err *err) {
    json_t *event = report_event("unsupported", 0, NULL);
    json_object_set_new(event, "what", json_string("kernel"));
    json_object_set_new(event, "kernel", json_clean_z(k->entry->name));
    if (list) {
        json_object_set(event, "instructions", list);
    }
    json_object_set_new(event, "message", unsupported_words(k, list, err));
    report_line(event);
}

static int kernel_find(void *of) {
    struct named *n = of;
    struct kernel *k = module_kernel(n->part->module, n->name);
    autojson *unsupported = NULL;
    struct err err = {0};
    if (!k) {
        return explain(CUDART_INVALID_FUNCTION, "the device code has no kernel %s",
                       n->name);
    }
    if (kernel_prepare(k, &unsupported, &err)) {
        report_unsupported(k, unsupported, &err);
        return explain(CUDART_NOT_SUPPORTED,
                       "the kernel has instructions that cannot be executed here");
    }
    n->kernel = k;
    return CUDART_SUCCESS;
}

cudart_error registered_kernel(const void *name, struct kernel **ret) {
    pthread_mutex_lock(&runtime.lock);
    struct named *n = named_find(name, false);
    pthread_mutex_unlock(&runtime.lock);
    if (!n) {
        return explain(CUDART_INVALID_FUNCTION,
                       "no kernel is registered under this address");
    }
    if (!n->kernel) {
        cudart_error code = part_need(n->part);
        code = code ? code : locked(kernel_find, n);
        if (code) {
            return code;
        }
    }
    *ret = n->kernel;
    return CUDART_SUCCESS;
}

static int variable_find(void *of) {
    struct named *n = of;
    n->variable = module_variable(n->part->module, n->name);
    return n->variable ? CUDART_SUCCESS
                       : explain(CUDART_INVALID_SYMBOL,
                                 "the device code has no variable %s", n->name);
}

static cudart_error named_variable(struct named *n, struct allocation **ret) {
    cudart_error code = n->variable ? CUDART_SUCCESS : part_need(n->part);
    code = code || n->variable ? code : locked(variable_find, n);
    *ret = n->variable;
    return code;
}

cudart_error registered_variable(const void *host, struct allocation **ret) {
    pthread_mutex_lock(&runtime.lock);
    struct named *n = named_find(host, true);
    pthread_mutex_unlock(&runtime.lock);
    return n ? named_variable(n, ret)
             : explain(CUDART_INVALID_SYMBOL,
                       "no variable is registered under this address");
}

bool registered_is_managed(const char *name) {
    const struct named *n = registered.managed;
    while (n && strcmp(n->name, name) != 0) {
        n = n->next;
    }
    return n != NULL;
}

void registered_modules(void (*visit)(struct module *m, uint64_t number)) {
    for (const struct fatbin_part *p = registered.parts; p; p = p->next) {
        if (p->module) {
            visit(p->module, p->number);
        }
    }
}

/* ---- what the program loads ---- */

#define ELF_MAGIC 0x464c457fu

cudart_error registered_load(const void *image, struct fatbin_part **ret) {
    uint32_t magic;
    autobuf text = BUF_INIT(PTX_MAX_TEXT);
    struct err err = {0};
    memcpy(&magic, image, sizeof magic);
    if (magic == ELF_MAGIC) {
        return explain(CUDART_NO_KERNEL_IMAGE,
                       "the image is a cubin, which cannot be executed here: load PTX, "
                       "or a fat binary with PTX (--no-compress)");
    }
    bool is_text = *(const char *)image == '.' || *(const char *)image == '/' ||
                   *(const char *)image == '\n' || *(const char *)image == ' ';
    int rc =
        is_text ? buf_add(&text, image, strlen(image)) : fatbin_ptx(image, &text, &err);
    if (rc) {
        return explain(CUDART_NO_KERNEL_IMAGE, "%s",
                       is_text ? "PTX of more than 64 MiB" : err.msg);
    }
    struct fatbin_part *p = part_add(NULL, xstrndup(text.data, text.len));
    cudart_error code = part_need(p);
    p->gone = code != CUDART_SUCCESS;
    *ret = p;
    return code;
}

cudart_error registered_in(struct fatbin_part *p, const char *name, const void **ret) {
    struct kernel *k = p->gone ? NULL : module_kernel(p->module, name);
    if (!k) {
        return explain(CUDART_SYMBOL_NOT_FOUND, "the module has no kernel %.200s", name);
    }
    pthread_mutex_lock(&runtime.lock);
    bool known = named_find(k, false) != NULL;
    pthread_mutex_unlock(&runtime.lock);
    if (!known) {
        (void)named_add((void **)p, k, k->entry->name, false);
    }
    *ret = k;
    return CUDART_SUCCESS;
}

cudart_error registered_variable_in(struct fatbin_part *p, const char *name,
                                    struct allocation **ret) {
    struct named n = {.name = name, .part = p};
    cudart_error code = p->gone ? CUDART_INVALID_HANDLE : locked(variable_find, &n);
    *ret = n.variable;
    constant_set(n.variable);
    return code == CUDART_INVALID_SYMBOL ? CUDART_SYMBOL_NOT_FOUND : code;
}

/* ---- what the program's start calls ---- */

EXPORT void **__cudaRegisterFatBinary(void *wrapper) {
    return (void **)part_add(wrapper, NULL);
}

EXPORT void __cudaRegisterFatBinaryEnd(void **) {}

/* Its module stays: the report at the end still tells of it. */
EXPORT void __cudaUnregisterFatBinary(void **handle) {
    (void)queue_wait_all(&runtime.device.queue);
    ((struct fatbin_part *)handle)->gone = true;
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *,
                                   const char *name, int, void *, void *, void *, void *,
                                   int *) {
    (void)named_add(handle, host, name, false);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int,
                              size_t, int, int) {
    (void)named_add(handle, host, name, true);
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name,
                                     int, size_t, int, int) {
    struct named *n = named_add(handle, host, name, true);
    n->pointer = host;
    n->next = registered.managed;
    registered.managed = n;
}

EXPORT char __cudaInitModule(void **handle) {
    for (struct named *n = registered.managed; n; n = n->next) {
        struct allocation *a = NULL;
        if (n->part == (struct fatbin_part *)handle && !n->variable &&
            named_variable(n, &a) == CUDART_SUCCESS) {
            *n->pointer = a->host;
        }
    }
    return 1;
}

/* The kernel's name for launches is its host function all the same. */
EXPORT cudart_error __cudaGetKernel(void **ret, const void *host) {
    *ret = (void *)(uintptr_t)host;
    return CUDART_SUCCESS;
}
