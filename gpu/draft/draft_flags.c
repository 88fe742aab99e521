#include "gpu/draft/draft_flags.h"

#include "gpu/compile/compile_options.h"

void draft_name_flags(json_t *spec, const json_t *params) {
    const json_t *words = json_object_get(params, "options");
    autojson *options = json_array();
    json_t *expect = json_object_get(spec, "expect");
    for (size_t at = 0, count; at < json_array_size(words); at += count ? count : 1) {
        bool matters;
        count = compile_option_words(words, at, &matters);
        for (size_t i = 0; matters && i < count; i++) {
            json_array_append(options, json_array_get(words, at + i));
        }
    }
    json_object_set(spec, "defines", json_object_get(params, "defines"));
    json_object_set(spec, "options", json_array_size(options) ? options : NULL);
    json_incref(expect);
    json_object_del(spec, "expect");
    json_object_set_new(spec, "expect", expect);
}
