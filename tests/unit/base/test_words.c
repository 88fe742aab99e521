/* words: what a JSON value says, by a text with places for its members. */
#include "base/buf.h"
#include "base/json.h"
#include "base/words.h"

#include <criterion/criterion.h>

static const char value_text[] =
    "{\"lines\": \"ab\\ncd\\n\", \"name\": \"k\", \"empty\": \"\", \"line\": 7, "
    "\"none\": 0, \"rate\": 0.256, \"half\": 0.125,"
    " \"off\": false, \"on\": true, \"list\": [\"a\", \"b\", \"c\"], \"nothing\": [],"
    " \"sizes\": {\"n\": 5, \"m\": 6}, \"umlaut\": \"äöü\","
    " \"at\": [{\"file\": \"k.cu\", \"line\": 3}, {\"line\": 4}], \"null\": null,"
    " \"braces\": \"{name}\"}";

Test(words, tell_by_their_rules) {
    static const struct {
        const char *words, *told;
    } rows[] = {
        {"plain", "plain"},
        {"\\[{name}\\] a\\|b \\{\\}", "[k] a|b {}"},
        {"{name}:{line}{missing}", "k:7"},
        {"{missing|?}{empty|-}{name|no}", "?-k"},
        {"{sizes.n} {sizes.z|none}", "5 none"},
        {"{rate%.1f} {rate%.0p}% {half%.0p}% {line%3d}|", "0.3 26% 13%   7"},
        {"{name%-4s}.{rate%+.0p}", "k   .+26"},
        {"{umlaut~5} {umlaut~6}", "äö… äöü"},
        {"{name~9!}{lines~9!}{lines~5!}", "k\nab\ncd\nab\ncd…\n"},
        {"[{?on=true}1][{?on=false}2][{?off=false}3][{?missing=false}4]", "13"},
        {"[1{?nothing=*}][2{?empty=*}][3{?missing=*}][4{!missing=*}][5{?null=*}]", "124"},
        {"[1{?line>none}][2{?none>line}][3{?line>sizes.m}][4{?line=line}][5{?line>@}]",
         "1345"},
        {"{list-0} {list-2} more{list-3}", "3 1 more"},
        {"[and {list-2} more][, and {list-3} none]", "and 1 more"},
        {"{list:<{.}>}", "<a><b><c>"},
        {"{list<2/, /:{.}}", "a, b"},
        {"{list/ /:{@}}", "0 1 2"},
        {"{sizes/ /:{@}={.}}", "n=5 m=6"},
        {"{at:[{file}:]{line};}", "k.cu:3;4;"},
        {"[({missing})][({empty})][({null})][({nothing:x})]({name})", "(k)"},
        {"[x{?on}][y{?off}][z{!off}][v{?none}][u{?list}][t{!nothing}]", "xzut"},
        {"[1{?name=k}][2{?name=kk}][3{!name=kk}][4{?line=7}][5{?list=3}][6{?list=2}]",
         "1345"},
        {"[a{?none=true}][b{?line>missing}][c{?none=missing}][d{!none=other}]", "d"},
        {"[a{?line>6}][b{?line>7}][c{?list>2}][d{?missing>0}]", "ac"},
        {"[{missing}|{line}|{name}] [{missing}|{empty}]", "7 "},
        {"[a[{missing}]b]", "ab"},
        {"[{?off}{list:[{.}|{!.}]}|else {name}]", "else k"},
        {"{sizes/ /:{^name}{@}[{?^line>6}7]}{^name}", "kn7 km7"},
        {"{at/ /:{^list/,/:{.}{^line}{^^name}}}", "a3k,b3k,c3k a4k,b4k,c4k"},
        {"{on}{off}", ""},
        {"{braces}", "{name}"},
        {"[open {name}", "open k"},
        {"{name", "k"},
        {"\\", "\\"},
        {"{nothing:\\", ""},
        {"{list<1/", ""},
    };
    autofree char *text = xstrdup(value_text);
    autojson *value = json_parse(text, strlen(text), NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        autobuf out = BUF_INIT(1000);
        words_add(&out, rows[i].words, value);
        cr_expect_str_eq(out.data, rows[i].told, "%s: %s", rows[i].words, out.data);
    }
}

static void shout(struct buf *out, size_t from) {
    for (char *c = out->data + from; *c; c++) {
        *c = *c == '\n' ? '|' : *c;
    }
}

static void add_stars(struct buf *out, const json_t *value, const void *data) {
    for (json_int_t i = json_integer_value(value); i > 0; i--) {
        buf_adds(out, data);
    }
}

Test(words, show_values_in_the_callers_manner) {
    static const struct words_part parts[] = {{"stars", add_stars}, {0}};
    const struct words_manner manner = {.escape = shout, .parts = parts, .data = "*\n"};
    autojson *value = json_pack("{s:s,s:[s],s:i,s:n}", "a", "1\n2", "list", "3\n4", "n",
                                2, "none");
    autobuf out = BUF_INIT(100), line = BUF_INIT(100);
    words_add_as(&out, &manner, "{a}\n{list:{.}\n}{n#stars}[{b#stars}|{c|5\n}][{n#sta}]",
                 value);
    cr_expect_str_eq(out.data, "1|2\n3|4\n*\n*\n5|");
    words_add_as(&line, &(struct words_manner){.escape = words_one_line},
                 "{a}\n[{?none=0}zero]", value);
    cr_expect_str_eq(line.data, "1 2\n");
}

/* A full buffer stays what it was, and a part that is left out gives its room back. */
Test(words, stay_within_their_buffer) {
    autojson *value = json_pack("{s:s}", "a", "0123456789");
    autobuf out = BUF_INIT(15);
    words_add(&out, "{a}[{a}][{a}{missing}]12345", value);
    cr_expect_leq(out.len, 15u);
    cr_expect(out.full);
    cr_expect_eq(strncmp(out.data, "0123456789", 10), 0);
}
