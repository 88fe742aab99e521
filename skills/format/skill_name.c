#include "skills/format/skill_name.h"

#include "base/buf.h"
#include "base/text.h"
#include "skills/format/skill.h"

#define NAMED_MAX 4 /* characters that are named */

static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

bool skill_name_is_valid(const char *name) {
    size_t len = strlen(name);
    return len && len <= SKILL_MAX_NAME && name[0] != '-' && name[len - 1] != '-' &&
           !strstr(name, "--") && strspn(name, allowed) == len;
}

/* ` holds "_", U+0430`: those that are not allowed. */
static void add_others(struct buf *out, const char *name) {
    size_t len = strlen(name), count = 0;
    for (size_t i = 0; i < len && count < NAMED_MAX;) {
        uint32_t cp;
        size_t at = i;
        i += text_decode(name + i, len - i, &cp);
        if (cp < 0x80 && strchr(allowed, name[at])) {
            continue;
        }
        buf_adds(out, count++ ? ", " : " holds ");
        bool is_plain = cp > ' ' && cp < 0x7f;
        buf_addf(out, is_plain ? "\"%c\"" : "U+%04X", cp);
    }
}

char *skill_name_problem(const char *name) {
    if (skill_name_is_valid(name)) {
        return NULL;
    }
    struct buf out = BUF_INIT(256);
    buf_adds(&out, "its name");
    add_others(&out, name);
    buf_adds(&out, out.len > strlen("its name") ? "; the specification allows"
                                                : " breaks the specification:");
    buf_adds(&out, " only a to z, 0 to 9 and single hyphens between them");
    return buf_detach(&out);
}

/* Maps letters that look alike to the same letter; 0 at the end. An 'm' becomes 'r' and
 * 'n'; `half`: the 'r' was returned. */
static char look_next(const char **at, bool *half) {
    char c = *half ? 'n' : (char)tolower((unsigned char)**at);
    *half = !*half && c == 'm';
    *at += c && !*half;
    return *half                              ? 'r'
           : c == '0'                         ? 'o'
           : c == '1' || c == 'i' || c == '|' ? 'l'
           : c == '_'                         ? '-'
                                              : c;
}

bool skill_name_looks_like(const char *name, const char *other) {
    const char *a = name, *b = other;
    bool a_half = false, b_half = false;
    for (;;) {
        char x = look_next(&a, &a_half), y = look_next(&b, &b_half);
        if (x != y || !x) {
            return x == y && strcmp(name, other) != 0;
        }
    }
}
