#include "base/buf.h"
#include "base/mem.h"
#include "gpu/source/python_fields.h"
#include "gpu/source/python_units.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* "A" and "B" of a script in which three strings hold CUDA and are called so. */
#define A "\"\"\"__device__ int f();\"\"\""
#define B "'''extern \"C\" __global__ void k() {}'''"
#define C "r\"\"\"__global__ void j() {}\"\"\""
#define NAMED "A = " A "\nB: str = " B "\nC = (" C ")\n"

/* "AB C": two units, the first with two strings. */
static char *units_of(const char *script) {
    struct python_units units;
    python_units_find(script, strlen(script), &units);
    autobuf out = BUF_INIT(4096);
    for (size_t unit = 1; unit <= units.count; unit++) {
        buf_adds(&out, unit > 1 ? " " : "");
        for (size_t i = 0; i < 3; i++) {
            if (python_units_has(&units, unit, i)) {
                buf_addc(&out, "ABC"[i]);
            }
        }
    }
    return buf_detach(&out);
}

/* Python's own rules say what ends up in one text. */
Test(python_units, are_what_the_script_compiles) {
    static const struct {
        const char *script, *units;
    } cases[] = {
        /* by themselves */
        {"RawKernel(" A ", 'f'); RawKernel(" B ", 'k')\nRawKernel(" C ", 'j')\n",
         "A B C"},
        {NAMED "f(A, 'f')\nf(B, n=1)\nm = g(code=C)\n", "A B C"},
        {"K = {'a': " A ", 'b': " B ", 'c': " C "}\n", "A B C"},
        {"K = [('a', " A "), ('b', " B "), ('c', " C ")]\n", "A B C"},
        {"M = [RawModule(code=" A "), RawModule(code=" B "), f(" C ")]\n", "A B C"},
        {NAMED "for code in [A, B, C]:\n    f(code)\n", "A B C"},
        {NAMED "f(A % 4)\nf(B % (n, m))\nf(C.replace('T', t))\n", "A B C"},
        {"s = " A "\nf(s)\ns = " B "\nf(s)\ns = " C "\nf(s)\n", "A B C"},
        {NAMED "# f(A + B + C)\nx = 'A' + 'B'\nn = 1 + 2\n", "A B C"},
        /* statements of their own are what Python drops, or a docstring */
        {B "\n\"\"\"A module about __global__ things.\"\"\"\nf(" A ")\ng(" B ")\n",
         "A B"},
        {"def f():\n    '''of __device__'''; f(" A ")\ng(" B ")\n", "A B"},
        {"f(\n" A "\n)\nx = \\\n" B "\ny = \\\r\n" C "\n", "A B C"},
        {"f(" A ")\n" B ".strip()\n" C " % 4\n", "A B C"},
        /* joined */
        {NAMED "f(A + B)\nf(A + C)\n", "AB AC"},
        {NAMED "f(A + '\\n' + B)\n", "AB C"},
        {NAMED "f('#define N 4\\n' + C)\n", "A B C"},
        {NAMED "s = A + B\nf(s + C)\n", "ABC"},
        {NAMED "s = A\ns += B\nf(s)\n", "AB C"},
        {NAMED "s = f'{A}\\n{B}'\n", "AB C"},
        {"A = " A "\nB = f\"\"\"{A} __global__ void k() {{}}\"\"\"\nC = " C "\n", "AB C"},
        {NAMED "m = load_inline('m', cuda_sources=[A, B])\n", "AB C"},
        {NAMED "def f():\n    s = A\n    g(s)\n"
               "def h():\n    s = '#define N'\n    s += C\n    g(s)\n",
         "A B C"},
        {NAMED "s = '\\n'.join((A, C))\n", "AC B"},
        {NAMED "s = B.format(helpers=A)\n", "AB C"},
        {"s = (" A "\n     " B ")\nC = " C "\n", "AB C"},
        {"s = " A " \\\n    + " B "\nC = " C "\n", "AB C"},
        {NAMED "self.code = A\ng(self.code + B)\n", "AB C"},
        /* joined with what is only known when it runs */
        {NAMED "def make(code):\n    return f(A + code)\nmake(B)\nmake(C)\n", "AB AC"},
        {NAMED "for code in (B, C):\n    f(f'{A}{code}')\n", "AB AC"},
        {NAMED "f(prelude() + A)\nf(prelude() + B)\nf(prelude() + C)\n", "AB AC"},
        {NAMED "def make(code):\n    return f(code + B)\n", "B A C"},
        {"if x:\n    s = " B "\nelse:\n    s = " C "\nA = " A "\nf(A + s)\n", "AC BC"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *units = units_of(cases[i].script);
        cr_expect(eq(str, units, (char *)cases[i].units), "%s", cases[i].script);
    }
}

/* What a run of the script puts in, by the syntax of its ways to do so. */
Test(python_fields, are_told_from_cuda) {
#define K "__global__ void k(int *p) "
    static const struct {
        const char *script, *field;
    } cases[] = {
        {"T(\"\"\"" K "{ *p = ${value}; }\"\"\")", "${value}"},
        {"T(\"\"\"" K "{ *p = $value; }\"\"\")", "$value"},
        {"f(\"\"\"__global__ void %(name)s() {}\"\"\" % d)", "%(name)s"},
        {"f(f\"\"\"" K "{{ *p = {n:d}; }}\"\"\")", "{n:d}"},
        {"f(\"\"\"" K "{{ *p = {0}; }}\"\"\".format(n))", "{0}"},
        {"f(\"\"\"" K "{\n{% for x in y %} f(); {% endfor %}\n}\"\"\")", "{%"},
        /* the first string has none, or another string has */
        {"f('''" K "{}''')\ng('''" K "{ $x; }''')", "$x"},
        {"f('''" K "{}''')\ng('$x')", NULL},
        /* CUDA as it is */
        {"f(\"\"\"" K "{ int a[] = {x}; *p = a[0] % (n) + 1; }\"\"\")", NULL},
        {"f(\"\"\"" K "{ printf(\"%(n)s $x\"); } // $y %(z)s\"\"\")", NULL},
        {"f(\"\"\"" K "{ asm(\"{ .reg .b32 %r; }\"); *p = '$'; }\"\"\")", NULL},
        {"f(f\"\"\"" K "{{ *p = 1; }}\"\"\")", NULL},
        {"\"\"\"" K "{ $x; }\"\"\"\nf('''" K "{}''')", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *script = cases[i].script;
        struct python_field field;
        bool found = python_field_find(script, script, strlen(script), &field);
        cr_assert(eq(int, found, cases[i].field != NULL), "%s", script);
        if (found) {
            autofree char *text = xstrndup(script + field.start, field.end - field.start);
            cr_expect(eq(str, text, (char *)cases[i].field));
        }
    }
    /* in what is kept of the script */
    const char *script = "f('''__global__ $x''')\ng('''__global__ $y''')";
    autofree char *kept = xstrdup(script);
    memset(kept, ' ', strlen("f('''__global__ $x''')"));
    struct python_field field;
    cr_assert(python_field_find(script, kept, strlen(script), &field));
    cr_expect(eq(chr, script[field.start + 1], 'y'));
#undef K
}

/* More than there is room for, or brackets without an end: one unit, and in time. */
Test(python_units, are_bounded) {
    autobuf text = BUF_INIT(8u << 20);
    for (int i = 0; i < PYTHON_UNITS_MAX + 1; i++) {
        buf_adds(&text, "f(" A ")\n");
    }
    struct python_units units;
    python_units_find(text.data, text.len, &units);
    cr_assert(eq(sz, units.count, 1));
    cr_assert(python_units_has(&units, 1, PYTHON_UNITS_MAX));
    text.len = 0;
    buf_adds(&text, "f(" A ")\nf(" B ")\n");
    for (int i = 0; i < 1000000; i++) {
        buf_adds(&text, i % 2 ? "(a+" : "[b,");
    }
    python_units_find(text.data, text.len, &units);
    cr_assert(eq(sz, units.count, 1));
    python_units_find("", 0, &units);
    cr_assert(eq(sz, units.count, 1));
}
