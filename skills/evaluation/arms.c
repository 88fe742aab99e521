#include "skills/evaluation/arms.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"
#include "skills/format/skill.h"
#include "skills/format/tokens.h"
#include "skills/grading/suite.h"
#include "skills/placebo_prose.h"

/* Says how to answer, never what: it must help no arm more than another. */
#include "skills/arm_texts.h"

static const char *const names[ARM_KINDS] = {"baseline", "skill", "placebo", "previous",
                                             "trace"};

const char *arm_name(enum arm_kind kind) {
    return names[kind];
}

/* --- a skill's text --- */

static bool is_reference(const char *path) {
    const char *dot = strrchr(path, '.');
    return strncmp(path, "references/", 11) == 0 && dot &&
           (strcmp(dot, ".md") == 0 || strcmp(dot, ".txt") == 0);
}

/* Returns the tokens that were added; 0 when it is too long or no text. */
static size_t add_reference(const struct skill *s, const char *path, size_t left,
                            struct buf *out) {
    autobuf text = BUF_INIT(SKILL_MAX_TEXT);
    if (skill_read_file(s->folder, path, &text, NULL) < 0 ||
        !text_is_utf8(text.data, text.len)) {
        return 0;
    }
    size_t tokens = tokens_estimate(text.data, text.len);
    if (!tokens || tokens > ARM_REFERENCE_TOKENS || tokens > left) {
        return 0;
    }
    buf_addf(out, "\n\n<file path=\"%s\">\n", path);
    text_clean(out, text.data, text.len);
    buf_adds(out, "\n</file>");
    return tokens;
}

/* Files that tell something about the skill rather than to its reader. */
static bool is_about(const char *path) {
    return strcasecmp(path, "SKILL.md") == 0 || skill_holds_tests(path) ||
           strncasecmp(path, "LICENSE", 7) == 0;
}

void arm_skill_text(const struct skill *s, struct buf *out) {
    autobuf others = BUF_INIT(ARM_MAX_TEXT);
    size_t left = ARM_REFERENCES_TOKENS;
    text_clean(out, s->text.text + s->text.body, s->text.len - s->text.body);
    for (size_t i = 0; i < s->file_count; i++) {
        const char *path = s->files[i].path;
        size_t used = is_reference(path) ? add_reference(s, path, left, out) : 0;
        left -= used;
        if (!used && !is_about(path)) {
            buf_adds(&others, "\n- ");
            text_clean(&others, path, strlen(path));
        }
    }
    if (others.len) {
        buf_adds(out, "\n\nFurther files of this skill, not shown here:");
        buf_add(out, others.data, others.len);
    }
}

/* --- the placebo --- */

/* The end of the sentence or heading that begins at s. */
static size_t sentence_end(const char *s) {
    const char *end = s;
    while (*end && *end != '\n' && !(*end == '.' && (end[1] == ' ' || !end[1]))) {
        end++;
    }
    while (*end == '.' || *end == ' ' || *end == '\n') {
        end++;
    }
    return (size_t)(end - s);
}

/* Add a paragraph's sentences while there is room; false when the room is used. */
static bool add_paragraph(struct buf *out, const char *s, size_t tokens, size_t *used) {
    while (*s && *used < tokens) {
        size_t len = sentence_end(s);
        if (buf_add(out, s, len) < 0) {
            return false;
        }
        *used += tokens_estimate(s, len);
        s += len;
    }
    buf_adds(out, "\n\n");
    return *used < tokens;
}

void placebo_text(struct buf *out, size_t tokens) {
    size_t used = 0, i = 0;
    while (add_paragraph(out, placebo_prose[i], tokens ? tokens : 1, &used)) {
        i = placebo_prose[i + 1] ? i + 1 : 0;
    }
}

/* --- the arms --- */

static void digest(struct arm *arm) {
    struct hash h;
    char hex[HASH_HEX_SIZE];
    const char *before = arm->before ? arm->before : "";
    hash_init(&h);
    hash_add_field(&h, arm->system, strlen(arm->system));
    hash_add_field(&h, before, strlen(before));
    if (arm->tool) {
        hash_add_field(&h, arm->tool, strlen(arm->tool));
    }
    hash_hex(&h, hex);
    snprintf(arm->digest, sizeof arm->digest, "sha256:%s", hex);
}

void arm_baseline(struct arm *ret) {
    *ret = (struct arm){.kind = ARM_BASELINE, .system = xstrdup(neutral)};
    digest(ret);
}

void arm_framed(struct arm *ret, enum arm_kind kind, const char *name, const char *text,
                size_t len) {
    autobuf system = BUF_INIT(ARM_MAX_TEXT);
    buf_adds(&system, neutral);
    size_t start = system.len;
    buf_adds(&system, skill_opening);
    text_clean(&system, name, strlen(name));
    buf_adds(&system, "\">\n");
    buf_add(&system, text, text_cut(text, len, ARM_MAX_TEXT / 2));
    buf_adds(&system, "\n</skill>");
    *ret = (struct arm){.kind = kind,
                        .added_tokens =
                            tokens_estimate(system.data + start, system.len - start)};
    ret->system = buf_detach(&system);
    digest(ret);
}

void arm_placebo(struct arm *ret, const struct arm *like) {
    struct arm frame;
    autobuf text = BUF_INIT(ARM_MAX_TEXT);
    arm_framed(&frame, ARM_PLACEBO, PLACEBO_NAME, "", 0);
    size_t frame_tokens = frame.added_tokens;
    arm_finish(&frame);
    placebo_text(
        &text, like->added_tokens > frame_tokens ? like->added_tokens - frame_tokens : 0);
    arm_framed(ret, ARM_PLACEBO, PLACEBO_NAME, text.data, text.len);
}

/* The longest beginning of text with at most `tokens` tokens, found by halving. */
static size_t cut_to_tokens(const char *text, size_t len, size_t tokens) {
    size_t low = 0, high = len;
    if (tokens_estimate(text, len) <= tokens) {
        return len;
    }
    while (high - low > 16) {
        size_t middle = text_cut(text, len, low + (high - low) / 2);
        *(tokens_estimate(text, middle) <= tokens ? &low : &high) = middle;
    }
    return low;
}

void arm_trace(struct arm *ret, const char *text, size_t len) {
    autobuf clean = BUF_INIT(ARM_MAX_TEXT), before = BUF_INIT(ARM_MAX_TEXT);
    text_clean(&clean, text, text_cut(text, len, ARM_MAX_TEXT / 4));
    arm_baseline(ret);
    ret->kind = ARM_TRACE;
    buf_adds(&before, trace_opening);
    buf_add(&before, clean.data, cut_to_tokens(clean.data, clean.len, ARM_TRACE_TOKENS));
    buf_adds(&before, "\n</context>\n\n");
    ret->added_tokens = tokens_estimate(before.data, before.len);
    ret->before = buf_detach(&before);
    digest(ret);
}

void arm_offering(struct arm *ret, enum arm_kind kind, const char *name, const char *tool,
                  json_t *takes) {
    *ret = (struct arm){.kind = kind,
                        .system = xstrdup(neutral),
                        .tool_name = name,
                        .tool = xstrdup(tool),
                        .tool_takes = takes,
                        .added_tokens = tokens_estimate(tool, strlen(tool))};
    digest(ret);
}

void arm_again(struct arm *ret, const struct arm *first) {
    *ret =
        (struct arm){.kind = ARM_SKILL, .system = xstrdup(first->system), .again = true};
    ret->before = first->before ? xstrdup(first->before) : NULL;
    digest(ret);
}

void arm_finish(struct arm *arm) {
    free(arm->system);
    free(arm->before);
    free(arm->tool);
    json_decref(arm->tool_takes);
    *arm = (struct arm){0};
}

/* --- the question --- */

void arm_question(const struct arm *arm, const struct test_case *test, bool with_files,
                  struct buf *out) {
    json_t *files = with_files ? (json_t *)(uintptr_t)test->files : NULL;
    buf_adds(out, arm->before ? arm->before : "");
    buf_adds(out, test->input);
    json_each_member(files, name, text) {
        buf_addf(out, "\n\n<file name=\"%s\">\n", name);
        buf_add(out, json_string_value(text), json_string_length(text));
        buf_adds(out, "\n</file>");
    }
}
