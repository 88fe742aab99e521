#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/json_release.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static json_t *parse(const char *s, size_t len, struct err *err) {
    char *copy = malloc(len ? len : 1); /* exact, so that ASan sees an overrun */
    memcpy(copy, s, len);
    json_t *value = json_parse(copy, len, err);
    free(copy);
    return value;
}

Test(json, what_is_read_is_written_compactly_in_the_same_order) {
    static const struct {
        const char *in, *want;
    } cases[] = {
        {" { \"b\" : [ 1 , -2.5 , true , null , false ] , \"a\" : { } , \"c\" : [ ] } ",
         "{\"b\":[1,-2.5,true,null,false],\"a\":{},\"c\":[]}"},
        {"3", "3"},
        {"\"x\"", "\"x\""},
        {"0.1", "0.1"},
        {"1e2", "100.0"},
        {"1e-5", "1e-05"},
        {"175.74", "175.74"},
        {"0.1234567890123456", "0.1234567890123456"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"1e300", "1e+300"},
        {"9223372036854775807", "9223372036854775807"},
        {"{\"a\":1,\"a\":2}", "{\"a\":2}"},
        {"\"\\u0000\\u001f\\n\\t\\\"\\\\\\/\"", "\"\\u0000\\u001f\\n\\t\\\"\\\\/\""},
        {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
        {"\"\\ud800\"", "\"\xef\xbf\xbd\""},
        {"\"\\udc00x\"", "\"\xef\xbf\xbdx\""},
        {"\"\\ud800\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\""},
        {"\"\\ud800\\n\\uD8ff\\u0041\"", "\"\xef\xbf\xbd\\n\xef\xbf\xbd"
                                         "A\""},
        {"\"\\\\ud800\"", "\"\\\\ud800\""},
        {"{\"k\\udfff\":\"\xff\xc3\xa9\xe2\x82\"}",
         "{\"k\xef\xbf\xbd\":\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        autojson *value = parse(cases[i].in, strlen(cases[i].in), &err);
        cr_assert(value != NULL, "case %zu: %s", i, err.msg);
        autobuf out = BUF_INIT(1000);
        cr_assert(zero(int, json_write(&out, value)));
        cr_assert(eq(str, out.data, cases[i].want), "case %zu", i);
    }
}

Test(json, what_is_shown_has_few_digits_and_is_the_same_number) {
    static const char *const same[] = {"1e-5", "0.1", "[0.1, 2]", "{\"a\": 18.79}",
                                       "0.30000000000000004"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        autojson *value = parse(same[i], strlen(same[i]), NULL);
        char *text = json_shown(value, 0);
        cr_assert(eq(str, text, (char *)same[i]));
        free(text);
    }
}

Test(json, what_is_not_json_is_refused_with_its_place) {
    static const struct {
        const char *in;
        int code;
    } cases[] = {
        {"", -EBADMSG},
        {"{", -EBADMSG},
        {"[1,]", -EBADMSG},
        {"nul", -EBADMSG},
        {"{} {}", -EBADMSG},
        {"'a'", -EBADMSG},
        {"NaN", -EBADMSG},
        {"\"a\nb\"", -EBADMSG},
        {"\"\\ud8", -EBADMSG},
        {"\"\\", -EBADMSG},
        {"\"abc", -EBADMSG},
        {"\"\\x\"", -EBADMSG},
        {"{\"a\":1 \xff}", -EBADMSG},
        {"\xff", -EBADMSG},
        {"{1:2}", -EBADMSG},
        {"1e400", -ERANGE},
        {"[9223372036854775808]", -ERANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        cr_assert(parse(cases[i].in, strlen(cases[i].in), &err) == NULL, "case %zu", i);
        cr_assert(eq(int, err.code, cases[i].code), "case %zu: %s", i, err.msg);
        cr_assert(strstr(err.msg, "line ") != NULL, "%s", err.msg);
    }
}

Test(json, depth_is_bounded_on_both_ways) {
    char deep[2 * (JSON_MAX_NESTING + 1)];
    for (size_t depth = JSON_MAX_NESTING; depth <= JSON_MAX_NESTING + 1; depth++) {
        struct err err = {0};
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        autojson *value = parse(deep, 2 * depth, &err);
        cr_assert(eq(int, value != NULL, depth == JSON_MAX_NESTING), "%s", err.msg);
        cr_assert(eq(int, err.code, value ? 0 : -EBADMSG));
    }
    /* Brackets in strings are text. */
    autobuf text = BUF_INIT(10000);
    buf_addc(&text, '"');
    for (int i = 0; i < 2000; i++) {
        buf_adds(&text, "[{");
    }
    buf_addc(&text, '"');
    autojson *string = parse(text.data, text.len, NULL);
    cr_assert(eq(int, json_typeof(string), JSON_STRING));

    json_t *root = json_array(), *at = root;
    for (int i = 0; i < 3000; i++) {
        json_t *inner = json_array();
        json_array_append_new(at, inner);
        at = inner;
    }
    autobuf out = BUF_INIT(100000);
    cr_assert(eq(int, json_write(&out, root), -ELOOP));
    cr_assert(zero(sz, out.len));
    json_decref(root);
}

Test(json, writing_over_the_limit_adds_nothing) {
    autojson *value = json_pack("{s:s}", "key", "some longer text");
    autobuf out = BUF_INIT(12);
    buf_adds(&out, "ab");
    cr_assert(eq(int, json_write(&out, value), -EMSGSIZE));
    cr_assert(eq(str, out.data, "ab"));
}

Test(json, strings_are_made_of_any_bytes) {
    autojson *text = json_text("a\xff\0b", 4);
    cr_assert(eq(sz, json_string_length(text), 6));
    autojson *clean = json_clean("\x1b[31ma\xe2\x80\xae\xff", 10);
    cr_assert(eq(str, (char *)json_string_value(clean), "a\xef\xbf\xbd"));
    autojson *none = json_clean_z(NULL);
    cr_assert(eq(str, (char *)json_string_value(none), ""));
}

Test(json, numbers_that_are_not_finite_become_words) {
    static const struct {
        double value;
        const char *want;
    } cases[] = {{NAN, "\"NaN\""},
                 {INFINITY, "\"Infinity\""},
                 {-INFINITY, "\"-Infinity\""},
                 {1, "1.0"},
                 {-0.5, "-0.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autojson *value = json_double(cases[i].value);
        autobuf out = BUF_INIT(100);
        cr_assert(zero(int, json_write(&out, value)));
        cr_assert(eq(str, out.data, cases[i].want));
    }
}

Test(json, lookups_fall_back_on_a_missing_key_or_another_type) {
    autojson *o = json_pack("{s:s, s:i, s:b}", "s", "text", "i", 7, "b", 1);
    cr_assert(eq(str, (char *)json_get_string(o, "s", "x"), "text"));
    cr_assert(eq(str, (char *)json_get_string(o, "i", "x"), "x"));
    cr_assert(eq(i64, json_get_integer(o, "i", 1), 7));
    cr_assert(eq(i64, json_get_integer(o, "none", 1), 1));
    cr_assert(eq(int, json_get_bool(o, "b", 0), 1));
    cr_assert(eq(int, json_get_bool(NULL, "b", 0), 0));
}

/* Strings are written eight bytes at a time: what is to be escaped may stand anywhere. */
Test(json, escapes_at_every_place) {
    static const struct {
        const char *bytes, *written;
    } cases[] = {{"\"", "\\\""},      {"\\", "\\\\"},      {"\n", "\\n"},
                 {"\x1f", "\\u001f"}, {"\x01", "\\u0001"}, {" ", " "},
                 {"\x7f", "\x7f"},    {"!", "!"},          {"\xc2\xa2", "\xc2\xa2"},
                 {"]", "]"},          {"[", "["},          {"#", "#"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (size_t at = 0; at < 20; at++) {
            for (size_t behind = 0; behind < 20; behind++) {
                char text[64], want[64];
                snprintf(text, sizeof text, "%.*s%s%.*s", (int)at, "aaaaaaaaaaaaaaaaaaaa",
                         cases[k].bytes, (int)behind, "zzzzzzzzzzzzzzzzzzzz");
                snprintf(want, sizeof want, "\"%.*s%s%.*s\"", (int)at,
                         "aaaaaaaaaaaaaaaaaaaa", cases[k].written, (int)behind,
                         "zzzzzzzzzzzzzzzzzzzz");
                autojson *value = json_string(text);
                autobuf out = BUF_INIT(256);
                cr_assert_eq(json_write(&out, value), 0);
                cr_assert_str_eq(out.data, want);
            }
        }
    }
}

/* Long and short stretches without an escape, long and short ones of nothing else: what
 * jansson reads back is the text, and a line's end is written in two bytes. */
Test(json, texts_of_any_length_and_mixture) {
    static char text[5001];
    srand(11);
    for (int round = 0; round < 3000; round++) {
        size_t len = (size_t)rand() % sizeof text, breaks = 0;
        for (size_t at = 0, end; at < len; at = end) {
            int c = rand() % 3;
            size_t run = 1 + (size_t)rand() % (rand() % 4 ? 12 : 1500);
            end = at + run < len ? at + run : len;
            memset(text + at, c == 0 ? 'a' : c == 1 ? '\n' : '"', end - at);
            breaks += c ? end - at : 0;
        }
        autojson *value = json_stringn(text, len);
        autobuf out = BUF_INIT(1u << 20);
        cr_assert_eq(json_write(&out, value), 0);
        cr_assert_eq(out.len, len + breaks + 2);
        autojson *back = json_loadb(out.data, out.len, JSON_DECODE_ANY, NULL);
        cr_assert(json_equal(back, value), "%s", out.data);
    }
}

/* What is large is freed on a thread, which the loop waits for; what is small at once. A
 * part that somebody else holds stays. */
Test(json, values_are_released) {
    uv_loop_t loop;
    cr_assert_eq(uv_loop_init(&loop), 0);
    for (int large = 0; large < 2; large++) {
        json_t *part = json_string("mine");
        json_t *value = json_object();
        json_t *list = json_array();
        for (int i = 0; i < (large ? 100000 : 10); i++) {
            json_array_append_new(list, json_integer(i));
        }
        json_object_set_new(value, "list", list);
        json_object_set(value, "part", part);
        json_release(&loop, value);
        cr_assert_eq(uv_loop_alive(&loop) != 0, large);
        uv_run(&loop, UV_RUN_DEFAULT);
        cr_assert_eq(part->refcount, 1);
        cr_assert_str_eq(json_string_value(part), "mine");
        json_decref(part);
    }
    json_release(&loop, NULL);
    cr_assert_eq(uv_loop_close(&loop), 0);
}

/* Escape sequences and deceptive characters, in texts and keys, however deep. */
Test(json, a_clean_copy_is_clean_all_through) {
    json_t *raw = json_pack("{s:s,s:[s,{s:s},i,b,n],s:o}", "a", "x\033[31my\007", "list",
                            "\x1b]0;t\x07", "ke\x1by", "\xe2\x80\xaeok", 7, 1, "empty",
                            json_object());
    autojson *clean = json_clean_all(raw);
    autofree char *text = json_dumps(clean, 0);
    cr_assert_null(strstr(text, "u001b"), "%s", text);
    cr_assert_null(strstr(text, "\xe2\x80\xae"));
    cr_assert_not_null(strstr(text, "ok"));
    cr_assert_not_null(strstr(json_get_string(raw, "a", ""), "\033"));
    cr_assert_eq(json_integer_value(json_array_get(json_object_get(clean, "list"), 2)),
                 7);
    json_decref(raw);
}

/* Items in their order, with break and continue of their own; nothing of what is neither
 * array nor object. */
Test(json, each_item_and_each_member_comes_once) {
    autojson *rows = json_pack("[{s:i,s:i},{},{s:i}]", "a", 1, "b", 2, "c", 3);
    autobuf seen = BUF_INIT(256);
    json_each(rows, i, row) {
        if (!json_object_size(row)) {
            continue;
        }
        json_each_member(row, name, value) {
            buf_addf(&seen, "%zu%s%d ", i, name, (int)json_integer_value(value));
            if (*name == 'a') {
                break;
            }
        }
    }
    json_each(json_object_get(rows, "x"), i, item) {
        buf_addf(&seen, "?%zu%p", i, (void *)item);
    }
    json_each(json_array_get(rows, 0), i, item) {
        buf_addf(&seen, "?%zu%p", i, (void *)item);
    }
    json_each_member(rows, name, value) {
        buf_addf(&seen, "?%s%p", name, (void *)value);
    }
    cr_assert_str_eq(seen.data, "0a1 2c3 ");
}
