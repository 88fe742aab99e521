/* The expected outputs of a check spec: "expect". */
#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "gpu/spec/expect_operator.h"
#include "gpu/spec/spec_internal.h"

static int read_reference(struct spec_reader *r, const json_t *kernel) {
    struct kernel_spec *spec = r->spec;
    spec->expect = EXPECT_KERNEL;
    if (!json_is_object(kernel)) {
        return err_set(r->err, -EINVAL, "expect.kernel: an object is expected");
    }
    spec->reference_source = json_get_string(kernel, "source", NULL);
    int n = spec_check_members(r, kernel, KERNEL_SPEC_REFERENCE_KERNEL_MEMBERS,
                               "expect.kernel");
    n = n < 0 ? n
              : spec_read_launches(r, kernel, "expect.kernel.", &spec->reference,
                                   &spec->reference_count);
    if (n < 0 || json_object_get(kernel, "launches")) {
        return n;
    }
    /* Without its own arguments it takes those of the kernel that it replaces. */
    struct spec_launch *own = spec->reference, *first = &spec->launches[0];
    if (!json_object_get(kernel, "args")) {
        spec_launch_finish(own);
        own->args = xcalloc(first->arg_count ? first->arg_count : 1, sizeof *own->args);
        memcpy(own->args, first->args, first->arg_count * sizeof *own->args);
        own->arg_count = first->arg_count;
    }
    if (!json_object_get(kernel, "launch")) {
        own->grid = first->grid;
        own->block = first->block;
        own->cluster = first->cluster;
        own->shared_bytes = first->shared_bytes;
        own->cooperative = first->cooperative;
    }
    return 0;
}

/* The first output that is judged, for an example. */
static const char *an_output(const struct kernel_spec *spec) {
    const struct spec_buffer *found = list_find(
        b, spec->buffers, spec->buffer_count, b->output && b->judged && !b->scratch);
    return found ? found->name : "y";
}

static int refuse_name(struct spec_reader *r, const char *word, const char *name) {
    autobuf outputs = BUF_INIT(256);
    list_each(k, b, r->spec->buffers, r->spec->buffer_count) {
        if (b->output && !b->scratch) {
            buf_addf(&outputs, "%s%.64s", outputs.len ? ", " : "", b->name);
        }
    }
    return err_set(r->err, -ENXIO,
                   "expect.%s.%.64s: there is no output of that name; there is %s", word,
                   name, outputs.len ? outputs.data : "none");
}

static int refuse_list(struct spec_reader *r, const json_t *expected, const char *word) {
    const char *text = json_string_value(expected);
    return text ? err_set(r->err, -EINVAL,
                          "expect.%s: an object by output name is expected; did you mean "
                          "{\"%.64s\": \"%.64s\"}?",
                          word, an_output(r->spec), text)
                : err_set(r->err, -EINVAL,
                          "expect.%s: an object by output name is expected", word);
}

/* "softmax" is an operator's name, "x[i] * 2" an expression. */
static int refuse_text(struct spec_reader *r, const char *text) {
    bool name = text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_.")] == '\0';
    return name ? err_set(r->err, -EINVAL,
                          "expect: an object is expected; did you mean {\"op\": "
                          "\"%.64s\"}?",
                          text)
                : err_set(r->err, -EINVAL,
                          "expect: an object is expected; did you mean {\"expression\": "
                          "{\"%.64s\": \"%.64s\"}}?",
                          an_output(r->spec), text);
}

static int read_expected(struct spec_reader *r, const json_t *expected,
                         enum spec_expect_kind kind) {
    struct kernel_spec *spec = r->spec;
    const char *word = kind == EXPECT_VALUES  ? "values"
                       : kind == EXPECT_FILES ? "files"
                                              : "expression";
    spec->expect = kind;
    spec->expected = expected;
    if (!json_is_object(expected) || !json_object_size(expected)) {
        return refuse_list(r, expected, word);
    }
    json_each_member(expected, name, value) {
        size_t buffer = kernel_spec_buffer(spec, name);
        if (buffer == SIZE_MAX || !spec->buffers[buffer].output ||
            spec->buffers[buffer].scratch) {
            return refuse_name(r, word, name);
        }
        if (!spec->buffers[buffer].judged) {
            return err_set(r->err, -EINVAL,
                           "expect.%s.%.64s: the output has \"judge\": false, so it "
                           "cannot have an expected result: omit one of the two",
                           word, name);
        }
        bool fits = kind == EXPECT_VALUES ? json_is_array(value) : json_is_string(value);
        if (!fits) {
            return err_set(r->err, -EINVAL, "expect.%s.%.64s: %s is expected", word, name,
                           kind == EXPECT_VALUES ? "a flat list of numbers" : "a text");
        }
        char at[96];
        snprintf(at, sizeof at, "expect.%s.%.64s", word, name);
        int n = kind == EXPECT_FILES ? spec_read_array(r, value, buffer, true, at)
                : json_array_size(value)
                    ? spec_check_values(r, spec->buffers[buffer].type, value, at)
                    : 0;
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* {"op": "softmax", …}: the members beside "op" are the operator's own. */
static int read_operator(struct spec_reader *r, const json_t *expect) {
    r->spec->expect = EXPECT_OPERATOR;
    r->spec->expect_operator = expect;
    return expect_operator_read(r->spec, expect, r->err);
}

int spec_read_expect(struct spec_reader *r, const json_t *expect) {
    if (!expect || json_is_null(expect)) {
        return 0;
    }
    if (json_is_string(expect)) {
        return refuse_text(r, json_string_value(expect));
    }
    const json_t *value = json_object_get(expect, "op");
    if (value) {
        return read_operator(r, expect);
    }
    if (json_object_size(expect) != 1) {
        return err_set(
            r->err, -EINVAL,
            "expect: one of kernel, expression, values, files and op is expected");
    }
    if ((value = json_object_get(expect, "kernel"))) {
        return read_reference(r, value);
    }
    if ((value = json_object_get(expect, "expression"))) {
        return read_expected(r, value, EXPECT_EXPRESSION);
    }
    if ((value = json_object_get(expect, "values"))) {
        return read_expected(r, value, EXPECT_VALUES);
    }
    if ((value = json_object_get(expect, "files"))) {
        return read_expected(r, value, EXPECT_FILES);
    }
    return err_set(r->err, -EINVAL,
                   "expect: kernel, expression, values, files or op is expected");
}
