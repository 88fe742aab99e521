#include "gpu/ptx/read/ptx_legality.h"

#include "base/find.h"

#include <pthread.h>

#define PTX_M_ANY (-1)
#define PTX_M_TWO_TYPES (-2)
static const struct form {
    int16_t opcode, a, b;
    const char *operands;
} forms[] = {
#define PTX_FORM(op, a, b, operands) {PTX_OP_##op, PTX_M_##a, PTX_M_##b, operands},
#include "gpu/ptx/read/opcodes.def"
};

/* The first row of each opcode, ARRAY_LEN(forms) = none. */
static uint16_t first_forms[PTX_OPCODES];
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void index_forms(void) {
    for (int i = 0; i < PTX_OPCODES; i++) {
        first_forms[i] = ARRAY_LEN(forms);
    }
    for (size_t i = ARRAY_LEN(forms); i-- > 0;) {
        first_forms[forms[i].opcode] = (uint16_t)i;
    }
}

static bool has(const struct ptx_instruction *i, int modifier) {
    return modifier == PTX_M_TWO_TYPES ? i->type_count == 2
                                       : modifier < 0 || ptx_has(i, (enum ptx_modifier)modifier);
}

/* NULL: the opcode has no rows. *ret_known: it has some, none of which fits. */
static const struct form *form_of(const struct ptx_instruction *i, bool *ret_known) {
    pthread_once(&indexed, index_forms);
    size_t at = first_forms[i->opcode];
    *ret_known = at < ARRAY_LEN(forms);
    for (; at < ARRAY_LEN(forms) && forms[at].opcode == i->opcode; at++) {
        if (has(i, forms[at].a) && has(i, forms[at].b)) {
            return &forms[at];
        }
    }
    return NULL;
}

/* A register that is not a predicate, or a constant. */
static bool check_any(const struct ptx_check *c, int number,
                      const struct ptx_operand *o) {
    if (o->kind == PTX_OPERAND_IMMEDIATE ||
        (o->kind == PTX_OPERAND_SYMBOL &&
         c->r->m->variables[o->index].type == PTX_SAMPLERREF)) {
        return true;
    }
    return (o->kind == PTX_OPERAND_REGISTER && !o->negated &&
            ptx_register_type(c, o) != PTX_PRED) ||
           ptx_refuse(c, number, "must be a register or a constant");
}

static bool check_elements(const struct ptx_check *c, int number,
                           const struct ptx_operand *o) {
    const struct ptx_operand *elements = ptx_elements_of(c, o);
    return !any_of(k, 0, o->count,
                   elements[k].kind != PTX_OPERAND_SINK &&
                       !check_any(c, number, &elements[k]));
}

static bool check_either(const struct ptx_check *c, int number,
                         const struct ptx_operand *o) {
    return o->kind == PTX_OPERAND_VECTOR ? check_elements(c, number, o)
                                         : check_any(c, number, o);
}

/* A variable must live where the instruction looks, if it says where. */
static bool check_space(const struct ptx_check *c, int number,
                        const struct ptx_operand *o) {
    const struct ptx_instruction *i = c->i;
    bool plain = i->opcode == PTX_OP_LD || i->opcode == PTX_OP_ST ||
                 i->opcode == PTX_OP_LDU || i->opcode == PTX_OP_ATOM ||
                 i->opcode == PTX_OP_RED;
    uint8_t space = c->r->m->variables[o->index].space;
    if (!plain || i->space_count != 1 || i->spaces[0] == space ||
        (i->spaces[0] == PTX_SHARED_CLUSTER && space == PTX_SHARED)) {
        return true;
    }
    return ptx_refuse(c, number, "names a variable of another state space");
}

static bool check_address(const struct ptx_check *c, int number, bool coordinates) {
    const struct ptx_operand *o = &c->operands[number];
    if (o->kind != PTX_OPERAND_ADDRESS) {
        return ptx_refuse(c, number, "must be an address in brackets");
    }
    if ((o->count > 0) != coordinates) {
        return ptx_refuse(c, number,
                          coordinates ? "lacks coordinates" : "takes no coordinates");
    }
    if (o->base == PTX_BASE_REGISTER) {
        enum ptx_type t = ptx_register_type(c, o);
        if (ptx_type_float(t) || (ptx_type_bytes(t) != 4 && ptx_type_bytes(t) != 8)) {
            return ptx_refuse(c, number, "needs a register of 32 or 64 bits, no float");
        }
    } else if (o->base == PTX_BASE_SYMBOL && !check_space(c, number, o)) {
        return false;
    }
    return o->count == 0 || check_elements(c, number, o);
}

static bool check_constant(const struct ptx_check *c, int number) {
    const struct ptx_operand *o = &c->operands[number];
    return (o->kind == PTX_OPERAND_IMMEDIATE && !o->is_float) ||
           ptx_refuse(c, number, "must be a constant");
}

static bool check_kind(const struct ptx_check *c, int number, uint8_t kind,
                       const char *what) {
    return c->operands[number].kind == kind || ptx_refuse(c, number, what);
}

static enum ptx_type twice(enum ptx_type t) {
    switch (t) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    case PTX_S32:
        return PTX_S64;
    default:
        return PTX_NONE;
    }
}

/* The type for a letter of the table; PTX_NONE: the text lacks it, or it names none. */
static enum ptx_type type_of(const struct ptx_instruction *i, char letter) {
    switch (letter) {
    case 'p':
        return PTX_PRED;
    case 'h':
        return PTX_B16;
    case 'u':
        return PTX_B32;
    case 'U':
        return PTX_B64;
    case 'f':
        return PTX_F32;
    case 'w':
        return i->type_count ? twice(i->types[0]) : PTX_NONE;
    default:
        return letter >= '0' && letter - '0' < i->type_count ? i->types[letter - '0']
                                                             : PTX_NONE;
    }
}

static bool check_symbol(const struct ptx_check *c, int number, enum ptx_type t) {
    struct ptx_operand *o = &c->operands[number];
    if (o->kind == PTX_OPERAND_SYMBOL) {
        return ptx_type_bytes(t) >= 4 ||
               ptx_refuse(c, number, "does not fit an address of a variable");
    }
    return ptx_check_source(c, number, o, t);
}

/* `s` with the letters that name no single type. */
static bool check_loose(const struct ptx_check *c, int number, char letter) {
    struct ptx_operand *o = &c->operands[number];
    if (letter == 'q' && o->kind == PTX_OPERAND_REGISTER &&
        ptx_register_type(c, o) == PTX_PRED) {
        return true;
    }
    return letter == 'q' ? ptx_check_source(c, number, o, PTX_B32)
                         : check_any(c, number, o);
}

static bool check_scalar_or_vector(const struct ptx_check *c, int number, enum ptx_type t,
                                   char role) {
    struct ptx_operand *o = &c->operands[number];
    bool destination = role != 'S';
    /* `{r}` is what tex, suld and sust write for one element. */
    if (c->i->vector > 1 || o->kind == PTX_OPERAND_VECTOR) {
        return ptx_check_vector(c, number, t, c->i->vector, destination);
    }
    return destination ? ptx_check_destination(c, number, o, t, role == 'X')
                       : ptx_check_source(c, number, o, t);
}

static bool check_typed(const struct ptx_check *c, int number, char role, char letter) {
    struct ptx_operand *o = &c->operands[number];
    enum ptx_type t = type_of(c->i, letter);
    if (t == PTX_NONE) {
        return ptx_refuse(c, -1, "lacks a type, or has one that it cannot have");
    }
    switch (role) {
    case 'd':
    case 'x':
        return ptx_check_destination(c, number, o, t, role == 'x');
    case 's':
        return ptx_check_source(c, number, o, t);
    case 'y':
        return check_symbol(c, number, t);
    default:
        return check_scalar_or_vector(c, number, t, role);
    }
}

/* Fragments: 32-bit registers, as many as the digit says; `*`: ptx_check_matrix counts.
 */
static bool check_fragment(const struct ptx_check *c, int number, char role,
                           char letter) {
    return letter == '*' ? check_kind(c, number, PTX_OPERAND_VECTOR, "must be a vector")
                         : ptx_check_vector(c, number, PTX_B32, (unsigned)(letter - '0'),
                                            role == 'V');
}

static bool check_one(const struct ptx_check *c, int number, char role, char letter) {
    switch (role) {
    case 'a':
    case 't':
        return check_address(c, number, role == 't');
    case 'i':
        return check_constant(c, number);
    case 'l':
        return check_kind(c, number, PTX_OPERAND_LABEL, "must be a label");
    case 'T':
        return check_kind(c, number, PTX_OPERAND_TABLE, "must be a list of targets") &&
               (!ptx_current(c->r)->tables[c->operands[number].index].calls ||
                ptx_refuse(c, number, "lists functions, not labels"));
    case 'e':
        return check_either(c, number, &c->operands[number]);
    case 'V':
    case 'W':
        return check_fragment(c, number, role, letter);
    default:
        return letter == 'r' || letter == 'q' || letter == '*'
                   ? check_loose(c, number, letter)
                   : check_typed(c, number, role, letter);
    }
}

/* Past one entry of the table; what it says. */
static const char *take_slot(const char *at, bool *optional, bool *pair, char *role,
                             char *letter) {
    *optional = *at == '?';
    at += *optional;
    *pair = *at == '|';
    at += *pair;
    *role = *pair ? 'x' : *at++;
    *letter = *at && *at != ' ' ? *at++ : '\0';
    return at + (*at == ' ');
}

static int count_needed(const char *at, bool has_pair) {
    int needed = 0;
    while (*at) {
        bool optional, pair;
        char role, letter;
        at = take_slot(at, &optional, &pair, &role, &letter);
        needed += pair ? has_pair : !optional;
    }
    return needed;
}

/* The entries of a form that an instruction's operands have. */
struct slots {
    const struct ptx_instruction *i;
    const char *rest;
    int spare;          /* < 0: it has too few */
    bool paired, lacks; /* a partner was there; one that is needed was not */
    char role, letter;
};

static struct slots slots_of(const struct ptx_instruction *i, const char *operands) {
    int needed = count_needed(operands, i->has_pair);
    return (struct slots){.i = i, .rest = operands, .spare = i->operand_count - needed};
}

/* A left-out operand leaves its place to the next; the count decides which are there. */
static bool next_slot(struct slots *s) {
    bool optional, pair, left_out;
    do {
        if (!*s->rest) {
            return false;
        }
        s->rest = take_slot(s->rest, &optional, &pair, &s->role, &s->letter);
        left_out = pair ? !s->i->has_pair : optional && s->spare == 0;
        s->lacks |= pair && left_out && !optional;
    } while (left_out);
    s->spare -= optional && !pair;
    s->paired |= pair;
    return true;
}

static bool check_form(const struct ptx_check *c, const char *operands) {
    const struct ptx_instruction *i = c->i;
    struct slots s = slots_of(i, operands);
    int number = 0;
    if (s.spare < 0) {
        return ptx_refuse(c, -1, "has too few operands");
    }
    while (next_slot(&s)) {
        if (s.lacks) {
            break;
        }
        if (!check_one(c, number++, s.role, s.letter)) {
            return false;
        }
    }
    if (s.lacks) {
        return ptx_refuse(c, -1, "needs a second result (r|p)");
    }
    if (number != i->operand_count || s.paired != i->has_pair) {
        return ptx_refuse(c, -1,
                          i->has_pair && !s.paired ? "has no second result (r|p)"
                                                   : "has too many operands");
    }
    return true;
}

void ptx_operand_types(const struct ptx_instruction *i, unsigned count,
                       enum ptx_type *ret) {
    bool known;
    const struct form *form = form_of(i, &known);
    struct slots s = slots_of(i, form ? form->operands : "");
    for (unsigned k = 0; k < count; k++) {
        ret[k] = !form            ? i->types[0]
                 : !next_slot(&s) ? PTX_NONE
                 : s.role == 'i'  ? PTX_B32
                                  : type_of(i, s.letter);
    }
}

static bool is_video(const struct ptx_instruction *i) {
    return (i->opcode >= PTX_OP_VABSDIFF && i->opcode <= PTX_OP_VMIN4) ||
           (i->opcode >= PTX_OP_VSET && i->opcode <= PTX_OP_VSUB4);
}

/* Where nothing is promised of an instruction, its operands still are what they name. */
static bool is_free(const struct ptx_instruction *i) {
    return is_video(i) || i->opcode == PTX_OP_TCGEN05 ||
           i->opcode == PTX_OP_CLUSTERLAUNCHCONTROL;
}

/* Parts of registers are chosen by video instructions alone. */
static bool check_selectors(const struct ptx_check *c) {
    for (int k = 0; k < c->i->operand_count && !is_video(c->i); k++) {
        if (ptx_selector_of(&c->operands[k]).count) {
            return ptx_refuse(c, k, "is a part of a register");
        }
    }
    return true;
}

/* Two values of f32 make one packed value; everything else is made of one. */
static bool check_convert(const struct ptx_check *c) {
    const struct ptx_instruction *i = c->i;
    if (ptx_has(i, PTX_M_PACK) || ptx_has(i, PTX_M_RS)) {
        return true;
    }
    bool pairs = ptx_is_packed(i->types[0]) && i->types[0] != PTX_TF32 &&
                 ptx_type_bytes(i->types[0]) <= 4 && i->types[1] == PTX_F32;
    return i->operand_count == (pairs ? 3 : 2) ||
           ptx_refuse(c, -1, pairs ? "needs two sources" : "has one source");
}

bool ptx_check_instruction(struct ptx_reader *r, struct ptx_instruction *i) {
    struct ptx_check c = {r, i, ptx_current(r)->operands + i->operands};
    bool known;
    if (!check_selectors(&c)) {
        return false;
    }
    switch (i->opcode) {
    case PTX_OP_CALL:
        return ptx_check_call(&c);
    case PTX_OP_MOV:
        return ptx_check_move(&c);
    case PTX_OP_MMA:
        return ptx_check_matrix(&c);
    default:
        break;
    }
    const struct form *form = form_of(i, &known);
    if (form && !check_form(&c, form->operands)) {
        return false;
    }
    if (i->opcode == PTX_OP_CVT && !check_convert(&c)) {
        return false;
    }
    if ((i->opcode == PTX_OP_WMMA || i->opcode == PTX_OP_WGMMA) &&
        (!form || *form->operands == 'V' || strchr(form->operands, 'W'))) {
        return ptx_check_matrix(&c);
    }
    return form || (!known && is_free(i)) || ptx_refuse(&c, -1, "is not a known form");
}
