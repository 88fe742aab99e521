#include "base/buf.h"
#include "base/mem.h"
#include "gpu/source/cuda_lexer.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(cuda_lexer);

static char letter(enum cuda_token_kind kind) {
    return "EINSCPD"[kind];
}

/* "I:name P:( …" with '#' before the first token of a line. */
static char *spell_tokens(const char *text, size_t len) {
    struct buf out = BUF_INIT(1u << 20);
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, len);
    for (struct cuda_token t = cuda_lexer_next(&l); t.kind != CUDA_END;
         t = cuda_lexer_next(&l)) {
        buf_addf(&out, "%s%s%c:%.*s", out.len ? " " : "", t.line_start ? "^" : "",
                 letter(t.kind), (int)(t.end - t.start), text + t.start);
    }
    return buf_detach(&out);
}

Test(cuda_lexer, cuts_text_as_the_language_says) {
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"", ""},
        {"a+++b", "^I:a P:++ P:+ I:b"},
        {"k<<<1,2>>>(x);", "^I:k P:<<< N:1 P:, N:2 P:>>> P:( I:x P:) P:;"},
        {"a<::b>c", "^I:a P:< P::: I:b P:> I:c"},
        {"a<:b:>", "^I:a P:<: I:b P::>"},
        {"1'000.5e-3f .5 0x1p+3 1..2", "^N:1'000.5e-3f N:.5 N:0x1p+3 N:1..2"},
        {"'a' L'\\'' u8\"x\" U\"\\\"\"_s", "^C:'a' C:L'\\'' S:u8\"x\" S:U\"\\\"\"_s"},
        {"R\"(a\"b\n})\" x", "^S:R\"(a\"b\n})\" I:x"},
        {"LR\"zz()\")z\")zz\"_x y", "^S:LR\"zz()\")z\")zz\"_x I:y"},
        {"u8R\"(\\\n)\" z", "^S:u8R\"(\\\n)\" I:z"},
        {"xR\"(a)\"", "^I:xR S:\"(a)\""},
        {"\"open\nnext", "^S:\"open ^I:next"},
        {"'\nnext", "^C:' ^I:next"},
        {"/* a \n */ b // c \\\n still\nd", "^I:b ^I:d"},
        {"a /* open", "^I:a"},
        {"i\\\nnt x\\  \r\ny;", "^I:i\\\nnt I:x\\  \r\ny P:;"},
        {"/\\\n/ gone\nz", "^I:z"},
        {"\xc3\xa9t\xc3\xa9 $x", "^I:\xc3\xa9t\xc3\xa9 I:$x"},
        {"# include <it's> // x\ny", "^D:# include <it's> ^I:y"},
        {"#define A /* x\n */ 3 \\\n + 4\nB", "^D:#define A /* x\n */ 3 \\\n + 4 ^I:B"},
        {"/* c */ # if 1\n a #b", "^D:# if 1 ^I:a P:# I:b"},
        {"%:define x\n%:%:", "^D:%:define x ^D:%:%:"},
        {"#define S R\"(\n#if)\" t\nu", "^D:#define S R\"(\n#if)\" t ^I:u"},
        {"#if __has_include(<a//b>) && 1\nc", "^D:#if __has_include(<a//b>) && 1 ^I:c"},
        {"a\r#x\rb", "^I:a ^D:#x ^I:b"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        /* In a block of its exact size, so that a read past its end is seen. */
        size_t len = strlen(cases[i].text);
        autofree char *exact = xmalloc(len ? len : 1);
        memcpy(exact, cases[i].text, len);
        autofree char *got = spell_tokens(exact, len);
        cr_expect(eq(str, got, (char *)cases[i].tokens), "case %zu: %s", i,
                  cases[i].text);
    }
}

Test(cuda_lexer, a_byte_order_mark_is_white_space) {
    autofree char *got = spell_tokens("\xef\xbb\xbf#pragma once\n", 16);
    cr_assert(eq(str, got, "^D:#pragma once"));
}

Test(cuda_lexer, spellings_leave_splices_out_and_know_digraphs) {
    const char *text = "na\\\nme <% %>";
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, strlen(text));
    struct cuda_token t = cuda_lexer_next(&l);
    cr_expect(cuda_token_is(&l, &t, "name"));
    cr_expect(not(cuda_token_is(&l, &t, "nam")));
    t = cuda_lexer_next(&l);
    cr_expect(cuda_token_is(&l, &t, "{"));
    t = cuda_lexer_next(&l);
    cr_expect(cuda_token_is(&l, &t, "}"));
    t = cuda_lexer_next(&l);
    cr_expect(not(cuda_token_is(&l, &t, "")));
    cr_expect(eq(int, cuda_lexer_next(&l).kind, CUDA_END));
}

Test(cuda_lexer, a_caret_finds_the_end_of_its_token) {
    static const struct {
        const char *text;
        size_t offset, end;
    } cases[] = {
        {"foo(bar)", 0, 3},
        {"foo(bar)", 1, 3},
        {"foo(bar)", 3, 4},
        {"foo(bar)", 4, 7},
        {"foo bar", 3, 3},
        {"// foo", 3, 3},
        {"x = \"a b\";", 5, 9},
        {"#include <a b> // c", 9, 14},
        {"#include <a b>", 2, 8},
        {"#define A b+1", 10, 11},
        {"abc", 3, 3},
        {"abc", 99, 99},
        {"R\"(a\nb)\"", 4, 8},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t got =
            cuda_token_end(cases[i].text, strlen(cases[i].text), cases[i].offset);
        cr_expect(eq(sz, got, cases[i].end), "case %zu: %s", i, cases[i].text);
    }
}

Test(cuda_lexer, directives_come_apart) {
    static const struct {
        const char *text, *name, *argument, *target;
        enum include_form form;
    } cases[] = {
        {"#include <a/b.h> // x", "include", "<a/b.h>", "a/b.h", INCLUDE_ANGLED},
        {"#  include /* c */ \"x y.h\"", "include", "\"x y.h\"", "x y.h", INCLUDE_QUOTED},
        {"%:inc\\\nlude \"a\\\nb.h\"", "include", "\"a\\\nb.h\"", "ab.h", INCLUDE_QUOTED},
        {"#include MACRO(x)", "include", "MACRO(x)", NULL, INCLUDE_COMPUTED},
        {"#include \"open", "include", "\"open", NULL, INCLUDE_COMPUTED},
        {"#include_next <x>", "include_next", "<x>", "x", INCLUDE_ANGLED},
        {"#include", "include", "", NULL, INCLUDE_COMPUTED},
        {"#line 5 \"x\"", "line", "5 \"x\"", NULL, INCLUDE_COMPUTED},
        {"# 33 \"x.h\" 2", "line", "33 \"x.h\" 2", NULL, INCLUDE_COMPUTED},
        {"#", "", "", NULL, INCLUDE_COMPUTED},
        {"#define F(a) /* b\n */ a", "define", "F(a) /* b\n */ a", NULL,
         INCLUDE_COMPUTED},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cuda_lexer l;
        cuda_lexer_init(&l, cases[i].text, strlen(cases[i].text));
        struct cuda_token t = cuda_lexer_next(&l);
        struct cuda_directive d;
        cuda_directive_read(&l, &t, &d);
        autofree char *argument =
            xstrndup(cases[i].text + d.argument, d.argument_end - d.argument);
        cr_expect(eq(str, d.name, (char *)cases[i].name), "case %zu", i);
        cr_expect(eq(str, argument, (char *)cases[i].argument), "case %zu", i);
        cr_expect(eq(int, d.form, cases[i].form), "case %zu", i);
        cr_expect(eq(int, !d.target, !cases[i].target), "case %zu", i);
        if (d.target && cases[i].target) {
            cr_expect(eq(str, d.target, (char *)cases[i].target), "case %zu", i);
        }
        cuda_directive_finish(&d);
    }
}

/* NVRTC sees no splice where blanks follow the backslash; after tightening it does, at
 * the same length. */
Test(cuda_lexer, tightening_moves_backslashes_and_spares_raw_strings) {
    char text[] = "// a \\  \nb\n#define x \\ \n1\nR\"(\\  \n)\" \\\n'\\ ' \\ y";
    cuda_splices_tighten(text, strlen(text));
    cr_assert(
        eq(str, text, "// a   \\\nb\n#define x  \\\n1\nR\"(\\  \n)\" \\\n'\\ ' \\ y"));
}

/* Half a million of each: a quadratic lexer would take minutes. */
Test(cuda_lexer, long_hostile_texts_take_linear_time, .timeout = 20) {
    static const char *const units[] = {"\\\n",       "/*",  "R\"", "\"\\", "<",
                                        "#include <", "\\ ", "'",   "R\"a("};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        struct buf text = BUF_INIT(1u << 24);
        for (int n = 0; n < 500000 / (int)strlen(units[i]); n++) {
            buf_adds(&text, units[i]);
        }
        struct cuda_lexer l;
        cuda_lexer_init(&l, text.data, text.len);
        size_t last = 0;
        for (struct cuda_token t = cuda_lexer_next(&l); t.kind != CUDA_END;
             t = cuda_lexer_next(&l)) {
            last = t.end;
        }
        cr_expect(le(sz, last, text.len));
        buf_finish(&text);
    }
}
