#pragma once
/* ptx_reader: what the parts of the PTX parser share: the current token, the module in
 * the making, the function in the making, and the first error.
 *
 * Parse functions return false once something is wrong; reader->code and the caller's
 * struct err then say what, and later failures change nothing. */
#include "gpu/ptx/read/module.h"
#include "gpu/ptx/read/ptx_lexer.h"
#include "gpu/ptx/read/ptx_scope.h"

/* A label that an instruction names before its function is read to the end. */
struct ptx_label_use {
    bool in_table;    /* else an operand */
    uint32_t operand; /* of the function; or the target in the table */
    uint32_t table;
    uint32_t scope;         /* seen from here */
    uint32_t at, len, line; /* the name, in the text */
};

/* Room of the growing arrays; counts are in the module and function themselves. */
struct ptx_reader {
    struct ptx_lexer lexer;
    struct ptx_token token; /* the current one */
    int code;               /* 0, or the first negative errno */
    struct err *err;

    struct ptx_module *m;
    struct ptx_scopes module_scope;
    uint32_t first_file; /* what the numbers of this part's files are counted from */
    /* of the whole module */
    size_t initialiser_bytes, instruction_count, element_count;
    uint32_t register_count;

    /* of the function that is being read */
    int32_t function; /* -1 = none */
    struct ptx_scopes scope;
    uint32_t place;      /* of the last .loc, 0 = none */
    uint64_t call_bytes; /* taken by the open blocks */
    struct ptx_label_use *label_uses;
    size_t label_use_count;

    struct ptx_place_index *place_index;
};

/* The array grows so that it holds one more; count is not changed. */
#define PTX_GROW(array, count) ((array) = ptx_grow((array), (count), sizeof *(array)))
void *ptx_grow(void *array, size_t count, size_t size);

bool ptx_fail(struct ptx_reader *r, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))); /* at the current token's line */
bool ptx_fail_at(struct ptx_reader *r, uint32_t line, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* "expected a name, got ';'" */
bool ptx_fail_expected(struct ptx_reader *r, const char *what);

void ptx_next(struct ptx_reader *r);               /* to the next token */
bool ptx_at(const struct ptx_reader *r, int kind); /* is it the current one? */
bool ptx_accept(struct ptx_reader *r, int kind);   /* past it when it is */
bool ptx_expect(struct ptx_reader *r, int kind);   /* past it, or an error */
bool ptx_skip_pragma(struct ptx_reader *r);        /* past what stands before its ";" */
bool ptx_at_word(const struct ptx_reader *r, const char *word); /* .word */
bool ptx_at_name(const struct ptx_reader *r, const char *name);
const char *ptx_spelling(const struct ptx_reader *r, struct ptx_token t); /* its bytes */
/* What %.*s wants of a spelling that goes into an error: at most 80 bytes. */
int ptx_shown(struct ptx_token t);
char *ptx_name_keep(struct ptx_reader *r, struct ptx_token t); /* lives with the module */
void ptx_names_free(struct ptx_names *n);

/* Declares the token's name in the function's scope, or the module's outside of one. NULL
 * and an error when it is taken or there are too many. */
struct ptx_symbol *ptx_declare(struct ptx_reader *r, struct ptx_token name, int kind);
/* In the function, then the module; NULL when there is none. */
struct ptx_symbol *ptx_resolve(struct ptx_reader *r, struct ptx_token name,
                               uint32_t *ret_number);

static inline struct ptx_function *ptx_current(struct ptx_reader *r) {
    return &r->m->functions[r->function];
}

/* ptx_constant.c */
struct ptx_constant {
    enum {
        PTX_CONSTANT_INTEGER,
        PTX_CONSTANT_SINGLE,
        PTX_CONSTANT_DOUBLE,
    } kind;
    uint64_t bits;
};
/* A constant expression at the current token. */
bool ptx_parse_constant(struct ptx_reader *r, struct ptx_constant *ret);
bool ptx_parse_integer(struct ptx_reader *r, int64_t *ret);
/* In [0, max]. */
bool ptx_parse_count(struct ptx_reader *r, uint64_t max, uint64_t *ret);

/* ptx_parse_variable.c: what stands between the space word and ';' */
enum ptx_linkage {
    PTX_EXTERN = 1,
    PTX_VISIBLE = 2,
    PTX_WEAK = 4,
    PTX_COMMON = 8,
};
bool ptx_parse_variables(struct ptx_reader *r, enum ptx_space space, int linkage);
/* One parameter of a function or prototype; *ret indexes module->variables. name may be
 * `_`. */
bool ptx_parse_parameter(struct ptx_reader *r, enum ptx_param_block block,
                         uint64_t *bytes, uint32_t *ret);
/* ptx_initialiser.c */
bool ptx_parse_initialiser(struct ptx_reader *r, struct ptx_variable *v,
                           const uint64_t *extents, unsigned extent_count);

/* ptx_parse_function.c: at .entry or .func; bits of enum ptx_linkage */
bool ptx_parse_function(struct ptx_reader *r, int linkage);
bool ptx_parse_alias(struct ptx_reader *r);
/* ptx_parse_body.c: at '{' */
bool ptx_parse_body(struct ptx_reader *r);
/* ptx_parse_instruction.c: at '@' or an opcode */
bool ptx_parse_instruction(struct ptx_reader *r);
/* ptx_operands.c: up to the ';' */
bool ptx_parse_operands(struct ptx_reader *r, struct ptx_instruction *i);
bool ptx_add_label_use(struct ptx_reader *r, struct ptx_token name, bool in_table,
                       uint32_t table, uint32_t operand);
/* ptx_legality.c */
bool ptx_check_instruction(struct ptx_reader *r, struct ptx_instruction *i);
/* ptx_places.c: at .loc, at .file, at .section */
bool ptx_parse_loc(struct ptx_reader *r);
bool ptx_parse_file(struct ptx_reader *r);
bool ptx_parse_section(struct ptx_reader *r);
/* Of an instruction at that line of the PTX. */
uint32_t ptx_place_at(struct ptx_reader *r, uint32_t line);
void ptx_place_index_free(struct ptx_place_index *index);
/* ptx_reach.c: what the entries use; drops initialisers of what they do not. */
void ptx_mark_used(struct ptx_module *m, bool whole);
