#include "skills/grading/grade_files.h"
#include "tests/unit/skills/grading.h"

#include "base/buf.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { P = GRADE_PASSED, F = GRADE_FAILED, E = GRADE_ERRORED };
struct row {
    const char *expected, *answer;
    int outcome;
};

static void expect_rows(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        expect_grade(rows[i].expected, NULL, rows[i].answer, strlen(rows[i].answer),
                     (enum grade_outcome)rows[i].outcome);
    }
}

Test(grade, texts_are_found_in_any_case_and_all_must_be) {
    static const struct row rows[] = {
        {"\"9.0A\"", "use \"9.0a\"", P},
        {"[\"a\",\"b\"]", "A and B", P},
        {"[\"a\",\"b\"]", "only A", F},
        {"\"x\"", "", F},
        {"{\"contains\":\"\xC3\x89T\xC3\x89\"}", "l'\xC3\xA9t\xC3\xA9", P},
        {"{\"not_contains\":\"pybind11\"}", "TORCH_LIBRARY", P},
        {"{\"not_contains\":\"pybind11\"}", "PYBIND11_MODULE(x, m)", F},
        {"{\"not_contains\":\"x\"}", "", P},
        {"{\"contains\":\"a\",\"not_contains\":[\"b\",\"c\"]}", "a c", F},
        {"{\"contains\":\"a.c\"}", "abc", F},
    };
    expect_rows(rows, ARRAY_LEN(rows));
}

Test(grade, patterns_are_searched) {
    static const struct row rows[] = {
        {"{\"regex\":\"cuda-capabilities\\\\s*=\\\\s*\\\\[\\\"9\\\\.0a\\\"\\\\]\"}",
         "cuda-capabilities = [\"9.0a\"]", P},
        {"{\"regex\":\"^x\"}", "a\nx", F},
        {"{\"regex\":{\"pattern\":\"^X\",\"flags\":\"im\"}}", "a\nx", P},
        {"{\"not_regex\":\"\\\\bprintf\\\\b\"}", "sprintf", P},
        {"{\"not_regex\":[\"a\",\"b\"]}", "b", F},
        {"{\"regex\":\"^(a+)+$\"}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
         E},
    };
    expect_rows(rows, ARRAY_LEN(rows));
}

Test(grade, what_took_too_long_is_no_failure) {
    struct grade_fixture f;
    fixture_init(&f, "{\"contains\":\"zz\",\"regex\":\"^(a+)+$\"}", NULL);
    fixture_start(&f, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 56);
    fixture_run(&f);
    cr_expect(eq(int, (int)f.result.outcome, GRADE_ERRORED));
    cr_expect(eq(str, f.result.why, "the pattern took too long"));
    const json_t *passed = json_object_get(fixture_assertion(&f, 1), "passed");
    bool null = json_is_null(passed);
    cr_expect(null);
    cr_expect(eq(int, (int)f.result.total, 2));
    fixture_finish(&f);
}

Test(grade, after_a_slow_pattern_no_other_is_tried) {
    struct grade_fixture f;
    fixture_init(&f, "{\"regex\":[\"^(a+)+$\",\"^(a|aa)+$\"],\"not_regex\":\"!\"}", NULL);
    fixture_start(&f, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 56);
    fixture_run(&f);
    cr_expect(eq(int, (int)f.result.outcome, GRADE_ERRORED));
    cr_expect(eq(int, (int)f.result.total, 3));
    const char *told = json_get_string(fixture_assertion(&f, 2), "message", "");
    cr_expect(eq(str, (char *)told, "not tried: an earlier one took too long"));
    fixture_finish(&f);
}

Test(grade, assertions_tell_what_was_found_where) {
    struct grade_fixture f;
    fixture_init(&f, "{\"contains\":[\"needle\",\"missing\"],\"equals\":{\"number\":7}}",
                 NULL);
    static const char answer[] = "before \x1b[31mNEEDLE after 7";
    fixture_start(&f, answer, strlen(answer));
    fixture_run(&f);
    autojson *want = json_loads(
        "[{\"check\":\"contains\",\"passed\":true,\"expected\":\"needle\",\"found\":"
        "\"before NEEDLE after 7\",\"message\":\"found\"},"
        "{\"check\":\"contains\",\"passed\":false,\"expected\":\"missing\",\"message\":"
        "\"not found\"},"
        "{\"check\":\"equals\",\"passed\":true,\"expected\":{\"number\":7,\"tolerance\":"
        "0.0},\"found\":7.0,\"message\":\"the last number is 7\"}]",
        0, NULL);
    autofree char *got = json_dumps(f.result.assertions, JSON_COMPACT);
    cr_expect(json_equal(want, f.result.assertions) == 1, "%s", got);
    cr_expect(eq(int, (int)f.result.passed, 2));
    cr_expect(eq(int, (int)f.result.total, 3));
    fixture_finish(&f);
}

Test(grade, equals_compares_the_trimmed_answer_or_its_last_number) {
    static const struct row rows[] = {
        {"{\"equals\":\"yes\"}", " yes\n", P},
        {"{\"equals\":\"yes\"}", "Yes", F},
        {"{\"equals\":\"yes\"}", "yes, it is", F},
        {"{\"equals\":227}", "It is 227 KB.", P},
        {"{\"equals\":227}", "228 KB an SM, so a block has 227KB", P},
        {"{\"equals\":227}", "227 KB of 228", F},
        {"{\"equals\":227}", "no number", F},
        {"{\"equals\":65536}", "65,536 registers", P},
        {"{\"equals\":536}", "65,536 registers", F},
        {"{\"equals\":3}", "1,2,3", P},
        {"{\"equals\":1234567}", "1,234,567", P},
        {"{\"equals\":4567}", "1,23,4567", P},
        {"{\"equals\":{\"number\":0.333,\"tolerance\":0.001}}", "about 0.3333", P},
        {"{\"equals\":{\"number\":0.333,\"tolerance\":0.0001}}", "about 0.3333", F},
        {"{\"equals\":-5}", "it is -5", P},
        {"{\"equals\":-5}",
         "it is \xE2\x88\x92"
         "5",
         P},
        {"{\"equals\":5}", "from 10-5", P},
        {"{\"equals\":1500}", "1.5e3", P},
        {"{\"equals\":1500}", "15E+2 or so", P},
        {"{\"equals\":6}", "6 for sm_90a and H100", P},
        {"{\"equals\":0.5}", ".5", P},
        {"{\"equals\":42}", "42.", P},
        {"{\"equals\":{\"number\":1e300,\"tolerance\":1e290}}", "1e999", F},
    };
    expect_rows(rows, ARRAY_LEN(rows));
}

#define SCHEMA                                                                           \
    "{\"json_schema\":{\"type\":\"object\",\"required\":[\"blocks\"],\"properties\":{"   \
    "\"blocks\":{\"type\":\"integer\"}}}}"
Test(grade, json_is_the_answer_or_its_first_block_of_it) {
    static const struct row rows[] = {
        {SCHEMA, " {\"blocks\": 6}\n", P},
        {SCHEMA, "{\"blocks\": \"6\"}", F},
        {SCHEMA, "Here:\n```json\n{\"blocks\": 6}\n```\nDone.", P},
        {SCHEMA, "```\n{\"blocks\": 6}\n```", P},
        {SCHEMA, "```json\n{\"x\": 6}\n```\n```json\n{\"blocks\": 6}\n```", F},
        {SCHEMA, "```json\n{\"blocks\": 6\n```", F},
        {SCHEMA, "```c\n{\"blocks\": 6}\n```", F},
        {SCHEMA, "blocks: 6", F},
        {SCHEMA, "", F},
        {"{\"json_schema\":{\"const\":3}}", "3", P},
    };
    expect_rows(rows, ARRAY_LEN(rows));
}

/* --- files --- */

/* "path=text;…" of what is found. */
static char *files_of(const char *answer) {
    struct answer_code code;
    struct buf out = BUF_INIT(4096);
    answer_code_read(&code, answer, strlen(answer));
    for (size_t i = 0; i < code.file_count; i++) {
        buf_addf(&out, "%s=%.*s;", code.files[i].path,
                 (int)strcspn(code.files[i].text, "\n"), code.files[i].text);
    }
    answer_code_finish(&code);
    return out.len ? buf_detach(&out) : xstrdup("");
}

Test(grade, files_are_fenced_blocks_with_a_name) {
    static const struct {
        const char *answer, *files;
    } table[] = {
        {"```cuda path=src/k.cu\nx\n```", "src/k.cu=x;"},
        {"```toml title=\"build.toml\"\nx\n```", "build.toml=x;"},
        {"```{.cuda file='a.cu'}\nx\n```", "a.cu=x;"},
        {"```cuda:src/k.cu\nx\n```", "src/k.cu=x;"},
        {"```cuda src/k.cu\nx\n```", "src/k.cu=x;"},
        {"```build.toml\nx\n```", "build.toml=x;"},
        {"~~~cuda path=k.cu\nx\n~~~", "k.cu=x;"},
        {"### src/k.cu\n```cuda\nx\n```", "src/k.cu=x;"},
        {"### 2. `src/k.cu`\n\n```cuda\nx\n```", "src/k.cu=x;"},
        {"**torch-ext/b.cpp**:\n```cpp\nx\n```", "torch-ext/b.cpp=x;"},
        {"- File: `a/__init__.py`\n```python\nx\n```", "a/__init__.py=x;"},
        {"**File:** `a.py`\n```python\nx\n```", "a.py=x;"},
        {"Put this into `build.toml`:\n```toml\nx\n```", "build.toml=x;"},
        {"```cuda\n// src/k.cu\nx\n```", "src/k.cu=// src/k.cu;"},
        {"```toml\n# build.toml\n```", "build.toml=# build.toml;"},
        {"```css\n/* a/b.css */\n```", "a/b.css=/* a/b.css */;"},
        {"`a.c`\n```c\none\n```\n`b.c`\n```c\ntwo\n```", "a.c=one;b.c=two;"},
        {"`a.c`\n```c\none\n```\nBetter:\n\n`a.c`\n```c\ntwo\n```", "a.c=two;"},
        {"`./a//b.c`\n```c\nx\n```", "a/b.c=x;"},
        {"```cuda path=k.cu\nnot closed", "k.cu=not closed;"},
        /* no names */
        {"```cuda\nx\n```", ""},
        {"Use 9.0 here:\n```toml\nx\n```", ""},
        {"9.0\n```toml\nx\n```", ""},
        {"e.g.\n```toml\nx\n```", ""},
        {"Change `a.c` and `b.c`:\n```c\nx\n```", ""},
        {"`a.c`\n\n\n```c\nx\n```", ""},
        {"`a.c`\n\ntext\n```c\nx\n```", ""},
        {"`../a.c`\n```c\nx\n```", ""},
        {"`a/../../b.c`\n```c\nx\n```", ""},
        {"`/etc/passwd.txt`\n```c\nx\n```", ""},
        {"```c path=\"C:\\\\a.c\"\nx\n```", ""},
        {"`a.c\x01`\n```c\nx\n```", ""},
        {"```c\n// the file a.c\n```", ""},
        {"`a.c`\n\n    indented\n", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        autofree char *files = files_of(table[i].answer);
        cr_expect(eq(str, files, (char *)table[i].files), "%s", table[i].answer);
    }
}

Test(grade, a_name_in_the_info_string_leaves_the_language) {
    struct answer_code code;
    static const char answer[] = "```cuda:src/k.cu\nx\n```\n```src/k.cu\ny\n```\n";
    answer_code_read(&code, answer, strlen(answer));
    cr_expect(eq(str, code.blocks.codes[0].language, "cuda"));
    cr_expect(eq(str, code.blocks.codes[1].language, "cu"));
    cr_expect(eq(int, (int)code.file_count, 1));
    cr_expect(answer_code_file(&code, "k.cu") == code.files[0].text);
    cr_expect(answer_code_file(&code, "other.cu") == NULL);
    answer_code_finish(&code);
}

/* --- build.toml --- */

#define GENERAL                                                                          \
    "[general]\nname = \"fast-norms\"\nversion = 1\nedition = 5\nlicense = "             \
    "\"Apache-2.0\"\nbackends = [\"cuda\"]\n"
#define TORCH "[torch]\nsrc = [\"torch-ext/torch_binding.cpp\"]\n"
#define KERNEL                                                                           \
    "[kernel.norms]\nbackend = \"cuda\"\ndepends = [\"torch\"]\nsrc = "                  \
    "[\"norms_cuda/norms.cu\"]\n"
#define TOML(text) "```toml\n" text "```\n"

Test(grade, a_build_toml_must_pass_kernel_builders_rules) {
    static const char values[] =
        "{\"build_toml\":{\"values\":{\"/general/name\":\"fast-norms\","
        "\"/general/backends\":[\"cuda\"]}}}";
    const struct row rows[] = {
        {"{\"build_toml\":true}", TOML(GENERAL TORCH KERNEL), P},
        {"{\"build_toml\":true}", "```\n" GENERAL TORCH KERNEL "```\n", P},
        {"{\"build_toml\":true}",
         TOML(GENERAL "[general.cuda]\ncapabilities = [\"9.0\"]\n" TORCH KERNEL), F},
        {"{\"build_toml\":true}", TOML("[general\n"), F},
        {"{\"build_toml\":true}", TOML(""), F},
        {"{\"build_toml\":true}", "", F},
        {"{\"build_toml\":true}", GENERAL TORCH KERNEL, F}, /* not in a block */
        /* the last one counts, another TOML file does not */
        {"{\"build_toml\":true}", TOML("[general]\nx = 1\n") TOML(GENERAL TORCH KERNEL),
         P},
        {"{\"build_toml\":true}", TOML(GENERAL TORCH KERNEL) TOML("[general]\nx = 1\n"),
         F},
        {"{\"build_toml\":true}", TOML(GENERAL TORCH KERNEL) TOML("[tool]\nx = 1\n"), P},
        {values, TOML(GENERAL TORCH KERNEL), P},
        {values,
         "```toml\n[general]\nname = \"other\"\nversion = 1\nedition = 5\n"
         "license = \"MIT\"\nbackends = [\"cuda\"]\n" TORCH KERNEL "```\n",
         F},
        {values, TOML(TORCH), F},
        {values, "", F},
    };
    expect_rows(rows, ARRAY_LEN(rows));
}

Test(grade, a_named_build_toml_goes_before_the_last) {
    expect_grade(
        "{\"build_toml\":true}", NULL,
        "`build.toml`:\n\n" TOML(GENERAL TORCH KERNEL) "\nThis was wrong:\n" TOML(
            "[general]\nx = 1\n"),
        strlen("`build.toml`:\n\n" TOML(GENERAL TORCH KERNEL) "\nThis was wrong:\n" TOML(
            "[general]\nx = 1\n")),
        GRADE_PASSED);
}

/* --- projects --- */

static void add_project_file(struct buf *out, const char *path) {
    autofree char *full = xasprintf("%s/projects/good/%s", TEST_DATA, path);
    FILE *file = fopen(full, "r");
    cr_assert(file != NULL, "%s", full);
    char text[16384];
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    buf_addf(out, "`%s`\n\n````\n%s````\n\n", path, text);
}

/* data/projects/good, which kernel_project's own test knows for whole. */
static char *project_answer(const char *without) {
    static const char *const paths[] = {"build.toml",
                                        "norm/norm.cu",
                                        "norm/reduce.cuh",
                                        "tests/test_norm.py",
                                        "torch-ext/torch_binding.cpp",
                                        "torch-ext/torch_binding.h",
                                        "torch-ext/fused_norm/__init__.py"};
    struct buf out = BUF_INIT(1u << 20);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (!without || strcmp(paths[i], without) != 0) {
            add_project_file(&out, paths[i]);
        }
    }
    return buf_detach(&out);
}

static int count_left_folders(void) {
    int count = 0;
    DIR *dir = opendir(getenv("TMPDIR"));
    cr_assert(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));) {
        count += strncmp(entry->d_name, "upskilld-grade-", 15) == 0;
    }
    closedir(dir);
    return count;
}

Test(grade, a_project_is_whole_or_not_and_leaves_nothing_behind) {
    char temp[] = "/tmp/test-grade-XXXXXX";
    cr_assert(mkdtemp(temp) != NULL);
    setenv("TMPDIR", temp, 1);
    static const char check[] = "{\"kernel_project\":true}";
    autofree char *whole = project_answer(NULL);
    autofree char *headless = project_answer("torch-ext/torch_binding.cpp");
    autofree char *clash = xasprintf("%s`norm`\n```\nx\n```\n`norm/x.cu`\n```\ny\n```\n"
                                     "`build.toml/x.txt`\n```\nz\n```\n",
                                     whole);
    expect_grade(check, NULL, whole, strlen(whole), GRADE_PASSED);
    expect_grade(check, NULL, headless, strlen(headless), GRADE_FAILED);
    expect_grade(check, NULL, clash, strlen(clash), GRADE_FAILED);
    expect_grade(check, NULL, "", 0, GRADE_FAILED);
    expect_grade(check, NULL, "`a.c`\n```\nx\n```", 15, GRADE_FAILED);

    /* with_files: the test's files are there already */
    struct buf files = BUF_INIT(1u << 20);
    add_project_file(&files, "torch-ext/torch_binding.cpp");
    const char *start = strstr(files.data, "````\n") + 5;
    autojson *context = json_object();
    json_object_set_new(context, "torch-ext/torch_binding.cpp",
                        json_stringn(start, (size_t)(strstr(start, "````") - start)));
    autofree char *context_text = json_dumps(context, 0);
    expect_grade("{\"kernel_project\":{\"with_files\":true}}", context_text, headless,
                 strlen(headless), GRADE_PASSED);
    expect_grade(check, context_text, headless, strlen(headless), GRADE_FAILED);
    expect_grade("{\"kernel_project\":{\"with_files\":true}}", "{\"../x\":\"y\"}", whole,
                 strlen(whole), GRADE_ERRORED);
    buf_finish(&files);
    cr_expect(eq(int, count_left_folders(), 0));

    setenv("TMPDIR", "/nonexistent-folder", 1);
    expect_grade(check, NULL, whole, strlen(whole), GRADE_ERRORED);
    cr_expect(rmdir(temp) == 0);
}

/* --- hostile answers --- */

#define ALL                                                                              \
    "{\"contains\":\"zq\",\"regex\":\"zq+\",\"equals\":1,\"json_schema\":{},"            \
    "\"build_toml\":{\"values\":{\"/general/name\":\"a\"}},\"kernel_project\":true,"     \
    "\"kernel_compiles\":{\"entry\":\"k\"}}"

static void expect_all_fail(const char *answer, size_t len) {
    struct grade_fixture f;
    fixture_init(&f, ALL, NULL);
    fixture_start(&f, answer, len);
    fixture_run(&f);
    cr_expect(eq(int, (int)f.result.outcome, GRADE_FAILED), "%s", f.result.why);
    cr_expect(eq(int, (int)f.result.total, 8));
    autofree char *text = json_dumps(f.result.assertions, 0);
    cr_expect(text && strlen(text) < 8u * 4096);
    fixture_finish(&f);
}

static char *repeat(const char *piece, size_t total) {
    size_t n = strlen(piece);
    char *text = xmalloc(total + 1);
    for (size_t i = 0; i < total; i++) {
        text[i] = piece[i % n];
    }
    text[total] = '\0';
    return text;
}

Test(grade, hostile_answers_only_fail) {
    static const char *const pieces[] = {
        "```\n",
        "```cuda\n__global__ void k( {\n```\n",
        "`a.c`\n```\nx\n```\n",
        "```toml\n[general]\n```\n",
        "[",
        "1,234,",
        "\xff\xfe\xc0",
        "> - * ",
        "`",
        "__global__ ",
        "![](",
        "\r",
    };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        autofree char *text = repeat(pieces[i], GRADE_MAX_ANSWER);
        expect_all_fail(text, GRADE_MAX_ANSWER);
    }
    expect_all_fail("a\0b", 3);
    /* many uses of the kernel that is looked for, and no end of a statement; not more,
     * as AddressSanitizer's strstr measures the whole rest every time */
    autofree char *uses = repeat("k( ", 64u << 10);
    memcpy(uses, "```cuda\n__device__ ", 19);
    expect_all_fail(uses, 64u << 10);
    autofree char *fences = repeat("```cuda\nx\n```\n", 14 * (size_t)100000);
    expect_all_fail(fences, strlen(fences));
}

/* What an agent left counts, not what its last words quote. */
Test(grade, files_are_looked_at_where_the_agent_left_them) {
    static const struct {
        const char *expected;
        enum grade_outcome agent, text;
    } table[] = {
        {"{\"files\":{\"src/k.cu\":true}}", GRADE_PASSED, GRADE_PASSED},
        {"{\"files\":{\"src/k.cu\":\"written\"}}", GRADE_PASSED, GRADE_FAILED},
        {"{\"files\":{\"src/k.cu\":{\"contains\":\"quoted\"}}}", GRADE_FAILED,
         GRADE_PASSED},
        {"{\"files\":{\"k.cu\":true}}", GRADE_FAILED, GRADE_PASSED},
        {"{\"files\":{\"gone.txt\":false}}", GRADE_PASSED, GRADE_PASSED},
        {"{\"files\":{\"given.txt\":false}}", GRADE_FAILED, GRADE_PASSED},
        {"{\"files\":{\"given.txt\":{\"equals\":\"as it was\"}}}", GRADE_PASSED,
         GRADE_FAILED},
        {"{\"files\":{\"a.json\":{\"json_schema\":{\"type\":\"object\",\"required\":["
         "\"x\"]}}}}",
         GRADE_PASSED, GRADE_FAILED},
        {"{\"files\":{\"a.json\":{\"json_schema\":{\"type\":\"array\"}}}}", GRADE_FAILED,
         GRADE_FAILED},
        {"{\"files\":{\"a.json\":{\"regex\":\"^.x\",\"not_contains\":\"x\"}}}",
         GRADE_FAILED, GRADE_FAILED},
        {"{\"files\":{\"image\":true}}", GRADE_PASSED, GRADE_FAILED},
        {"{\"files\":{\"image\":{\"not_contains\":\"x\"}}}", GRADE_FAILED, GRADE_FAILED},
        {"{\"build_toml\":{\"values\":{\"/general/name\":\"left\"}}}", GRADE_PASSED,
         GRADE_FAILED},
    };
    autojson *written =
        json_pack("{s:s,s:s,s:s,s:n,s:s}", "src/k.cu", "// written\n", "given.txt",
                  "as it was", "a.json", "{\"x\": 1}", "image", "build.toml",
                  "[general]\nname = \"left\"\nversion = 1\nedition = 5\nlicense = "
                  "\"MIT\"\nbackends = "
                  "[\"cuda\"]\n\n[torch]\nsrc = []\n");
    const char *answer = "Done.\n\n`src/k.cu`:\n\n```cuda\n// quoted\n```\n\n```";
    for (size_t i = 0; i < 2 * ARRAY_LEN(table); i++) {
        struct grade_fixture f;
        bool agent = i % 2;
        fixture_init(&f, table[i / 2].expected, "{\"given.txt\":\"as it was\"}");
        f.room.written = agent ? written : NULL;
        fixture_start(&f, answer, strlen(answer));
        fixture_run(&f);
        autofree char *told = json_dumps(f.result.assertions, JSON_COMPACT);
        cr_expect(eq(int, (int)f.result.outcome,
                     (int)(agent ? table[i / 2].agent : table[i / 2].text)),
                  "%s %s: %s", agent ? "agent" : "text", table[i / 2].expected, told);
        fixture_finish(&f);
    }
}

/* Not all files were looked at: nobody knows what is not there. */
Test(grade, files_behind_a_bound_are_not_judged) {
    static const struct {
        const char *expected;
        enum grade_outcome outcome;
    } table[] = {{"{\"files\":{\"a\":true}}", GRADE_PASSED},
                 {"{\"files\":{\"b\":true}}", GRADE_ERRORED},
                 {"{\"files\":{\"b\":false}}", GRADE_ERRORED}};
    autojson *written = json_pack("{s:s, s:n}", "a", "text", "");
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct grade_fixture f;
        fixture_init(&f, table[i].expected, "{}");
        f.room.written = written;
        fixture_start(&f, "Done.", 5);
        fixture_run(&f);
        cr_expect(eq(int, (int)f.result.outcome, (int)table[i].outcome), "%s",
                  table[i].expected);
        fixture_finish(&f);
    }
}

Test(grade, an_answer_over_the_limit_is_an_error) {
    autofree char *text = repeat("a", GRADE_MAX_ANSWER + 1);
    expect_grade("\"a\"", NULL, text, GRADE_MAX_ANSWER + 1, GRADE_ERRORED);
    expect_grade("\"a\"", NULL, text, GRADE_MAX_ANSWER, GRADE_PASSED);
}

Test(grade, malformed_bytes_are_replaced_before_anything_looks) {
    expect_grade("{\"regex\":\"^a\xEF\xBF\xBD"
                 "b$\"}",
                 NULL,
                 "a\xff"
                 "b",
                 3, GRADE_PASSED);
    expect_grade("{\"equals\":\"a\"}", NULL, "a\0", 2, GRADE_FAILED);
}

Test(grade, a_cancelled_grading_ends_once_as_an_error) {
    for (int late = 0; late < 2; late++) {
        struct grade_fixture f;
        fixture_init(&f, "\"a\"", NULL);
        struct grading *g = fixture_start(&f, "a", 1);
        if (late) {
            usleep(20000);
        }
        grading_cancel(g);
        grading_cancel(g);
        cr_expect(eq(int, f.result.ends, 0));
        fixture_run(&f);
        cr_expect(eq(int, (int)f.result.outcome, GRADE_ERRORED));
        cr_expect(eq(str, f.result.why, "cancelled"));
        fixture_finish(&f);
    }
}
