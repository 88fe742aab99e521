#include "gpu/draft/ptx_draft.h"
#include "base/find.h"
#include "base/find.h"

#include "gpu/draft/kernel_use.h"
#include "gpu/draft/spec_draft.h"

struct parameter {
    bool loaded, pointer;
    bool passed;        /* to a function, or in a way that is not followed */
    unsigned use;       /* kernel_use.h */
    enum ptx_type type; /* of what is read or written there; PTX_NONE: no float, or
                           several */
    unsigned bytes;     /* at a time; 0: not seen */
};

struct scan {
    const struct ptx_function *f;
    struct parameter *params;
    uint32_t *holds; /* for each register 1 + the parameter that it points into, or 0 */
};

/* --- what the instructions say --- */

static struct parameter *behind(const struct scan *s, const struct ptx_operand *o) {
    bool is_register = o->kind == PTX_OPERAND_REGISTER ||
                       (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_BASE_REGISTER);
    uint32_t holds = is_register ? s->holds[o->index] : 0;
    return holds ? &s->params[holds - 1] : NULL;
}

static void load_parameter(struct scan *s, const struct ptx_operand *o) {
    for (uint32_t i = 0; i < s->f->param_count; i++) {
        if (o[1].kind == PTX_OPERAND_ADDRESS && o[1].base == PTX_BASE_SYMBOL &&
            s->f->params[i] == o[1].index) {
            s->params[i].loaded = true;
            if (o[0].kind == PTX_OPERAND_REGISTER) {
                s->holds[o[0].index] = i + 1;
            }
        }
    }
}

static void access_memory(struct parameter *p, const struct ptx_instruction *i) {
    enum ptx_type type = i->types[0];
    type = ptx_type_float(type) ? type : PTX_NONE;
    p->pointer = true;
    p->type = !p->bytes || p->type == type ? type : PTX_NONE;
    p->bytes = ptx_type_bytes(i->types[0]);
    p->use |= i->opcode == PTX_OP_ST || i->opcode == PTX_OP_RED ? USE_WRITES : USE_READS;
    p->use |= i->opcode == PTX_OP_ATOM ? USE_WRITES : 0;
    p->use |= i->opcode == PTX_OP_RED ? USE_READS : 0;
}

static bool is_access(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_LD || i->opcode == PTX_OP_LDU || i->opcode == PTX_OP_ST ||
           i->opcode == PTX_OP_ATOM || i->opcode == PTX_OP_RED;
}

static bool is_address_arithmetic(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_MOV || i->opcode == PTX_OP_ADD ||
           i->opcode == PTX_OP_SUB || i->opcode == PTX_OP_MAD ||
           i->opcode == PTX_OP_SELP || i->opcode == PTX_OP_CVTA;
}

/* A sum points where its first pointer does. */
static void carry(struct scan *s, const struct ptx_instruction *i,
                  const struct ptx_operand *o) {
    struct parameter *from = NULL;
    for (unsigned n = 1; n < i->operand_count; n++) {
        struct parameter *p = behind(s, &o[n]);
        from = p && (!from || (p->pointer && !from->pointer)) ? p : from;
    }
    if (from && o[0].kind == PTX_OPERAND_REGISTER) {
        from->pointer |= i->opcode == PTX_OP_CVTA;
        s->holds[o[0].index] = (uint32_t)(from - s->params) + 1;
    }
}

static void read_instruction(struct scan *s, const struct ptx_instruction *i) {
    const struct ptx_operand *o = s->f->operands + i->operands;
    if (i->opcode == PTX_OP_LD && i->space_count && i->spaces[0] == PTX_PARAM) {
        load_parameter(s, o);
        return;
    }
    if (is_address_arithmetic(i)) {
        carry(s, i, o);
        return;
    }
    for (unsigned n = 0; n < i->operand_count; n++) {
        struct parameter *p = behind(s, &o[n]);
        if (p && o[n].kind == PTX_OPERAND_ADDRESS && is_access(i)) {
            access_memory(p, i);
        } else if (p && o[n].kind == PTX_OPERAND_ADDRESS) { /* asynchronous copies */
            p->pointer = true;
            p->use |= USE_UNCLEAR;
        } else if (p && i->opcode == PTX_OP_ST) {
            p->passed = true;
        }
    }
}

static struct parameter *parameters_of(const struct ptx_function *f) {
    struct scan s = {.f = f,
                     .params = xcalloc(f->param_count + 1, sizeof *s.params),
                     .holds = xcalloc(f->register_count + 1, sizeof *s.holds)};
    for (uint32_t i = 0; i < f->code_count; i++) {
        read_instruction(&s, &f->code[i]);
    }
    free(s.holds);
    return s.params;
}

/* --- the arguments --- */

/* "scale_param_3" of the entry scale: "param_3" */
static const char *short_name(const struct ptx_function *f, const char *name) {
    size_t len = strlen(f->name);
    return !strncmp(name, f->name, len) && name[len] == '_' && name[len + 1]
               ? name + len + 1
               : name;
}

static json_t *buffer_of(const struct parameter *p, const char *name, uint32_t i,
                         json_t *unknown) {
    char member[48];
    const char *type = p->type == PTX_F32   ? "float32"
                       : p->type == PTX_F64 ? "float64"
                                            : NULL;
    json_t *arg = json_pack("{s:s, s:s?, s:n}", "name", name, "type", type, "shape");
    if (!type) {
        snprintf(member, sizeof member, "args[%u].type", i);
        draft_note(unknown, member,
                   p->bytes ? "its elements are moved %u bytes at a time: name their type"
                            : "the PTX does not show what it points to: name the type",
                   p->bytes);
    }
    snprintf(member, sizeof member, "args[%u].shape", i);
    draft_note(unknown, member, "PTX does not say how much it points to");
    if (type && p->use & USE_READS) {
        json_object_set_new(arg, "init", json_pack("{s:[i,i]}", "normal", 0, 1));
    }
    if (p->use & USE_WRITES) {
        json_object_set_new(arg, "output", json_true());
    } else if (p->use != USE_READS) {
        snprintf(member, sizeof member, "args[%u].output", i);
        draft_note(unknown, member, "the PTX does not show whether it is an output");
    }
    return arg;
}

static json_t *scalar_of(const struct parameter *p, const struct ptx_variable *v,
                         const char *name, uint32_t i, json_t *unknown) {
    char member[48], type[16];
    bool is_float = ptx_type_float(v->type);
    snprintf(type, sizeof type, "%s%u", is_float ? "float" : "int",
             8 * (unsigned)v->size);
    snprintf(member, sizeof member, "args[%u].value", i);
    json_t *value = json_null();
    if (!p->loaded) {
        value = json_integer(0);
        draft_note(unknown, member, "the kernel does not use it, so it is 0");
    } else if (is_float) {
        value = json_real(0.5);
        draft_note(unknown, member, "PTX does not say its value: 0.5 is an example");
    } else {
        draft_note(unknown, member, "PTX does not say its value: it is a size");
    }
    return json_pack("{s:s, s:s, s:o}", "name", name, "type", type, "value", value);
}

static json_t *arg_of(const struct ptx_function *f, const struct ptx_variable *v,
                      const struct parameter *p, uint32_t i, json_t *unknown) {
    char member[48];
    const char *name = short_name(f, v->name);
    if (p->pointer) {
        return buffer_of(p, name, i, unknown);
    }
    if (v->size == ptx_type_bytes(v->type) && !(p->passed && v->size == 8)) {
        return scalar_of(p, v, name, i, unknown);
    }
    snprintf(member, sizeof member, "args[%u]", i);
    draft_note(unknown, member,
               v->size == 8
                   ? "%llu bytes that a function gets: a pointer or a number?"
                   : "%llu bytes are passed by value: describe them as `struct` or "
                     "`tensor_map`",
               (unsigned long long)v->size);
    return json_pack("{s:s, s:n}", "name", name, v->size == 8 ? "type" : "struct");
}

/* --- the launch --- */

static bool has_dynamic_shared(const struct ptx_module *m) {
    return list_any(v, m->variables, m->variable_count,
                    v->space == PTX_SHARED && v->is_unsized && v->used);
}

static json_t *extents_json(const uint32_t extents[3]) {
    return json_list(i, 0,
                     (extents[2] > 1   ? 3
                      : extents[1] > 1 ? 2
                                       : 1),
                     json_integer(extents[i]));
}

static json_t *launch_of(const struct ptx_module *m, const struct ptx_function *f,
                         json_t *unknown) {
    json_t *launch = json_pack("{s:n, s:n}", "grid", "block");
    draft_note(unknown, "launch.grid", "PTX does not say how it is launched");
    if (f->reqntid[0]) {
        json_object_set_new(launch, "block", extents_json(f->reqntid));
    } else if (f->maxntid[0]) {
        draft_note(unknown, "launch.block",
                   "PTX says only that it is at most %u x %u x %u threads", f->maxntid[0],
                   f->maxntid[1], f->maxntid[2]);
    } else {
        draft_note(unknown, "launch.block", "PTX does not say how it is launched");
    }
    if (f->reqnctapercluster[0]) {
        json_object_set_new(launch, "cluster", extents_json(f->reqnctapercluster));
    }
    if (has_dynamic_shared(m)) {
        json_object_set_new(launch, "shared_bytes", json_null());
        draft_note(unknown, "launch.shared_bytes",
                   "it uses dynamic shared memory, and PTX does not say how much");
    }
    return launch;
}

json_t *ptx_draft(const struct ptx_module *m, const struct ptx_function *entry,
                  const char *kernel, json_t **unknown) {
    json_t *args = json_array(), *spec = json_object();
    *unknown = json_array();
    struct parameter *params = parameters_of(entry);
    json_object_set_new(spec, "launch", launch_of(m, entry, *unknown));
    for (uint32_t i = 0; i < entry->param_count; i++) {
        json_array_append_new(args, arg_of(entry, &m->variables[entry->params[i]],
                                           &params[i], i, *unknown));
    }
    json_object_set_new(spec, "args", args);
    free(params);
    draft_free_sizes(spec, *unknown);
    return draft_close(spec, kernel, *unknown);
}
