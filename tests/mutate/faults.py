"""Small faults put into C functions, by rule, as a person makes them.

    bound     a comparison lets one more, or one fewer, through: a < b becomes a <= b
    equal     == for !=
    logic     && for ||
    negate    a condition the other way round
    not       a ! left out
    sum       + for -
    number    a number one more, 1 becomes 0
    truth     true for false
    drop      a statement left out: a call, an assignment, a break, a return
    leak      a call left out that gives something back: free(), x_finish(), close()
    lost      a function's error is not passed on: it succeeds
    result    a function returns the opposite, NULL or a failure
    swap      two neighbouring arguments change places

A rule knows nothing of what a function means; the compiler throws out what is no C.
"""
import dataclasses, re

TOKEN = re.compile(r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""", re.X | re.S | re.M)
# A definition as clang-format writes it: everything else that stands at the margin has no such head and foot.
FUNCTION = re.compile(r"^(?!typedef|struct \w+ \{|enum|union)([A-Za-z_][\w \t*\n]*?\b\*?)(\w+)(\([^;{}]*\)) \{\n(.*?)^\}\n",
                      re.S | re.M)
BEFORE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SIGNS = {**{a: ("bound", b) for a, b in BEFORE.items()}, "==": ("equal", "!="), "!=": ("equal", "=="),
         "&&": ("logic", "||"), "||": ("logic", "&&"), "+=": ("sum", "-="), "-=": ("sum", "+=")}
STATEMENTS = {"return", "if", "else", "for", "while", "do", "switch", "case", "default", "goto"}
NO_CALLS = {"if", "for", "while", "switch", "sizeof", "return", "typeof", "_Generic", "alignof", "offsetof"}

RELEASE = re.compile(r"(^|_)(free|finish|close|close_p|closedir|decref|delete|release|unref)$")
EITHER_WAY = {"strcmp", "memcmp", "strcasecmp", "strncmp", "strncasecmp", "fmin", "fmax", "xcalloc", "calloc"}  # of two arguments


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclasses.dataclass
class Function:
    kind: str        # what it returns
    name: str
    parameters: str  # with the parentheses
    start: int       # of the definition
    body: int        # offset of the text between the braces
    end: int


@dataclasses.dataclass
class Fault:
    rule: str
    start: int
    end: int
    now: str


def functions_of(source):
    for m in FUNCTION.finditer(source):
        if "..." not in m.group(3) and m.group(2) != "main" and "constructor" not in m.group(1):
            yield Function(m.group(1), m.group(2), m.group(3), m.start(), m.start(4), m.end(4))


def tokens_of(source, start, end):
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(source, start, end)
            if m.lastgroup != "blank"]


class Body:
    """The tokens of a function's body, and for each bracket where its partner is."""

    def __init__(self, source, function):
        self.source, self.function = source, function
        self.tokens = tokens_of(source, function.body, function.end)
        self.partner, stack = {}, []
        for i, t in enumerate(self.tokens):
            if t.text in "([{" and t.kind == "sign":
                stack.append(i)
            elif t.text in ")]}" and t.kind == "sign" and stack:
                self.partner[i] = stack.pop()
                self.partner[self.partner[i]] = i

    def is_value(self, i):
        """Does what stands there end a value, so that a sign behind it has two sides?"""
        t = self.tokens[i] if i >= 0 else None
        return t is not None and (t.kind in ("number", "text") or t.text in (")", "]")
                                  or t.kind == "name" and t.text not in NO_CALLS)

    def statement_end(self, i):
        """The semicolon of the statement that begins at i, or None."""
        while i < len(self.tokens):
            text = self.tokens[i].text
            if text == ";":
                return i
            if text in ("}", ")"):
                return None
            i = self.partner.get(i, i) + 1
        return None

    def between(self, first, last):
        """The text of tokens first to last, last not included."""
        return self.source[self.tokens[first].start:self.tokens[last - 1].end] if last > first else ""


def is_open_file(b, i):
    """fd >= 0: standard input is open, so that no file has the number 0."""
    return 0 < i < len(b.tokens) - 1 and b.tokens[i].text in BEFORE and b.tokens[i - 1].text.endswith("fd") and b.tokens[i + 1].text == "0"


# a < b ? a : b, in either order: of two that are equal either is taken.
LARGER = re.compile(r"(?<![\w.>\])])([\w.\[\]>-]+(?: [+-] [\w.\[\]>-]+)*) (?P<sign>[<>]=?) ((?:->|[^?:;<>])+?)\s+\?\s+"
                    r"(?:(?:\([\w ]+\))?\1\s+:\s+\3|\3\s+:\s+(?:\([\w ]+\))?\1)(?=[;,)])")


def of_signs(b):
    larger = {m.start("sign") for m in LARGER.finditer(b.source, b.function.body, b.function.end)}
    for i, t in enumerate(b.tokens):
        if t.kind != "sign" or is_open_file(b, i) or t.start in larger:
            continue
        if t.text in SIGNS:
            rule, now = SIGNS[t.text]
            yield Fault(rule, t.start, t.end, now)
        elif t.text in "+-" and b.is_value(i - 1):
            yield Fault("sum", t.start, t.end, "-" if t.text == "+" else "+")
        elif t.text == "!" and not (i > 1 and b.tokens[i - 2].text == "void"):
            yield Fault("not", t.start, t.end, "")


def is_array_size(b, i):
    """The 8 of `char text[8];`: a number alone in brackets behind what looks declared."""
    around = [b.tokens[k].text if 0 <= k < len(b.tokens) else "" for k in (i - 1, i + 1, i + 2)]
    before = b.tokens[i - 3] if i >= 3 else None
    return around[:2] == ["[", "]"] and around[2] in (";", ",", "=", "[") and before is not None \
        and (before.kind == "name" or before.text == "*")


def of_constants(b):
    for i, t in enumerate(b.tokens):
        if t.text in ("true", "false"):
            yield Fault("truth", t.start, t.end, "false" if t.text == "true" else "true")
        m = re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)([uUlL]*)", t.text) if t.kind == "number" else None
        before = [b.tokens[k].text for k in (i - 1, i - 2)] if i > 1 else []
        if m and not is_array_size(b, i) and not is_open_file(b, i - 1) and "return" not in before and before[:1] != ["{"]:
            value = int(m.group(1), 0) if m.group(1)[:1] != "0" or "x" in m.group(1).lower() else int(m.group(1), 8)
            yield Fault("number", t.start, t.end, str(0 if value == 1 else value + 1) + m.group(2))


def of_conditions(b):
    for i, t in enumerate(b.tokens):
        if t.text in ("if", "while") and i + 1 in b.partner:
            inner = b.between(i + 2, b.partner[i + 1])
            yield Fault("negate", b.tokens[i + 2].start, b.tokens[b.partner[i + 1]].start, "!(%s)" % inner)


def starts_of_statements(b):
    """Where a statement begins: at the start, behind ; { } and the head of an if, while or for, behind else."""
    yield 0
    for i, t in enumerate(b.tokens[:-1]):
        head = t.text == ")" and i in b.partner and b.tokens[b.partner[i] - 1].text in ("if", "while", "for")
        if (t.text in (";", "{", "}", "else") or head) and t.kind in ("sign", "name"):
            yield i + 1


def is_declaration(b, i):
    """Two names in a row, or a name, stars and a name in front of = or ; : `size_t n`, `struct x *p = …`."""
    k = i + 1
    while b.tokens[k].text == "*":
        k += 1
    return b.tokens[i].kind == "name" and b.tokens[k].kind == "name"


def of_statements(b):
    for i in starts_of_statements(b):
        t, end = b.tokens[i], b.statement_end(i)
        if end is None or end <= i or b.tokens[i - 1].text == "(" or t.text == "(void)":
            continue
        if t.text == "return" and end == i + 1 or t.text not in STATEMENTS and t.kind == "name" and not is_declaration(b, i):
            released = b.tokens[i + 1].text == "(" and RELEASE.search(t.text)
            yield Fault("leak" if released else "drop", t.start, b.tokens[end].start, "")


def of_returns(b):
    kind = re.sub(r"\b(static|inline|extern|const|__attribute__)\b|\s", "", b.function.kind)
    for i, t in enumerate(b.tokens):
        end = b.statement_end(i) if t.text == "return" else None
        if end is None or end == i + 1:
            continue
        value = b.between(i + 1, end)
        place = b.tokens[i + 1].start, b.tokens[end - 1].end
        if kind == "int":
            yield Fault("result", *place, "-5") if value == "0" else Fault("lost", *place, "((%s), 0)" % value)
        elif kind == "bool" and value not in ("true", "false"):
            yield Fault("result", *place, "!(%s)" % value)
        elif "*" in kind and value != "NULL":
            yield Fault("result", *place, "((void)(%s), NULL)" % value)


def of_results(b):
    """rc = f(…); keeps 0."""
    for i, t in enumerate(b.tokens[:-2]):
        if t.text == "rc" and b.tokens[i + 1].text == "=":
            end = b.statement_end(i)
            if end and b.between(i + 2, end) != "0":
                yield Fault("lost", b.tokens[i + 2].start, b.tokens[end - 1].end, "((%s), 0)" % b.between(i + 2, end))


def of_arguments(b):
    for i, t in enumerate(b.tokens[:-1]):
        if t.kind != "name" or t.text in NO_CALLS or t.text in EITHER_WAY or b.tokens[i + 1].text != "(" or i + 1 not in b.partner:
            continue
        commas, k = [i + 1], i + 2
        while k < b.partner[i + 1]:
            if b.tokens[k].text == ",":
                commas.append(k)
            k = b.partner.get(k, k) + 1
        commas.append(b.partner[i + 1])
        for a, m, z in zip(commas, commas[1:], commas[2:]):
            first, second = b.between(a + 1, m), b.between(m + 1, z)
            is_product = t.text == "xreallocarray" and a != i + 1
            if first != second and not is_product:
                yield Fault("swap", b.tokens[a + 1].start, b.tokens[z - 1].end, second + ", " + first)


RULES = [of_signs, of_constants, of_conditions, of_statements, of_returns, of_results, of_arguments]


def faults_of(source, function):
    b = Body(source, function)
    for rule in RULES if b.tokens else []:
        yield from rule(b)
