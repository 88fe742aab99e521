/* Prints the operators of gpu/reference as JSON; docs/make-operators.py makes a page of
 * it. */
#include "base/json.h"
#include "gpu/reference/operator.h"

#include <stdio.h>

static json_t *roles_of(const struct operator_role *roles, size_t max) {
    json_t *list = json_array();
    for (size_t i = 0; i < max && roles[i].name; i++) {
        json_array_append_new(list,
                              json_pack("{s:s, s:b, s:b, s:b}", "name", roles[i].name,
                                        "optional", roles[i].optional, "whole",
                                        roles[i].whole, "repeat", roles[i].repeat));
    }
    return list;
}

static json_t *attributes_of(const struct operator* op) {
    static const char *const kinds[] = {"integer", "number", "bool", "choice",
                                        "integers"};
    json_t *list = json_array();
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        const struct operator_attribute *a = &op->attributes[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s?, s:s?, s:o, s:o, s:b}", "name", a->name,
                            "kind", kinds[a->kind], "fallback", a->fallback, "choices",
                            a->choices, "low", json_double(a->low), "high",
                            json_double(a->high), "nullable", a->nullable));
    }
    return list;
}

int main(void) {
    autojson *all = json_array();
    const struct operator* op;
    for (size_t i = 0; (op = operator_at(i)); i++) {
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", op->name, "family",
                           op->family, "summary", op->summary, "inputs",
                           roles_of(op->inputs, OPERATOR_MAX_INPUTS), "outputs",
                           roles_of(op->outputs, OPERATOR_MAX_OUTPUTS), "attributes",
                           attributes_of(op)));
    }
    json_dumpf(all, stdout, JSON_INDENT(1));
    return puts("") < 0;
}
