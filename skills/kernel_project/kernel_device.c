/* What device code needs of build.toml, and what its launches should do; by their words.
 */
#include "base/buf.h"
#include "skills/kernel_project/kernel_project.h"

#include <stdint.h>
#include <string.h>

/* --- features of compute capability 9.0 --- */

static const struct {
    const char *pattern, *what;
    bool specific; /* exists only in 9.0a */
} features[] = {
    {"wgmma", "wgmma", true},
    {"setmaxnreg", "setmaxnreg", true},
    {"GMMA::", "CUTLASS GMMA", true},
    {"cp.async.bulk", "cp.async.bulk (TMA)", false},
    {"cp_async_bulk", "cp.async.bulk (TMA)", false},
    {"CUtensorMap", "tensor maps (TMA)", false},
    {"cuTensorMapEncode", "tensor maps (TMA)", false},
    {"__cluster_dims__", "thread block clusters", false},
    {"this_cluster", "thread block clusters", false},
    {"cudaLaunchAttributeClusterDimension", "thread block clusters", false},
    {"barrier.cluster", "thread block clusters", false},
    {"mbarrier.try_wait", "mbarrier.try_wait", false},
};

struct need {
    const struct project_file *file; /* NULL: nothing special */
    const char *what;
    size_t at, len;
    bool specific, guarded; /* guarded: the source asks __CUDA_ARCH__ */
};

static void find_need(struct kernel_project *p, struct project_file *file,
                      struct need *need) {
    const struct kernel_source *s = kernel_project_source(p, file);
    for (size_t i = 0; s && i < ARRAY_LEN(features); i++) {
        const char *found = strstr(s->code, features[i].pattern);
        if (found && (!need->file || (features[i].specific && !need->specific))) {
            *need = (struct need){.file = file,
                                  .what = features[i].what,
                                  .at = (size_t)(found - s->code),
                                  .len = strlen(features[i].pattern),
                                  .specific = features[i].specific,
                                  .guarded = strstr(s->code, "__CUDA_ARCH__") != NULL};
        }
    }
}

static bool holds(const struct kernel_project *p, const struct toml_node *list,
                  const char *word) {
    for (size_t i = 0; i < toml_count(list); i++) {
        const char *text = json_string_value(toml_item(p->build, list, i)->value);
        if (text && strcmp(text, word) == 0) {
            return true;
        }
    }
    return false;
}

static void relate(json_t *finding, const struct need *need) {
    struct finding_span span =
        kernel_source_span(&need->file->source, need->at, need->at + need->len);
    autofree char *message = xasprintf("%s is used here", need->what);
    finding_add_related(finding, message, need->file->path, span.line, span.column);
}

static void no_capabilities(struct kernel_project *p, const struct toml_node *kernel,
                            const struct need *need) {
    if (!need->specific && need->guarded) {
        return; /* built for all, with another path for the older ones */
    }
    json_t *finding = build_toml_add_key(
        &p->report, "kernel_project_capability_needed",
        need->specific ? FINDING_ERROR : FINDING_WARNING, kernel,
        "%s needs compute capability %s, but without cuda-capabilities the kernel is "
        "built "
        "for every capability%s",
        need->what, need->specific ? "9.0a" : "9.0",
        need->specific ? ", and 9.0a is not among them" : ", older ones too");
    relate(finding, need);
    /* Those that are there in another place or spelling have fixes of their own. */
    if (toml_member(p->build, kernel, "cuda_capabilities") ||
        toml_member(p->build, kernel, "capabilities") ||
        toml_find(p->build, "/general/cuda/capabilities")) {
        return;
    }
    autofree char *line =
        xasprintf("cuda-capabilities = [\"%s\"]", need->specific ? "9.0a" : "9.0");
    autofree char *title = xasprintf("Add %s", line);
    build_toml_fix_insert(&p->report, finding, title, kernel, line);
}

static void check_capabilities(struct kernel_project *p, const struct toml_node *kernel,
                               const struct need *need) {
    const struct toml_node *list = toml_member(p->build, kernel, "cuda-capabilities");
    if (!list) {
        no_capabilities(p, kernel, need);
        return;
    }
    if (list->kind != TOML_ARRAY || holds(p, list, "9.0a") ||
        (!need->specific && holds(p, list, "9.0"))) {
        return;
    }
    json_t *finding = build_toml_add_value(
        &p->report, "kernel_project_capability_needed", FINDING_ERROR, list,
        "%s needs compute capability %s in cuda-capabilities", need->what,
        need->specific ? "9.0a" : "9.0");
    relate(finding, need);
    for (size_t i = 0; i < toml_count(list); i++) {
        const struct toml_node *item = toml_item(p->build, list, i);
        const char *text = json_string_value(item->value);
        if (text && strcmp(text, "9.0") == 0) {
            build_toml_fix_replace(&p->report, finding, "Write \"9.0a\"", item->start,
                                   item->end, "\"9.0a\"");
            return;
        }
    }
    size_t count = toml_count(list);
    size_t at = count ? toml_item(p->build, list, count - 1)->end : list->start + 1;
    autofree char *text =
        xasprintf("%s\"%s\"", count ? ", " : "", need->specific ? "9.0a" : "9.0");
    autofree char *title = xasprintf("Add \"%s\"", need->specific ? "9.0a" : "9.0");
    build_toml_fix_replace(&p->report, finding, title, at, at, text);
}

/* cuda-capabilities are discouraged, except where the sources need them. */
static void withdraw_advice(struct kernel_project *p, const struct toml_node *kernel) {
    const struct toml_node *list = toml_member(p->build, kernel, "cuda-capabilities");
    if (!list) {
        return;
    }
    int line = toml_place(p->build, list->key_start, NULL);
    for (size_t i = json_array_size(p->findings); i-- > 0;) {
        const json_t *f = json_array_get(p->findings, i);
        if (json_get_integer(f, "line", 0) == line &&
            strcmp(json_get_string(f, "code", ""),
                   "build_toml_capabilities_discouraged") == 0) {
            json_array_remove(p->findings, i);
        }
    }
}

/* --- launches --- */

static const struct {
    const char *code, *message;
    const char *patterns[5]; /* any of them will do */
} launch_rules[] = {
    {"kernel_project_device_guard",
     "no device guard: with several GPUs the launch goes to the current one, not to the "
     "tensor's; put const c10::cuda::CUDAGuard guard(tensor.device()) before it",
     {"CUDAGuard", "DeviceGuard", "cudaSetDevice", NULL}},
    {"kernel_project_current_stream",
     "the launch goes to the default stream; use at::cuda::getCurrentCUDAStream()",
     {"getCurrentCUDAStream", "getCurrentHIPStream", "cudaStream_t",
      "aoti_torch_get_current_cuda_stream", NULL}},
    {"kernel_project_launch_check",
     "a launch that fails is not noticed: add C10_CUDA_KERNEL_LAUNCH_CHECK() after it",
     {"KERNEL_LAUNCH_CHECK", "cudaGetLastError", "cudaPeekAtLastError", NULL}},
};

/* In code: a header's name says nothing. */
static bool mentions(const struct kernel_source *s, const char *pattern) {
    size_t n = strlen(pattern);
    for (const char *at = strstr(s->words, pattern); at; at = strstr(at + n, pattern)) {
        if (strncmp(at + n, ".h", 2) != 0) {
            return true;
        }
    }
    return false;
}

static void check_launches(struct kernel_project *p, struct project_file *file) {
    const struct kernel_source *s = kernel_project_source(p, file);
    const char *launch = s ? strstr(s->words, "<<<") : NULL;
    if (!launch) {
        return;
    }
    size_t at = (size_t)(launch - s->words);
    struct finding_span span = kernel_source_span(s, at, at + 3);
    for (size_t i = 0; i < ARRAY_LEN(launch_rules); i++) {
        bool there = false;
        for (size_t k = 0; launch_rules[i].patterns[k]; k++) {
            there = there || mentions(s, launch_rules[i].patterns[k]);
        }
        if (!there) {
            kernel_project_add(p, file->path, launch_rules[i].code, FINDING_INFO, &span,
                               "%s", launch_rules[i].message);
        }
    }
}

/* --- what no source may have --- */

static void check_forbidden(struct kernel_project *p, struct project_file *file) {
    const struct kernel_source *s = kernel_project_source(p, file);
    const char *header = s ? strstr(s->code, "torch/extension.h") : NULL;
    if (header) {
        size_t at = (size_t)(header - s->code);
        struct finding_span span = kernel_source_span(s, at, at + 17);
        json_t *finding = kernel_project_add(
            p, file->path, "kernel_project_torch_extension", FINDING_ERROR, &span,
            "torch/extension.h brings pybind11 and binds the module to one Python; use "
            "torch/all.h, and torch/library.h for the binding");
        finding_add_fix(finding, "Include torch/all.h", file->path, &span, "torch/all.h");
    }
    static const char *const words[] = {"PYBIND11_MODULE", "pybind11"};
    for (size_t i = 0; s && i < ARRAY_LEN(words); i++) {
        size_t at = kernel_source_word(s, words[i], 0);
        if (at != SIZE_MAX) {
            struct finding_span span = kernel_source_span(s, at, at + strlen(words[i]));
            kernel_project_add(p, file->path, "kernel_project_pybind11", FINDING_ERROR,
                               &span,
                               "pybind11 binds the module to one Python; register "
                               "operators with TORCH_LIBRARY_EXPAND");
            return;
        }
    }
}

/* --- the whole --- */

static void check_kernel(struct kernel_project *p, const struct toml_node *kernel) {
    const struct toml_node *src = toml_member(p->build, kernel, "src");
    struct need need = {.file = NULL};
    for (size_t i = 0; src && src->kind == TOML_ARRAY && i < toml_count(src); i++) {
        const char *path = json_string_value(toml_item(p->build, src, i)->value);
        struct project_file *file = path ? kernel_project_file(p, path) : NULL;
        if (file && file->kind == PROJECT_REGULAR) {
            find_need(p, file, &need);
            if (kernel_project_ends(path, ".cu ")) {
                check_launches(p, file);
            }
        }
    }
    if (need.file) {
        check_capabilities(p, kernel, &need);
        withdraw_advice(p, kernel);
    }
}

void kernel_device_check(struct kernel_project *p) {
    const struct toml_node *all = toml_find(p->build, "/kernel");
    const char *name;
    json_t *index;
    json_object_foreach(all ? all->children : NULL, name, index) {
        const struct toml_node *kernel = toml_member(p->build, all, name);
        const struct toml_node *backend = json_is_object(kernel->children)
                                              ? toml_member(p->build, kernel, "backend")
                                              : NULL;
        const char *word = backend ? json_string_value(backend->value) : NULL;
        if (word && strcmp(word, "cuda") == 0) {
            check_kernel(p, kernel);
        }
    }
    for (size_t i = 0; i < p->count; i++) {
        if (kernel_project_ends(p->files[i].path, PROJECT_SOURCES PROJECT_HEADERS)) {
            check_forbidden(p, &p->files[i]);
        }
    }
}
