#include "skills/check/skill_check.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/work.h"
#include "protocol/finding.h"
#include "skills/check/check_report.h"
#include "skills/check/code_block.h"
#include "skills/check/cuda_block.h"
#include "skills/format/tokens.h"
#include "skills/kernel_project/build_toml.h"

#include "skills/check_words_table.h"

#define MAX_CUDA_BLOCKS 64        /* compiled per skill */
#define MAX_AT_ONCE 4             /* the workers' own queue does the rest */
#define MAX_READ_BYTES (4u << 20) /* of one file besides SKILL.md */

enum code_block_state { BLOCK_WAITING, BLOCK_RUNNING, BLOCK_ENDED };
struct cuda_block {
    struct skill_check *check;
    char *file, *source;
    int line;     /* of the source's first line in the file */
    size_t inset; /* code_block_inset */
    enum code_block_state state;
    void *handle;
};

struct skill_check {
    struct work *work; /* or NULL */
    const struct call_origin *origin;
    const struct skill_grader *grader; /* or NULL */
    char *folder, *name, *text;
    size_t len;
    enum skill_check_mode mode;
    bool typing;
    json_t *suppress;
    skill_check_done *done;
    void *data;

    bool cancelled;
    json_t *findings, *allowed;
    size_t body_tokens, catalogue_tokens;
    struct cuda_block *blocks;
    size_t block_count, blocks_left_out, running, next;
    bool starting;    /* inside start_blocks */
    char *uncompiled; /* why the block of the finding at uncompiled_at was not */
    size_t uncompiled_at;
    unsigned uncompiled_count;
};

/* --- on a thread of the pool --- */

static void add_finding(struct skill_check *c, const char *code,
                        enum finding_severity severity, const char *file, int line,
                        const char *message) {
    json_array_append_new(c->findings, finding_new("skill", code, severity, message, file,
                                                   &(struct finding_span){.line = line}));
}

static bool is_markdown(const char *path) {
    return strings_end(markdown_endings, path);
}

static bool is_prose(const char *path) {
    return strings_end(prose_endings, path);
}

static bool looks_like_build_toml(const char *text) {
    static const char *const heads[] = {"[general", "[torch", "[kernel.", "[tvm-ffi"};
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\r\n \t");
        for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
            if (strncmp(line, heads[i], strlen(heads[i])) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void add_cuda_block(struct skill_check *c, const char *file,
                           const struct markdown_code *code, size_t inset) {
    const char *fragment = cuda_block_fragment(code->text);
    if (fragment) {
        autofree char *message = xasprintf("not compiled: a fragment (%s)", fragment);
        add_finding(c, "cuda_block_fragment", FINDING_INFO, file, code->fence_line,
                    message);
    } else if (c->block_count == MAX_CUDA_BLOCKS) {
        c->blocks_left_out++;
    } else {
        c->blocks = xreallocarray(c->blocks, c->block_count + 1, sizeof *c->blocks);
        c->blocks[c->block_count++] = (struct cuda_block){.check = c,
                                                          .file = xstrdup(file),
                                                          .source = xstrdup(code->text),
                                                          .line = code->line,
                                                          .inset = inset};
    }
}

static void check_markdown(struct skill_check *c, const char *file, const char *text,
                           size_t len, int first_line) {
    struct markdown m;
    markdown_read(&m, text, len, first_line);
    for (size_t i = 0; i < m.code_count && !work_is_stopped(); i++) {
        const struct markdown_code *code = &m.codes[i];
        if (cuda_block_is(code)) {
            if (!c->typing) {
                add_cuda_block(c, file, code,
                               code_block_inset(code, text, len, first_line));
            }
        } else if (strcmp(code->language, "toml") == 0 &&
                   looks_like_build_toml(code->text)) {
            size_t from = json_array_size(c->findings);
            build_toml_check(file, code->text, code_block_length(code, text, len),
                             code->line, c->findings);
            code_block_move(c->findings, from,
                            code_block_inset(code, text, len, first_line));
        }
    }
    markdown_finish(&m);
}

static void check_prose(struct skill_check *c, const char *file, const char *text,
                        size_t len) {
    check_read_allowances(file, text, len, c->allowed, c->findings);
    hardware_facts_check(file, text, len, 1, c->findings);
}

static void check_skill_text(struct skill_check *c, const struct skill *s) {
    const struct skill_text *t = &s->text;
    autobuf catalogue = BUF_INIT(1u << 20);
    check_prose(c, "SKILL.md", t->text, t->len);
    check_markdown(c, "SKILL.md", t->text + t->body, t->len - t->body, t->body_line);
    buf_addf(&catalogue, "%s: %s", t->name ? t->name : "",
             t->description ? t->description : "");
    c->body_tokens = tokens_estimate(t->text + t->body, t->len - t->body);
    c->catalogue_tokens = tokens_estimate(catalogue.data, catalogue.len);
}

static void check_file(struct skill_check *c, const struct root *root, const char *path) {
    bool toml = strcmp(path_basename(path), "build.toml") == 0;
    /* A project in the skill's own folder was checked as a whole already. */
    if ((!is_prose(path) && !toml) || (toml && strcmp(path, "build.toml") == 0)) {
        return;
    }
    autobuf text = BUF_INIT(MAX_READ_BYTES);
    struct err err = {0};
    if (root_read(root, path, &text, &err) < 0) {
        add_finding(c, "file_unreadable", FINDING_WARNING, path, 1, err.msg);
    } else if (toml) {
        build_toml_check(path, text.data, text.len, 1, c->findings);
        build_toml_drop_foreign(c->findings);
    } else {
        check_prose(c, path, text.data, text.len);
        if (is_markdown(path)) {
            check_markdown(c, path, text.data, text.len, 1);
        }
    }
}

static void check_files(struct skill_check *c, const struct skill *s) {
    struct root root;
    struct err err = {0};
    if (root_open(&root, s->folder, &err) < 0) {
        add_finding(c, "skill_unreadable", FINDING_ERROR, NULL, 0, err.msg);
        return;
    }
    for (size_t i = 0; i < s->file_count && !work_is_stopped(); i++) {
        const char *path = s->files[i].path;
        if (strcmp(path, "build.toml") == 0) {
            kernel_project_check(s->folder, c->findings);
        } else if (strcasecmp(path, "SKILL.md") != 0) {
            check_file(c, &root, path);
        }
    }
    root_close(&root);
}

static void rename_text(json_t *findings, const char *name) {
    json_each(findings, i, finding) {
        if (json_says(finding, "file", "SKILL.md")) {
            json_object_set_new(finding, "file", json_clean_z(name));
        }
        json_each(json_object_get(finding, "fixes"), k, fix) {
            json_each(json_object_get(fix, "edits"), e, edit) {
                if (json_says(edit, "file", "SKILL.md")) {
                    json_object_set_new(edit, "file", json_clean_z(name));
                }
            }
        }
    }
}

static void check_all(struct skill_check *c, const struct skill *s) {
    spec_rules_check(s, c->mode, c->findings);
    if (!work_is_stopped()) {
        const struct skill text_alone = {.text = s->text};
        safety_rules_check(c->typing ? &text_alone : s, c->findings);
    }
    if (!work_is_stopped()) {
        check_skill_text(c, s);
    }
    if (s->folder && !c->typing && !work_is_stopped()) {
        check_files(c, s);
    }
}

static void read_and_check(void *data) {
    struct skill_check *c = data;
    struct skill skill = {0};
    struct err err = {0};
    if (c->folder) {
        int rc = skill_open(&skill, c->folder, false, &err);
        if (rc < 0) {
            add_finding(c, rc == -ENOENT ? "skill_md_missing" : "skill_unreadable",
                        FINDING_ERROR, NULL, 0, err.msg);
            return;
        }
    }
    if (c->text) {
        skill_text_finish(&skill.text);
        skill_text_read(&skill.text, c->text, c->len);
    }
    check_all(c, &skill);
    skill_finish(&skill);
}

/* --- on the loop --- */

static void check_free(struct skill_check *c) {
    for (size_t i = 0; i < c->block_count; i++) {
        free(c->blocks[i].file);
        free(c->blocks[i].source);
    }
    free(c->blocks);
    free(c->folder);
    free(c->name);
    free(c->text);
    free(c->uncompiled);
    json_decref(c->suppress);
    json_decref(c->findings);
    json_decref(c->allowed);
    free(c);
}

static void finish(struct skill_check *c) {
    json_t *result = NULL;
    if (!c->cancelled) {
        if (c->blocks_left_out) {
            autofree char *message = xasprintf(
                "%zu more CUDA blocks were not compiled: the skill has more than %d",
                c->blocks_left_out, MAX_CUDA_BLOCKS);
            add_finding(c, "cuda_blocks_left_out", FINDING_WARNING, NULL, 0, message);
        }
        result = check_result(take(c->findings), c->allowed, c->suppress, c->mode,
                              c->body_tokens, c->catalogue_tokens);
        if (!c->folder && c->name) {
            rename_text(json_object_get(result, "findings"), c->name);
        }
    }
    c->done(c, result, c->data);
    check_free(c);
}

static void shift_place(json_t *object, const char *file, int shift) {
    static const char *const keys[] = {"line", "end_line"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_int_t line = json_get_integer(object, keys[i], 0);
        if (line > 0) {
            json_object_set_new(object, keys[i], json_integer(line + shift));
        }
    }
    json_object_set_new(object, "file", json_clean_z(file));
}

static void shift_fixes(json_t *finding, const char *file, int shift) {
    json_each(json_object_get(finding, "fixes"), i, fix) {
        json_each(json_object_get(fix, "edits"), k, edit) {
            shift_place(edit, file, shift);
        }
    }
}

static bool is_of_block(const json_t *object, const char *name) {
    const char *file = json_get_string(object, "file", name);
    return strcmp(file, name) == 0;
}

static void take_block_finding(struct cuda_block *b, json_t *finding) {
    struct skill_check *c = b->check;
    int shift = b->line - 1;
    json_each(json_object_get(finding, "related"), i, related) {
        if (is_of_block(related, "block.cu")) {
            shift_place(related, b->file, shift);
        }
    }
    shift_fixes(finding, b->file, shift);
    if (json_get_integer(finding, "line", 0) == 0) {
        json_object_set_new(finding, "line", json_integer(1));
    }
    shift_place(finding, b->file, shift);
    code_block_move_one(finding, b->inset);
    bool error = json_says(finding, "severity", "error");
    if (error && c->mode == SKILL_CHECK_LENIENT) {
        json_object_set_new(finding, "severity",
                            json_string(finding_severity_name(FINDING_WARNING)));
    }
    json_array_append(c->findings, finding);
}

static void start_blocks(struct skill_check *c);

/* A reason that prevents all blocks from being compiled is reported once. */
static void tell_uncompiled(struct skill_check *c, const struct cuda_block *b,
                            const char *message) {
    size_t last = json_array_size(c->findings);
    bool same = c->uncompiled && strcmp(c->uncompiled, message) == 0;
    if (!same) {
        free(c->uncompiled);
        c->uncompiled = xstrdup(message);
        c->uncompiled_at = last;
        c->uncompiled_count = 0;
        add_finding(c, "cuda_block_not_compiled", FINDING_INFO, b->file, b->line,
                    message);
    }
    if (++c->uncompiled_count > 1) {
        autofree char *all = xasprintf("%s (and so are %u more CUDA blocks)", message,
                                       c->uncompiled_count - 1);
        json_object_set_new(json_array_get(c->findings, c->uncompiled_at), "message",
                            json_clean_z(all));
    }
}

/* A finding that only says that nothing was compiled. */
static bool is_of_nothing(const json_t *finding) {
    const char *code = json_get_string(finding, "code", "");
    return strcmp(code, "not_compiled") == 0 || strcmp(code, "no_kernels") == 0;
}

static void on_graded(void *data, json_t *findings, const json_t *, const char *why) {
    struct cuda_block *b = data;
    struct skill_check *c = b->check;
    b->state = BLOCK_ENDED;
    b->handle = NULL;
    c->running--;
    bool parsed = findings && why;
    if (!c->cancelled && !findings) {
        autofree char *message = xasprintf("not compiled: %s", why ? why : "no answer");
        tell_uncompiled(c, b, message);
    } else if (!c->cancelled && parsed) {
        tell_uncompiled(c, b, why);
    }
    json_each(findings, i, finding) {
        if (!parsed || !is_of_nothing(finding)) {
            take_block_finding(b, finding);
        }
    }
    json_decref(findings);
    if (!c->starting) {
        start_blocks(c);
    }
}

static void start_block(struct skill_check *c, struct cuda_block *b) {
    b->state = BLOCK_RUNNING;
    c->running++;
    void *handle =
        c->grader ? c->grader->start(c->origin, "block.cu", b->source, NULL, on_graded, b)
                  : NULL;
    if (b->state == BLOCK_RUNNING) {
        b->handle = handle;
        if (!handle) {
            on_graded(b, NULL, NULL, "no compiler here");
        }
    }
}

/* Ends the check when nothing is left to wait for. */
static void start_blocks(struct skill_check *c) {
    c->starting = true;
    while (!c->cancelled && c->next < c->block_count && c->running < MAX_AT_ONCE) {
        start_block(c, &c->blocks[c->next++]);
    }
    c->starting = false;
    if (c->running == 0) {
        finish(c);
    }
}

static void after_work(void *data) {
    struct skill_check *c = data;
    c->work = NULL;
    start_blocks(c);
}

struct skill_check *skill_check_start(const struct call_origin *origin,
                                      const char *folder, const char *name,
                                      const char *text, size_t len,
                                      enum skill_check_mode mode, const json_t *suppress,
                                      skill_check_done *done, void *data) {
    struct skill_check *c = xcalloc(1, sizeof *c);
    c->origin = origin;
    c->grader = call_lent(origin, SKILL_GRADER_LENT);
    c->folder = folder ? xstrdup(folder) : NULL;
    c->name = name ? xstrdup(name) : NULL;
    if (text) {
        c->text = xmalloc(len + 1);
        memcpy(c->text, text, len);
        c->text[len] = '\0';
        c->len = len;
    }
    c->typing = mode == SKILL_CHECK_TYPING;
    c->mode = c->typing ? SKILL_CHECK_LENIENT : mode;
    c->suppress = suppress ? json_deep_copy(suppress) : NULL;
    c->done = done;
    c->data = data;
    c->findings = json_array();
    c->allowed = json_array();
    c->work = work_start(origin->loop, read_and_check, after_work, c);
    return c;
}

void skill_check_cancel(struct skill_check *c) {
    if (c->cancelled) {
        return;
    }
    c->cancelled = true;
    work_cancel(c->work);
    c->starting = true; /* a grader that answers at once must not end the check in here */
    for (size_t i = 0; i < c->block_count && c->running > 0; i++) {
        if (c->blocks[i].state == BLOCK_RUNNING && c->blocks[i].handle) {
            c->grader->cancel(c->blocks[i].handle);
        }
    }
    c->starting = false;
}
