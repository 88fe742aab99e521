/* skill/trigger's result on a terminal. */
#include "clients/ctl/render.h"

#define INDENT 11

/* --- a student --- */

#define RATE(member, label)                                                              \
    "[  " label "{" member "#rate}{" member ".estimate%3.0p} %  {" member                \
    ".right%2d} of {" member ".of|0}  ({" member ".low%.0p} – {" member ".high%.0p} %)\n]"

/* A query with a wrong answer has what was loaded in place of the skill. */
static const char student_words[] =
    RATE("recall", "needed, loaded      ") RATE("specificity", "not needed, left    ")
    RATE("precision", "loaded, needed      ")
    "{queries:[{?right=false}  " RED "[{?should_trigger}missed|wrong ]" END
    " {loaded|0}/{runs|0}  \t{query~300}[; instead: {others/, /:{@}}]\n]}";

static void student_lines(const struct terminal *t, const json_t *student, bool alone) {
    render_student_head(t, student, alone);
    if (!json_says(student, "verdict", "not_measurable")) {
        terminal_words(t, 0, student_words, student);
    }
}

/* --- a better description --- */

void render_diff(const struct terminal *t, const char *indent, const char *diff,
                 size_t most) {
    size_t lines = 0;
    for (const char *line = diff; *line; lines++) {
        size_t len = strcspn(line, "\n");
        if (lines < most) {
            autofree char *text = xstrndup(line, len);
            enum style style = *line == '+'   ? STYLE_GREEN
                               : *line == '-' ? STYLE_RED
                               : *line == '@' ? STYLE_BLUE
                                              : STYLE_PLAIN;
            fputs(indent, stdout);
            terminal_line(t, style, text);
        }
        line += len + (line[len] == '\n');
    }
    if (lines > most) {
        printf("%s… and %zu more lines (--json has them)\n", indent, lines - most);
    }
}

static void proposal_lines(const struct terminal *t, const json_t *result) {
    const json_t *proposal = json_object_get(result, "proposal");
    if (proposal) {
        putchar('\n');
        render_diff(t, "", json_get_string(proposal, "diff", ""), SIZE_MAX);
        terminal_words(t, INDENT,
                       "[{?saved}  " DIM "saved" END "\t" GREEN "in the skill's SKILL.md"
                       "|  " DIM "not saved" END "\t{save_problem}"
                       "|  " DIM "next" END "\tthe same command with --save writes it]\n",
                       result);
    }
}

void render_trigger(const struct terminal *t, const json_t *result) {
    const json_t *students = json_object_get(result, "students");
    render_sentence(t, result);
    json_each(students, i, student) {
        student_lines(t, student, json_array_size(students) == 1);
    }
    putchar('\n');
    terminal_words(t, INDENT,
                   "  " DIM "beside" END "\t" DIM
                   "[{neighbours/, /:{.}}|no other skill: a real list is harder]\n"
                   "[  " DIM "record" END "\tupskillctl run show {run}\n]",
                   result);
    render_refinement(t, json_object_get(result, "refinement"));
    proposal_lines(t, result);
}
