#include "gpu/check/check_input.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/hash.h"
#include "base/shared_bytes.h"
#include "base/strings.h"
#include "base/text.h"
#include "gpu/compile/compile.h"
#include "gpu/source/ptx_text.h"
#include "gpu/source/std_names.h"
#include "protocol/finding.h"
#include "protocol/rpc/frame.h"

#include <fnmatch.h>
#include <unistd.h>

#define OUTSIDE_HINT                                                                     \
    "send the text itself as \"source\", open the file's folder as a workspace root, "   \
    "or "                                                                                \
    "name the folder in include_dirs of the configuration"

#define SPEC_HINT                                                                        \
    "a check spec (k.check.json) describes a run: kernel/validate takes its path, and "  \
    "kernel/check that of the kernel, k.cu"

int check_refuse(struct check_refusal *refusal, int code, enum call_fault fault,
                 const char *reason, const char *hint, const char *fmt, ...) {
    refusal->fault = fault;
    refusal->reason = reason;
    snprintf(refusal->hint, sizeof refusal->hint, "%s", hint ? hint : "");
    text_format(refusal->message, fmt);
    return code;
}

static int refuse_errno(struct check_refusal *refusal, int code, const char *words) {
    switch (code) {
    case -EXDEV:
    case -EACCES:
    case -ELOOP:
        return check_refuse(refusal, code, CALL_REFUSED, "outside_roots", OUTSIDE_HINT,
                            "%s", words);
    case -ENOENT:
    case -ENOTDIR:
        return check_refuse(refusal, code, CALL_NOT_FOUND, "no_file", NULL, "%s", words);
    case -EFBIG:
    case -E2BIG:
    case -EMSGSIZE:
        return check_refuse(refusal, code, CALL_BAD_PARAMS, "too_large", NULL, "%s",
                            words);
    case -EINVAL:
    case -EISDIR:
    case -EEXIST:
    case -EBADMSG:
        return check_refuse(refusal, code, CALL_BAD_PARAMS, "bad_source", NULL, "%s",
                            words);
    default:
        return check_refuse(refusal, code, CALL_INTERNAL, "io", NULL, "%s", words);
    }
}

/* --- the launch --- */

/* [x, y, z] of an integer or of a list of one to three; NULL when there is nothing. */
static json_t *extent_read(const json_t *value) {
    if (!json_is_integer(value) && json_array_size(value) == 0) {
        return NULL;
    }
    json_t *extent = json_array();
    for (size_t i = 0; i < 3; i++) {
        const json_t *n = json_is_array(value) ? json_array_get(value, i)
                          : i == 0             ? value
                                               : NULL;
        json_array_append_new(extent, json_integer(n ? json_integer_value(n) : 1));
    }
    return extent;
}

static json_t *launch_read(const json_t *params) {
    const json_t *launch = json_object_get(params, "launch");
    json_t *block = extent_read(json_object_get(launch, "block"));
    if (!block) {
        return NULL;
    }
    json_t *ret = json_pack("{s:o, s:I}", "block", block, "dynamic_shared_bytes",
                            json_get_integer(launch, "dynamic_shared_bytes", 0));
    json_t *cluster = extent_read(json_object_get(launch, "cluster"));
    if (cluster) {
        json_object_set_new(ret, "cluster", cluster);
    }
    return ret;
}

/* --- where files come from --- */

static void add_normalized(struct strings *folders, const char *const *list) {
    for (; list && *list; list++) {
        strings_add(folders, path_normalize(*list));
    }
}

static bool is_beneath_any(const char *path, const struct strings *roots) {
    return any_of(i, 0, roots->count, path_is_beneath(path, roots->list[i]));
}

/* Absolute and normalised; relative ones are meant from the first root. NULL: no root. */
static char *absolute_path(const char *path, const struct strings *roots) {
    if (path[0] != '/' && !roots->count) {
        return NULL;
    }
    return path_resolve(roots->list[0], path);
}

/* The value of an nvcc option that names an include folder, or NULL. *next: it is the
 * list's next element. */
static const char *include_option(const char *option, bool *next) {
    static const char *const names[] = {"-isystem", "--system-include", "--include-path",
                                        "-I"};
    *next = false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t len = strlen(names[i]);
        if (strncmp(option, names[i], len) == 0) {
            const char *value = option + len + strspn(option + len, "= ");
            *next = !*value;
            return value;
        }
    }
    return NULL;
}

/* A toolkit's folder: the compiler brings its own headers. */
static bool has_cuda_headers(const char *dir) {
    autofree char *header = path_join(dir, "cuda_runtime.h");
    return access(header, F_OK) == 0;
}

void check_input_move_folders(json_t *asked) {
    const json_t *options = json_object_get(asked, "options");
    json_t *left = json_array();
    json_t *dirs = json_copy(json_object_get(asked, "include_roots"));
    dirs = dirs ? dirs : json_array();
    for (size_t i = 0; i < json_array_size(options); i++) {
        bool next = false;
        json_t *option = json_array_get(options, i);
        const char *text = json_string_value(option);
        const char *dir = text ? include_option(text, &next) : NULL;
        if (dir && next) {
            dir = json_string_value(json_array_get(options, ++i));
        }
        if (!dir) {
            json_array_append(left, option);
        } else if (!has_cuda_headers(dir)) {
            json_array_append_new(dirs, json_string(dir));
        }
    }
    json_object_set_new(asked, "options", left);
    json_object_set_new(asked, "include_roots", dirs);
}

/* The request's own include folders, each beneath a root. */
static int include_roots_read(const json_t *params, const struct strings *roots,
                              struct strings *dirs, struct check_refusal *refusal) {
    const json_t *list = json_object_get(params, "include_roots");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        autofree char *path = absolute_path(name, roots);
        if (!path || !is_beneath_any(path, roots)) {
            return check_refuse(
                refusal, -EXDEV, CALL_REFUSED, "outside_roots", OUTSIDE_HINT,
                "include_roots: \"%s\" is outside the folders this daemon may "
                "read",
                name);
        }
        strings_add(dirs, take(path));
    }
    return 0;
}

/* --- the sources --- */

static int closure_from_text(const json_t *params, const struct strings *roots,
                             const struct include_options *options,
                             struct include_closure *ret, struct err *err) {
    const json_t *source = json_object_get(params, "source");
    const char *path = json_get_string(params, "path", NULL);
    autofree char *whole = path ? absolute_path(path, roots) : NULL;
    autofree char *dir = whole          ? path_folder(whole)
                         : roots->count ? xstrdup(roots->list[0])
                                        : NULL;
    const char *text = json_string_value(source);
    size_t len = json_string_length(source);
    const char *usual = ptx_text_is(text, len) ? "kernel.ptx" : "kernel.cu";
    const char *display = path ? path : json_get_string(params, "name", usual);
    return include_closure_build(dir, display, text, len, options, ret, err);
}

static int closure_from_file(const json_t *params, const struct strings *roots,
                             const struct include_options *options,
                             struct include_closure *ret, struct check_refusal *refusal) {
    struct err err = {0};
    const char *path = json_get_string(params, "path", "");
    autofree char *whole = absolute_path(path, roots);
    if (fnmatch("*.json", path, 0) == 0) {
        return check_refuse(refusal, -EINVAL, CALL_BAD_PARAMS, "not_cuda", SPEC_HINT,
                            "%s is JSON, not CUDA source", path);
    }
    if (!whole || !is_beneath_any(whole, roots)) {
        return check_refuse(refusal, -EXDEV, CALL_REFUSED, "outside_roots", OUTSIDE_HINT,
                            "\"%s\" is outside the folders this daemon may read", path);
    }
    int r = include_closure_build(whole, path, NULL, 0, options, ret, &err);
    return r < 0 ? refuse_errno(refusal, r, err.msg) : 0;
}

static int closure_read(struct check_input *ret, const json_t *params, size_t script_unit,
                        const struct strings *roots, const struct check_places *places,
                        struct check_refusal *refusal) {
    autostrings dirs = {0};
    int r = include_roots_read(params, roots, &dirs, refusal);
    if (r < 0) {
        return r;
    }
    add_normalized(&dirs, places->include_dirs);
    static const char *const none[] = {NULL};
    struct include_options options = {
        .roots = roots->count ? (const char *const *)roots->list : none,
        .include_dirs = dirs.count ? (const char *const *)dirs.list : none,
        .headers = json_object_get(params, "headers"),
        .script_unit = script_unit,
    };
    if (!json_object_get(params, "source")) {
        return closure_from_file(params, roots, &options, &ret->closure, refusal);
    }
    struct err err = {0};
    r = closure_from_text(params, roots, &options, &ret->closure, &err);
    return r < 0 ? refuse_errno(refusal, r, err.msg) : 0;
}

/* cuda.h (for CUtensorMap) declares host functions; NVRTC takes it only when functions
 * without an execution space are device code. Seeing it where it is only mentioned does
 * no harm. */
static bool includes_driver(const struct source_set *sources) {
    static const char *const names[] = {"<cuda.h>", "\"cuda.h\"", "cudaTypedefs.h"};
    for (size_t i = 0; i < sources->count; i++) {
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            if (memmem(sources->files[i].text, sources->files[i].len, names[k],
                       strlen(names[k]))) {
                return true;
            }
        }
    }
    return false;
}

/* --- the digest --- */

static void hash_string(struct hash *h, const char *s) {
    hash_add_field(h, s ? s : "", s ? strlen(s) : 0);
}

static void hash_strings(struct hash *h, char *const *list) {
    for (; list && *list; list++) {
        hash_string(h, *list);
    }
    hash_string(h, NULL);
}

static void hash_json(struct hash *h, const json_t *value) {
    char *text =
        value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    hash_string(h, text);
    free(text);
}

/* Of what was read. What check_input_prepare makes of it follows from that. */
static void key_make(struct check_input *input, const char *compiler) {
    struct hash h;
    hash_init(&h);
    hash_string(&h, "kernel/check 4 " UPSKILLD_VERSION);
    hash_string(&h, compiler);
    autojson *options = compile_options_to_json(&input->options);
    hash_json(&h, options);
    const struct source_set *sources = &input->closure.sources;
    list_each(i, file, sources->files, sources->count) {
        hash_string(&h, file->path);
        hash_string(&h, file->display);
        hash_add_field(&h, file->text, file->len);
        /* Fixes quote the text as it was, and their places depend on it. */
        hash_add_field(&h, file->original ? file->original : "",
                       file->original ? file->len : 0);
    }
    hash_strings(&h, input->closure.include_dirs);
    hash_strings(&h, input->instantiate);
    hash_json(&h, input->closure.findings);
    hash_json(&h, input->flags);
    hash_hex(&h, input->key);
}

/* "k<4>(int*)": the parameters' types choose among kernels of one name. */
static void instantiate(struct source_set *sources, char *const *kernels) {
    for (; kernels && *kernels; kernels++) {
        const char *name = *kernels, *angle = strrchr(name, '>');
        const char *list = angle ? strchr(angle, '(') : NULL;
        size_t len = list ? (size_t)(list - name) : strlen(name);
        autofree char *line =
            xasprintf("\nstatic_assert(%s%s%s&%.*s, \"\");", list ? "(void (*)" : "",
                      list ? list : "", list ? ")" : "", (int)len, name);
        source_set_append(sources, line);
    }
}

/* -DKERNEL=__global__, which the compiler alone reads. */
static bool defines_a_space(json_t *defines) {
    json_each_member(defines, name, value) {
        const char *text = json_string_value(value);
        if (text && (strstr(text, "global") || strstr(text, "device"))) {
            return true;
        }
    }
    return false;
}

/* --- the project's flags --- */

/* The request's own folders are looked in first. */
static void add_folders(json_t *asked, const json_t *flags) {
    const json_t *more = json_object_get(flags, "include_roots");
    json_t *roots = json_copy(json_object_get(asked, "include_roots"));
    roots = roots ? roots : json_array();
    json_array_extend(roots, (json_t *)(uintptr_t)more);
    json_object_set_new(asked, "include_roots", roots);
}

/* A project's flags that conflict, such as too many macros, are reported and left out. */
static int options_read(struct compile_options *ret, const char *arch,
                        const json_t *flags, const json_t *asked, json_t *findings,
                        struct err *err) {
    int r = compile_options_read(ret, arch, flags, asked, err);
    if (r == 0 || !flags || compile_options_read(ret, arch, NULL, asked, NULL) < 0) {
        return r;
    }
    project_flags_complain(findings, "the project's flags", err->msg);
    return 0;
}

static json_t *take_flags(json_t *asked, const struct strings *roots,
                          const struct check_places *places, json_t *findings) {
    const char *path = json_get_string(asked, "path", NULL);
    autofree char *whole = path ? absolute_path(path, roots) : NULL;
    const struct project_places project = {.roots = (const char *const *)roots->list,
                                           .commands = places->commands,
                                           .settings = places->settings,
                                           .known_keys = places->known_keys};
    json_t *flags =
        whole && places->commands ? project_flags_read(&project, whole, findings) : NULL;
    if (flags) {
        add_folders(asked, flags);
    }
    return flags;
}

/* --- the text --- */

static void ptx_refuse(struct check_input *ret, const struct source_file *file, size_t from,
                       size_t to, const char *code, const char *message) {
    const struct finding_span span = finding_span_in(file->text, file->len, from, to);
    json_array_append_new(
        ret->closure.findings,
        finding_new("upskilld", code, FINDING_ERROR, message, file->display, &span));
}

/* What the compiler is told in the place of .version, .target and .address_size would
 * hide it. */
static void ptx_look_at_head(struct check_input *ret, const struct source_file *file,
                             const struct ptx_head *head) {
    size_t bits = head->size_end - head->size_at;
    if (!head->has_version) {
        ptx_refuse(ret, file, head->start, head->start + strlen(".version"),
                   "ptx_version",
                   "this is not a version of PTX; one is written as in .version 9.0");
    }
    if (!ptx_target_suits(head->target, ret->options.arch)) {
        autofree char *message = xasprintf("this PTX is for %s and does not run on %s: "
                                           "compile it for %s, or name another arch",
                                           *head->target ? head->target : "no target",
                                           ret->options.arch, ret->options.arch);
        ptx_refuse(ret, file, head->target_at, head->target_end, "ptx_target", message);
    }
    if (bits && (bits != 2 || memcmp(file->text + head->size_at, "64", 2) != 0)) {
        ptx_refuse(ret, file, head->size_at, head->size_end, "ptx_target",
                   "kernels here have addresses of 64 bits: make PTX with "
                   ".address_size 64");
    }
}

static int ptx_read(struct check_input *ret, const struct source_file *file,
                    struct check_refusal *refusal) {
    struct ptx_head head;
    if (!ptx_head_read(&head, file->text, file->len)) {
        return check_refuse(refusal, -EINVAL, CALL_BAD_PARAMS, "bad_source", NULL,
                            "%s does not begin with .version, as PTX does",
                            file->display);
    }
    ret->is_ptx = ret->has_device_code = true;
    ret->options.line_info = false; /* what lines it has are its own */
    ptx_look_at_head(ret, file, &head);
    return 0;
}

void check_input_prepare(struct check_input *ret) {
    struct host_code host = {0};
    if (ret->is_ptx) {
        return;
    }
    ret->closure.sources.default_device = ret->options.default_device;
    host_code_blank_sources(&ret->closure.sources, &host, &ret->guesses);
    include_closure_find_prefix(&ret->closure);
    ret->host_stripped = host.has_host_code;
    ret->host_left_out = host.leaves_code_out;
    ret->has_device_code = host.has_device_code;
    ret->may_hide_device_code =
        host.may_hide_device_code || defines_a_space(ret->options.defines);
    ret->options.default_device |=
        host.needs_default_device || includes_driver(&ret->closure.sources);
    if (!ret->options.std_given && std_names_designators(&ret->closure.sources)) {
        strcpy(ret->options.std, "c++20");
    }
    if (strcmp(ret->options.std, "c++17") >= 0) {
        ret->options.shims =
            std_names_wanted(&ret->closure.sources, ret->options.relaxed_constexpr);
    }
    instantiate(&ret->closure.sources, ret->instantiate);
    host_code_finish(&host);
}

static int text_read(struct check_input *ret, struct check_refusal *refusal) {
    const struct source_file *file = &ret->closure.sources.files[0];
    const char *given = file->original ? file->original : file->text;
    if (file->len > 1 &&
        (!memcmp(given, "\xff\xfe", 2) || !memcmp(given, "\xfe\xff", 2))) {
        return check_refuse(refusal, -EINVAL, CALL_BAD_PARAMS, "bad_source", NULL,
                            "%s is UTF-16: save it as UTF-8", file->display);
    }
    if (memchr(given, '\0', file->len) && !text_is_utf8(given, file->len)) {
        return check_refuse(refusal, -EINVAL, CALL_BAD_PARAMS, "bad_source",
                            "name the source that it was made from",
                            "%s is a binary file, not CUDA source", file->display);
    }
    if (ptx_path_is(file->display) || ptx_text_is(file->text, file->len)) {
        return ptx_read(ret, file, refusal);
    }
    return 0;
}

/* Of those that this request gives: a project's are for its sources. */
static void tell_unused(const struct check_input *input, const json_t *params) {
    static const char *const keys[] = {"defines", "std", "headers"};
    for (size_t i = 0; input->is_ptx && i < ARRAY_LEN(keys); i++) {
        if (json_object_get(params, keys[i])) {
            project_flags_complain(input->closure.findings, keys[i],
                                   "PTX has no preprocessor, it is compiled already");
        }
    }
}

/* A project's -ptx is for its own builds. */
static bool asks_for_ptx(const json_t *params) {
    return json_get_bool(params, "ptx", 0) ||
           json_has_text(json_object_get(params, "options"), "-ptx");
}

int check_input_read(struct check_input *ret, const json_t *params,
                     const struct check_wants *wants, const char *const *origin_roots,
                     const struct check_places *places, struct check_refusal *refusal) {
    struct err err = {0};
    autostrings roots = {0};
    add_normalized(&roots, origin_roots);
    add_normalized(&roots, places->include_dirs);
    *ret = (struct check_input){0};
    autojson *asked = json_copy((json_t *)(uintptr_t)params);
    if (json_array_size(json_object_get(asked, "options"))) {
        check_input_move_folders(asked);
    }
    autojson *findings = json_array();
    autojson *flags = take_flags(asked, &roots, places, findings);
    int r = options_read(&ret->options, places->default_arch, flags, asked, findings, &err);
    if (r < 0) {
        return check_refuse(refusal, r, CALL_BAD_PARAMS, "bad_option", NULL, "%s",
                            err.msg);
    }
    r = closure_read(ret, asked, wants ? wants->script_unit : 0, &roots, places, refusal);
    if (r < 0) {
        compile_options_finish(&ret->options);
        return r;
    }
    json_array_extend(ret->closure.findings, findings);
    ret->flags = json_incref(flags);
    ret->options.want_ptx = (wants && wants->ptx) || asks_for_ptx(params);
    ret->options.want_cubin = wants && wants->cubin;
    ret->options.line_info |= wants && wants->ptx;
    r = text_read(ret, refusal);
    if (r < 0) {
        check_input_finish(ret);
        return r;
    }
    tell_unused(ret, params);
    ret->instantiate = wants ? strings_copy(wants->instantiate) : NULL;
    ret->launch = launch_read(params);
    key_make(ret, places->compiler);
    return 0;
}

void check_input_finish(struct check_input *input) {
    compile_options_finish(&input->options);
    include_closure_finish(&input->closure);
    host_guesses_finish(&input->guesses);
    strings_free(input->instantiate);
    json_decref(input->launch);
    json_decref(input->flags);
}

/* --- the worker's request --- */

#define COMPILE_MEMORY_BYTES ((size_t)6 << 30)

json_t *check_input_params(const struct check_input *input, unsigned wall_ms) {
    const struct compile_job job = {
        .include_dirs = input->closure.include_dirs,
        .options = input->options,
        .prefix = input->closure.prefix,
        .limits = {.wall_ms = wall_ms,
                   .cpu_s = wall_ms / 1000 + 10,
                   .memory_bytes = COMPILE_MEMORY_BYTES},
    };
    return compile_job_to_json(&job);
}

struct shared_bytes *check_input_sources(const struct check_input *input) {
    autobuf text = BUF_INIT(FRAME_MAX_BODY);
    autojson *json = source_set_to_json(&input->closure.sources);
    return json_write(&text, json) == 0 ? shared_bytes_new(&text) : NULL;
}
