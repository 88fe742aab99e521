#include "base/buf.h"
#include "base/json.h"
#include "base/lines.h"
#include "skills/kernel_project/build_toml.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

/* The rules are those of kernel-builder's own definitions of editions 1 to 5. */

static const char good[] = "[general]\n"
                           "name = \"fused-norm\"\n"
                           "version = 1\n"
                           "edition = 5\n"
                           "license = \"Apache-2.0\"\n"
                           "backends = [\"cuda\"]\n"
                           "\n"
                           "[torch]\n"
                           "src = [\"torch-ext/torch_binding.cpp\"]\n"
                           "\n"
                           "[kernel.norm]\n"
                           "backend = \"cuda\"\n"
                           "depends = [\"torch\"]\n"
                           "src = [\"norm/norm.cu\"]\n";

static json_t *check(const char *text) {
    json_t *findings = json_array();
    build_toml_check("build.toml", text, strlen(text), 1, findings);
    return findings;
}

static const json_t *find(const json_t *findings, const char *code) {
    size_t i;
    json_t *f;
    json_array_foreach(findings, i, f) {
        if (strcmp(json_get_string(f, "code", ""), code) == 0) {
            return f;
        }
    }
    return NULL;
}

static const json_t *find_fixable(const json_t *findings, const char *code) {
    size_t i;
    json_t *f;
    json_array_foreach(findings, i, f) {
        if (strcmp(json_get_string(f, "code", ""), code) == 0 &&
            json_object_get(f, "fixes")) {
            return f;
        }
    }
    return NULL;
}

/* `text` with its first `from` replaced. */
static char *edited(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    cr_assert(at != NULL, "%s", from);
    return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

struct edit {
    size_t start, end;
    const char *text;
};

static size_t offset_of(const struct lines *lines, const json_t *edit, const char *line,
                        const char *column) {
    return lines->starts[json_get_integer(edit, line, 1) - 1] +
           (size_t)json_get_integer(edit, column, 1) - 1;
}

/* The text after a finding's first fix, as an editor would apply it. */
static char *fixed(const char *text, const json_t *finding) {
    const json_t *edits =
        json_object_get(json_array_get(json_object_get(finding, "fixes"), 0), "edits");
    struct lines lines;
    struct edit list[8];
    size_t count = 0, i, len = strlen(text);
    json_t *edit;
    cr_assert(json_array_size(edits) > 0, "no fix: %s",
              json_get_string(finding, "message", ""));
    lines_init(&lines, text, len);
    json_array_foreach(edits, i, edit) {
        list[count++] = (struct edit){offset_of(&lines, edit, "line", "column"),
                                      offset_of(&lines, edit, "end_line", "end_column"),
                                      json_get_string(edit, "text", "")};
    }
    lines_finish(&lines);
    char *out = xstrdup(text);
    for (; count; count--) { /* the last place first */
        size_t last = 0;
        for (i = 1; i < count; i++) {
            last = list[i].start > list[last].start ? i : last;
        }
        char *next = xasprintf("%.*s%s%s", (int)list[last].start, out, list[last].text,
                               out + list[last].end);
        free(out);
        out = next;
        list[last] = list[count - 1];
    }
    return out;
}

Test(build_toml, a_right_project_file_has_no_finding) {
    static const char *const texts[] = {
        good,
        "[general]\nname='ab'\nversion=0\nedition=5\nlicense='MIT'\nbackends=['cpu']\n"
        "[torch-noarch]\n",
        "[general]\nname = \"x--1\"\nversion = 3\nedition = 5\nlicense = \"MIT\"\n"
        "backends = "
        "[\"cann\",\"cpu\",\"cuda\",\"metal\",\"neuron\",\"rocm\",\"tpu\",\"xpu\"]\n"
        "upstream = \"https://a/b\"\nsource = \"https://a/c\"\nminver = \"0.17.0\"\n"
        "python-depends = [\"einops\", \"helion\", \"tvm-ffi\"]\n"
        "kernel-depends = [{ repo-id = \"a/b\", version = 1 },\n"
        "  { repo-id = \"a/c\", revision = \"main\" }]\n"
        "[general.cuda]\nminver = \"12.6\"\nmaxver = \"13.0\"\n"
        "python-depends = [\"nvidia-cutlass-dsl\"]\n"
        "[general.hub]\nrepo-id = \"a/x\"\nbranch = \"main\"\n"
        "[general.neuron]\npython-depends = []\n[general.tpu]\npython-depends = []\n"
        "[general.xpu]\nkernel-depends = []\n"
        "[torch]\nsrc = [\"a.cpp\"]\ninclude = [\".\"]\nminver = \"2.7\"\nmaxver = "
        "\"2.9\"\n"
        "pyext = [\"py\", \"json\"]\ncxx-flags = [\"-O2\"]\n"
        "[torch.stable-abi]\ncpu = \"2.11\"\ncuda = \"2.11\"\n"
        "[kernel.a]\nbackend = \"cpu\"\ndepends = [\"torch\"]\nsrc = [\"a.cpp\"]\n"
        "[kernel.b]\nbackend = \"cuda\"\ndepends = [\"torch\", \"cutlass_4_5\"]\n"
        "src = [\"b.cu\"]\ninclude = [\"inc\"]\ncuda-capabilities = [\"9.0a\"]\n"
        "cuda-flags = [\"-O3\"]\ncuda-minver = \"12.8\"\ncxx-flags = [\"-O2\"]\n"
        "[kernel.c]\nbackend = \"metal\"\ndepends = [\"metal-cpp\"]\nsrc = [\"c.mm\"]\n"
        "[kernel.d]\nbackend = \"rocm\"\ndepends = []\nsrc = [\"d.cu\"]\n"
        "rocm-archs = [\"gfx942\"]\nhip-flags = []\n"
        "[kernel.e]\nbackend = \"xpu\"\ndepends = [\"sycl_tla\"]\nsrc = [\"e.cpp\"]\n"
        "sycl-flags = []\n",
        "[general]\nname = \"ab\"\nversion = 1\nedition = 5\nlicense = \"MIT\"\n"
        "backends = [\"cuda\"]\n[tvm-ffi]\nsrc = [\"a.cc\"]\n",
        "[general]\nname = \"ab\"\nversion = 1\nedition = 5\nlicense = \"MIT\"\n"
        "backends = [\"cuda\"]\n[torch-noarch]\npyext = []\n"
        "cuda_capabilities = [\"9.0a\"]\nrocm_archs = [\"gfx90a\"]\n",
        "[general]\nname = \"ab\"\nversion = 1\nedition = 5\nlicense = \"MIT\"\n"
        "backends = [\"cuda\"]\n[torch]\nstable-abi = \"2.11\"\n[kernel]\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        autojson *findings = check(texts[i]);
        autofree char *shown = json_dumps(findings, 0);
        cr_assert_eq(json_array_size(findings), 0, "case %zu: %s", i, shown);
    }
}

struct defect {
    const char *from, *to, *code, *severity;
    int line, column;
    const char *cure; /* what the fix makes of `to`; NULL: no fix is expected */
};

static const struct defect defects[] = {
    {"fused-norm", "fused_norm", "build_toml_name", "error", 2, 8, "\"fused-norm\""},
    {"fused-norm", "1 Fused!Norm-", "build_toml_name", "error", 2, 8, "\"fused-norm\""},
    {"fused-norm", "x", "build_toml_name", "error", 2, 8, NULL},
    {"\"fused-norm\"", "7", "build_toml_wrong_type", "error", 2, 8, "name = \"7\""},
    {"version = 1", "version = \"2\"", "build_toml_wrong_type", "error", 3, 11,
     "version = 2"},
    {"version = 1", "version = 1.0", "build_toml_wrong_type", "error", 3, 11,
     "version = 1\n"},
    {"version = 1", "version = \"0.3.1\"", "build_toml_wrong_type", "error", 3, 11,
     "version = 1\n"},
    {"version = 1", "version = \"2.3.1\"", "build_toml_wrong_type", "error", 3, 11,
     "version = 2\n"},
    {"version = 1", "version = \"new\"", "build_toml_wrong_type", "error", 3, 11, NULL},
    {"version = 1\n", "", "build_toml_missing_key", "error", 1, 2, "version = 1\n"},
    {"version = 1", "version = -1", "build_toml_wrong_type", "error", 3, 11, NULL},
    {"version = 1", "version = 1979-05-27", "build_toml_wrong_type", "error", 3, 11,
     NULL},
    {"license =", "licence =", "build_toml_unknown_key", "error", 5, 1, "license ="},
    {"license = \"Apache-2.0\"\n", "", "build_toml_missing_key", "error", 1, 2, NULL},
    {"edition = 5\n", "", "build_toml_edition_missing", "warning", 1, 2,
     "edition = 5\nname"},
    {"edition = 5", "edition = 4", "build_toml_edition_unknown", "error", 4, 11,
     "edition = 5"},
    {"edition = 5", "edition = 6", "build_toml_edition_unknown", "warning", 4, 11, NULL},
    {"edition = 5", "edition = 5\nminver = \"0.17\"", "build_toml_version", "warning", 5,
     10, NULL},
    {"edition = 5", "edition = 5\nminver = 1", "build_toml_wrong_type", "error", 5, 10,
     "\"1\""},
    {"[torch]", "[general.rocm]\narchs = [\"gfx942\"]\n[torch]", "build_toml_unknown_key",
     "error", 8, 10, NULL},
    {"edition = 5", "edition = \"5\"", "build_toml_wrong_type", "error", 4, 11,
     "edition = 5\n"},
    {"edition = 5", "edition = \"7\"", "build_toml_wrong_type", "error", 4, 11, NULL},
    {"[\"cuda\"]", "\"cuda\"", "build_toml_wrong_type", "error", 6, 12, "= [\"cuda\"]"},
    {"[\"cuda\"]", "[\"cude\", \"cuda\"]", "build_toml_backend", "error", 6, 13,
     "[\"cuda\", \"cuda\"]"},
    {"[\"cuda\"]", "[\"CUDA\"]", "build_toml_backend", "error", 6, 13, "[\"cuda\"]"},
    {"[\"cuda\"]", "[\"nvidia\"]", "build_toml_backend", "error", 6, 13, "[\"cuda\"]"},
    {"[\"cuda\"]", "[\"rocm\"]", "build_toml_backend_unlisted", "warning", 11, 9,
     "[\"rocm\", \"cuda\"]"},
    {"[\"cuda\"]", "[\"cuda\", \"rocm\"]", "build_toml_backend_without_kernel", "info", 6,
     1, NULL},
    {"[torch]\n", "[torch-ext]\n", "build_toml_framework", "error", 1, 1, NULL},
    {"[torch]\n", "[torch-noarch]\n[torch]\n", "build_toml_framework", "error", 9, 2,
     NULL},
    {"[torch]\n", "[tvm_ffi]\n", "build_toml_unknown_key", "error", 8, 2, "[tvm-ffi]"},
    {"[\"torch-ext/", "[\"../", "build_toml_path", "error", 9, 8, NULL},
    {"[\"torch-ext/", "[\"/", "build_toml_path", "error", 9, 8, NULL},
    {"norm/norm.cu", "a/../../norm.cu", "build_toml_path", "error", 14, 8, NULL},
    {"backend = \"cuda\"\n", "", "build_toml_missing_key", "error", 11, 9,
     "[kernel.norm]\nbackend = \"cuda\"\n"},
    {"backend = \"cuda\"", "language = \"cuda\"", "build_toml_unknown_key", "error", 12,
     1, NULL},
    {"depends = [\"torch\"]\n", "", "build_toml_missing_key", "error", 11, 9,
     "[kernel.norm]\ndepends = [\"torch\"]\n"},
    {"[\"torch\"]", "[\"cutlass_3_7\"]", "build_toml_depends", "error", 13, 12,
     "[\"cutlass_3_5\"]"},
    {"depends = [", "rocm-archs = []\ndepends = [", "build_toml_key_of_other_backend",
     "error", 13, 1, "backend = \"cuda\"\ndepends = ["},
    {"[torch]", "rocm-archs = [\"gfx942\"]\n[torch]", "build_toml_unknown_key", "error",
     8, 1, NULL},
    {"depends = [", "cuda_flags = []\ndepends = [", "build_toml_unknown_key", "error", 13,
     1, "cuda-flags = []"},
    {"depends = [", "cuda-capabilities = [\"sm_90a\"]\ndepends = [",
     "build_toml_capability", "error", 13, 22, "[\"9.0a\"]"},
    {"depends = [", "cuda-capabilities = [9.0]\ndepends = [", "build_toml_wrong_type",
     "error", 13, 22, "[\"9.0\"]"},
    {"depends = [", "cuda-capabilities = [\"99999.0\"]\ndepends = [",
     "build_toml_capability", "error", 13, 22, NULL},
    {"depends = [", "cuda-capabilities = [\"10.3\"]\ndepends = [",
     "build_toml_capability", "warning", 13, 22, NULL},
    {"depends = [", "cuda-capabilities = [\"9.0\"]\ndepends = [",
     "build_toml_capabilities_discouraged", "info", 13, 1, NULL},
    {"depends = [", "cuda-minver = \"12\"\ndepends = [", "build_toml_version", "warning",
     13, 15, NULL},
    {"depends = [", "cuda-minver = 12.8\ndepends = [", "build_toml_wrong_type", "error",
     13, 15, "\"12.8\""},
    {"depends = [", "cuda-minver = \"new\"\ndepends = [", "build_toml_version", "error",
     13, 15, NULL},
    {"[torch]", "[general.cuda]\ncapabilities = [\"9.0\"]\n[torch]",
     "build_toml_unknown_key", "error", 9, 1, NULL},
    {"edition = 5", "edition = 5\ncuda-minver = \"12.6\"", "build_toml_unknown_key",
     "error", 5, 1, NULL},
    {"edition = 5", "edition = 5\npython-depends = [\"nvidia-cutlass-dsl\"]",
     "build_toml_python_depends", "warning", 5, 19, NULL},
    {"edition = 5", "edition = 5\nkernel-depends = [\"a/b\"]",
     "build_toml_kernel_depends", "error", 5, 19, NULL},
    {"edition = 5", "edition = 5\nkernel-depends = [{repo-id='a/b'}]",
     "build_toml_kernel_depends", "error", 5, 19, NULL},
    {"edition = 5", "edition = 5\nsrc = []", "build_toml_unknown_key", "error", 5, 1,
     NULL},
    {"[general]", "[generall]", "build_toml_unknown_key", "error", 1, 2, "[general]"},
    {"version = 1", "version = ", "build_toml_syntax", "error", 3, 11, NULL},
};

Test(build_toml, every_defect_has_its_finding_place_and_cure) {
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        const struct defect *d = &defects[i];
        autofree char *text = edited(good, d->from, d->to);
        autojson *findings = check(text);
        autofree char *shown = json_dumps(findings, JSON_INDENT(1));
        const json_t *f = find(findings, d->code);
        cr_assert(f != NULL, "%s -> %s: %s", d->from, d->to, shown);
        cr_assert_str_eq(json_get_string(f, "severity", ""), d->severity, "%s: %s", d->to,
                         shown);
        cr_assert(json_get_integer(f, "line", 0) == d->line &&
                      json_get_integer(f, "column", 0) == d->column,
                  "%s: %s", d->to, shown);
        cr_assert_eq(!!json_object_get(f, "fixes"), !!d->cure, "%s: %s", d->to, shown);
        autofree char *after = d->cure ? fixed(text, f) : NULL;
        cr_assert(d->cure == NULL || strstr(after, d->cure), "%s became\n%s", d->to,
                  after);
    }
}

/* The article that introduced upskill wrote this; no edition takes it. */
Test(build_toml, the_articles_form_is_refused_and_its_fixes_mend_the_rest) {
    char *text = xstrdup("[general]\n"
                         "name = \"diffuser_kernels\"\n"
                         "backends = [\"cuda\"]\n"
                         "\n"
                         "[general.cuda]\n"
                         "capabilities = [\"9.0\"]\n"
                         "\n"
                         "[torch]\n"
                         "src = [\"torch-ext/torch_binding.cpp\"]\n"
                         "\n"
                         "[kernel.norm]\n"
                         "backend = \"cuda\"\n"
                         "src = [\"norm.cu\"]\n");
    autojson *first = check(text);
    cr_assert(find(first, "build_toml_edition_old") && find(first, "build_toml_name"));
    cr_assert_not_null(find(first, "build_toml_unknown_key"));
    static const char *const order[] = {"build_toml_name", "build_toml_edition_old",
                                        "build_toml_missing_key"};
    for (size_t round = 0; round < 12; round++) {
        autojson *findings = check(text);
        const json_t *f = NULL;
        for (size_t i = 0; !f && i < 3; i++) {
            f = find_fixable(findings, order[i]);
        }
        if (!f) {
            break;
        }
        char *next = fixed(text, f);
        free(text);
        text = next;
    }
    static const char want[] = "[general]\n"
                               "version = 1\n"
                               "edition = 5\n"
                               "name = \"diffuser-kernels\"\n"
                               "backends = [\"cuda\"]\n"
                               "\n"
                               "[general.cuda]\n"
                               "capabilities = [\"9.0\"]\n"
                               "\n"
                               "[torch]\n"
                               "src = [\"torch-ext/torch_binding.cpp\"]\n"
                               "\n"
                               "[kernel.norm]\n"
                               "depends = [\"torch\"]\n"
                               "backend = \"cuda\"\n"
                               "src = [\"norm.cu\"]\n";
    cr_assert_str_eq(text, want);
    free(text);
}

Test(build_toml, older_editions_are_recognised) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"[general]\nname = \"ab\"\n[torch]\nsrc = []\nuniversal = true\n", "edition 1"},
        {"[general]\nname = \"ab\"\n[torch]\nsrc = []\n[kernel.a]\nlanguage = \"cuda\"\n"
         "depends = [\"torch\"]\nsrc = [\"a.cu\"]\n",
         "edition 1"},
        {"[general]\nname = \"ab\"\nuniversal = false\n[torch]\nsrc = []\n", "edition 2"},
        {"[general]\nname = \"ab\"\ncuda-minver = \"12.4\"\n[torch]\nsrc = []\n",
         "edition 2"},
        {"[general]\nname = \"ab\"\n[torch]\nsrc = []\n[kernel.a]\nbackend = \"cuda\"\n"
         "depends = [\"torch\"]\nsrc = [\"a.cu\"]\n",
         "edition 2"},
        {"[general]\nname = \"ab\"\nbackends = [\"cuda\"]\n[torch]\nsrc = []\n",
         "edition 3"},
        {"[general]\nname = \"ab\"\nversion = 1\nlicense = \"MIT\"\nbackends = "
         "[\"cuda\"]\n",
         "edition 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autojson *findings = check(cases[i].text);
        const json_t *f = find(findings, "build_toml_edition_old");
        cr_assert(f != NULL, "%s", cases[i].text);
        cr_assert_str_eq(json_get_string(f, "severity", ""), "error");
        cr_assert_not_null(strstr(json_get_string(f, "message", ""), cases[i].says), "%s",
                           cases[i].text);
    }
}

Test(build_toml, edition_4_has_no_keys_of_edition_5) {
    autofree char *text = edited(good, "edition = 5", "kernel-depends = []");
    autojson *findings = check(text);
    cr_assert(find(findings, "build_toml_needs_edition") != NULL);
    cr_assert(find(findings, "build_toml_edition_missing") != NULL);
}

Test(build_toml, what_edition_4_once_took_is_no_error) {
    autojson *findings = check(
        "[general]\nname = \"ab\"\nversion = 1\nlicense = \"MIT\"\n"
        "backends = [\"cuda\", \"rocm\"]\n[general.cuda]\ncapabilities = [\"9.0\"]\n"
        "[general.rocm]\narchs = [\"gfx942\"]\n[tvm-ffi]\nsrc = [\"a.cc\"]\n"
        "cxx-flags = [\"-O2\"]\n");
    size_t i;
    const json_t *f;
    json_array_foreach(findings, i, f) {
        cr_expect(strcmp(json_get_string(f, "severity", ""), "error") != 0, "%s",
                  json_get_string(f, "message", ""));
    }
    cr_expect(find(findings, "build_toml_edition_missing") != NULL);
}

Test(build_toml, places_in_a_markdown_block_are_those_of_the_file) {
    static const char text[] = "[general]\nname = 1\n";
    autojson *findings = json_array();
    build_toml_check("SKILL.md", text, sizeof text - 1, 41, findings);
    const json_t *f = find(findings, "build_toml_wrong_type");
    cr_assert_eq(json_get_integer(f, "line", 0), 42);
    const json_t *edit = json_array_get(
        json_object_get(json_array_get(json_object_get(f, "fixes"), 0), "edits"), 0);
    cr_assert_eq(json_get_integer(edit, "line", 0), 42);
    json_array_clear(findings);
    build_toml_check("SKILL.md", "a = \n", 5, 10, findings);
    cr_assert_eq(json_get_integer(json_array_get(findings, 0), "line", 0), 10);
}

Test(build_toml, a_file_of_nothing_but_mistakes_is_bounded) {
    autobuf text = BUF_INIT(1 << 20);
    for (int i = 0; i < 9000; i++) {
        buf_addf(&text, "k%d = 1\n", i);
    }
    autojson *findings = check(text.data);
    cr_assert_leq(json_array_size(findings), 201);
}

/* --- editors --- */

/* `|` marks the place; the labels, joined by blanks. */
static char *completed(const char *marked, json_t **ret_items) {
    const char *bar = strchr(marked, '|');
    autofree char *text = xasprintf("%.*s%s", (int)(bar - marked), marked, bar + 1);
    json_t *items = build_toml_completions(text, strlen(text), (size_t)(bar - marked));
    struct buf labels = BUF_INIT(1 << 16);
    size_t i;
    json_t *item;
    buf_addc(&labels, ' ');
    json_array_foreach(items, i, item) {
        cr_assert(json_get_string(item, "detail", "")[0] != '\0');
        buf_addf(&labels, "%s ", json_get_string(item, "label", ""));
    }
    if (ret_items) {
        *ret_items = items;
    } else {
        json_decref(items);
    }
    return buf_detach(&labels);
}

Test(build_toml, completions_fit_the_section_even_in_unfinished_text) {
    static const struct {
        const char *text, *has, *lacks;
    } cases[] = {
        {"[general]\nna|", " name ", " maxver "},
        {"[general]\nname = \"ab\"\n|", " license ", " name "},
        {"[general]\n|\nname = \"ab\"\n", " version ", " name "},
        {"[general.cuda]\n|", " minver ", " capabilities "},
        {"[kernel.x]\nbackend = \"cuda\"\n|", " cuda-capabilities ", " rocm-archs "},
        {"[kernel.x]\nbackend = \"rocm\"\n|", " rocm-archs ", " cuda-capabilities "},
        {"[kernel.x]\n|", " cuda-capabilities ", " name "},
        {"[kernel.x]\nbackend = |", " cuda ", " tpu "},
        {"[kernel.x]\nbackend = \"c|\"", " cuda ", " backend "},
        {"[general]\nbackends = [\n  \"cuda\",\n  |\n", " tpu ", " name "},
        {"[general]\nbackends = [\n\n[kernel.x]\n|", " backend ", " tpu "},
        {"[kernel.x]\ndepends = [\"|", " cutlass_4_5 ", " einops "},
        {"[kernel.x]\ncuda-capabilities = [|]", " 9.0a ", " torch "},
        {"[general.cuda]\npython-depends = [|", " nvidia-cutlass-dsl ", " torch "},
        {"[|", " general.cuda ", " name "},
        {"[gen|]\n", " general ", " name "},
        {"[torch-noarch]\n|", " cuda_capabilities ", " src "},
        {"[general] # |", "", "name"},
        {"[nothing]\n|", "", "name"},
        {"a = '''\n|", "", "name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *labels = completed(cases[i].text, NULL);
        cr_assert_not_null(strstr(labels, cases[i].has), "%s: %s", cases[i].text, labels);
        cr_assert_null(strstr(labels, cases[i].lacks), "%s: %s", cases[i].text, labels);
    }
}

Test(build_toml, a_completion_replaces_the_word_it_completes) {
    json_t *items;
    autofree char *labels = completed("[kernel.x]\nbackend = \"cu|\"\n", &items);
    const json_t *first = json_array_get(items, 0);
    cr_assert_eq(json_get_integer(first, "start", 0), 22);
    cr_assert_eq(json_get_integer(first, "end", 0), 24);
    cr_assert_str_eq(json_get_string(first, "text", ""), "cpu");
    json_decref(items);
    autofree char *again = completed("[kernel.x]\nbackend = |\n", &items);
    cr_assert_str_eq(json_get_string(json_array_get(items, 0), "text", ""), "\"cpu\"");
    json_decref(items);
    autofree char *keys = completed("[kernel.x]\ndep|\n", &items);
    cr_assert_str_eq(json_get_string(json_array_get(items, 1), "text", ""),
                     "depends = []");
    json_decref(items);
}

Test(build_toml, hover_says_what_a_key_and_a_section_mean) {
    static const struct {
        const char *text, *says, *about;
    } cases[] = {
        {"[general]\nna|me = \"x\"", "**name** (a string, required)", "name"},
        {"[kernel.x]\ncuda-|capabilities = []", "9.0a", "cuda-capabilities"},
        {"[general.cu|da]\n", "**[general.cuda]**", "general.cuda"},
        {"[kernel.re|lu]\n", "One kernel", "kernel.relu"},
        {"[general]\nname = \"gen|eral\"", "**name**", "general"},
        {"[kernel.x]\ndepends = [\"to|rch\"]", "**depends**", "torch"},
        {"[general]\nfoo| = 1", NULL, NULL},
        {"# na|me\n", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *bar = strchr(cases[i].text, '|');
        autofree char *text =
            xasprintf("%.*s%s", (int)(bar - cases[i].text), cases[i].text, bar + 1);
        size_t start = 0, end = 0;
        autofree char *says = build_toml_hover(
            text, strlen(text), (size_t)(bar - cases[i].text), &start, &end);
        cr_assert_eq(!!says, !!cases[i].says, "%s: %s", cases[i].text, says ? says : "");
        if (says) {
            cr_assert_not_null(strstr(says, cases[i].says), "%s", says);
            cr_assert_eq(strncmp(text + start, cases[i].about, end - start), 0);
            cr_assert_eq(end - start, strlen(cases[i].about));
        }
    }
}

/* However the text is cut, the helpers stay within it. */
Test(build_toml, helpers_take_any_cut_of_a_file) {
    for (size_t len = 0; len < sizeof good; len++) {
        autofree char *text = xstrndup(good, len);
        for (size_t at = 0; at <= len; at++) {
            size_t start = 0, end = 0;
            json_decref(build_toml_completions(text, len, at));
            free(build_toml_hover(text, len, at, &start, &end));
            cr_assert(start <= end && end <= len);
        }
    }
}

static void expect_only(const char *text, const char *code) {
    autojson *findings = check(text);
    bool one = json_array_size(findings) == 1;
    cr_expect(one, "%s", text);
    const char *said = json_get_string(json_array_get(findings, 0), "code", "");
    bool same = strcmp(said, code) == 0;
    cr_expect(same, "%s: %s", text, said);
}

Test(build_toml, a_file_of_another_program_is_said_to_be_one) {
    expect_only("[project]\nname = \"x\"\n[references]\na = \"b\"\n",
                "build_toml_foreign");
    autojson *typo = check("[genral]\nname = \"x\"\n");
    cr_expect(find(typo, "build_toml_unknown_key") != NULL);
    autojson *empty = check("");
    cr_expect(find(empty, "build_toml_missing_key") != NULL);
}
