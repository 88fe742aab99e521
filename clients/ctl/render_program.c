/* kernel/run's result on a terminal. */
#include "base/buf.h"
#include "clients/ctl/render.h"

/* The line's end: how often, and where in the host's code. */
#define TIMES(member) "[{?" member ">1}, {" member "} times]"
#define PLACE "[  " DIM "{file}:{line|0}" END "]\n"
#define MORE(list) "[and {" list "-12} more\n]"

static const char outcome_words[] =
    "{api_errors<12:" YELLOW "{function|?}" END " failed with {error|?}"
    "[{?looked_at}|{?looked_at=false}, and the program did not check"
    "|; whether the program checked is not known]" TIMES("count") PLACE
    "[  \t{message}\n][{?later}  and so did {later} later call[{!later=1}s]\n]}" MORE(
        "api_errors") "{leaks<12:" YELLOW "not freed at the end: " END
                      "{bytes|0} bytes of {kind|device} memory"
                      "[{?count>1} in {count} allocations]" PLACE
    "}" MORE("leaks") "{launches<12:launched " BOLD "{kernel|?}" END
                      "<<<{grid/,/:{.}} / {block/,/:{.}}>>>" TIMES("times") PLACE
    "}" MORE("launches") "[{?skipped_launches.launches}\t" DIM
                         "{skipped_launches.launches} launches were skipped, "
                         "because their outcome was known from equal ones "
                         "(--run-all-launches runs them)\n]";

static const char missing_words[] =
    "{unsupported<60:  " BOLD "[{function}|{what}|?]" END PLACE "}";

static const char files_words[] =
    "{files<12:wrote {name|?}, {bytes|0} bytes\n}" MORE("files") SAVED_WORDS;

void render_printed(const struct terminal *t, const char *title, const char *text) {
    if (*text) {
        terminal_putf(t, STYLE_DIM, "%s:\n", title);
        terminal_put(t, STYLE_PLAIN, text);
        fputs(text[strlen(text) - 1] == '\n' ? "" : "\n", stdout);
    }
}

static void put_error(const struct terminal *t, const json_t *result) {
    const json_t *error = json_object_get(result, "error");
    const char *message = json_get_string(error, "message", NULL);
    bool told = message && strstr(json_get_string(result, "summary", ""), message);
    render_labelled(t, verdict_style(result), json_get_string(error, "stage", ""),
                    told ? NULL : message); /* the verdict is the last line */
    terminal_words(t, 0, missing_words, result);
    render_labelled(t, STYLE_BLUE, "hint", json_get_string(error, "hint", NULL));
}

static void put_verdict(const struct terminal *t, const json_t *result) {
    bool launched = json_array_size(json_object_get(result, "launches"));
    autobuf rest = BUF_INIT(128);
    if (launched) {
        buf_adds(&rest, "; kernels ran on the CPU, so times say nothing about a GPU");
    }
    render_verdict(t, verdict_style(result), json_get_string(result, "summary", "?"),
                   &rest);
}

void render_kernel_run(const struct terminal *t, const json_t *result,
                       const struct finding_sources *sources) {
    render_printed(t, "stdout", json_get_string(result, "stdout", ""));
    render_printed(t, "stderr", json_get_string(result, "stderr", ""));
    terminal_words(
        t, 0, "[{?output_omitted_bytes}{output_omitted_bytes} more bytes were printed\n]",
        result);
    render_findings(t, json_object_get(result, "diagnostics"), sources);
    render_findings(t, json_object_get(result, "findings"), sources);
    render_explain(t, json_object_get(result, "findings"));
    terminal_words(t, 0, outcome_words, result);
    put_error(t, result);
    render_labelled(t, STYLE_BLUE, "hint", json_get_string(result, "hint", NULL));
    terminal_words(t, 0, files_words, result);
    put_verdict(t, result);
}
