#!/usr/bin/env python3
"""What Python's tomllib says about TOML texts: writes toml_cases.json beside this file.

Each case is {"text", "value"} (what the text means) or {"text"} (tomllib refuses it).
Dates and times are given in the form that isoformat() prints, so their text is kept.
"""
import datetime
import json
import math
import pathlib
import tomllib

TEXTS = [
    "", "# only a comment", "\n\n", "a = 1", "a = 1\r\nb = 2\r\n", "a=1#c", "\ta = 1",
    # keys
    "bare_key = 1\nbare-key = 2\n1234 = 3", '"127.0.0.1" = 1', "'quoted \"v\"' = 1",
    '"" = 1', "'' = 1", '"a.b" = 1\na.b = 2', "a . b = 1", 'site."x.com" = true',
    "3.14159 = 'pi'", "= 1", "a", "a =", "a = # c", "a b = 1", "a.. b = 1", ".a = 1",
    "a. = 1", "\u00e9 = 1", '"\\u00e9" = 1', 'a = 1 b = 2', '"""a""" = 1', "a\n= 1",
    '"a\nb" = 1', "a-b.c_d = 1", "true = 1", "inf = 1", "a = 1\na = 2", "a = 1\n'a' = 2",
    "a.b = 1\na.c = 2", "a.b = 1\na.b.c = 2", "a = 1\na.b = 2", "a.b.c = 1\na.d = 2",
    # strings
    'a = "x"', 'a = ""', "a = ''", 'a = "tab\\t nl\\n q\\" b\\\\ \\b\\f\\r"',
    'a = "\\u00E9\\U0001F600"', 'a = "\\ud800"', 'a = "\\U00110000"', 'a = "\\u12"',
    'a = "\\x41"', 'a = "\\/"', 'a = "\\e"', "a = 'c:\\x'", "a = 'it''s'", 'a = "x',
    "a = 'x", 'a = "x\ny"', "a = 'x\ny'", 'a = "\\u0000"', 'a = "\x00"', 'a = "\x1f"',
    'a = "\x7f"', 'a = "\t"', "a = '\t'", "a = '\x01'", 'a = """x"""', 'a = """\nx\ny"""',
    'a = """\r\nx\r\ny"""', 'a = """x\\\n   y"""', 'a = """x\\  \n\n  y"""',
    'a = """x\\ y"""', 'a = """\\\n  """', 'a = """""""', 'a = """"""""', 'a = """"x""""',
    'a = """""x"""""', 'a = """"""""""', "a = '''x'''", "a = '''\nx\\n'''",
    "a = ''''x''''", "a = '''''x'''''", "a = ''''''''''", 'a = """x', "a = '''x",
    'a = """\x00"""', "a = '''\x0b'''", 'a = """a\rb"""', "a = 'b' c", 'a = "\u00e9\U0001f600"',
    'a = """\\u00e9 "q" ""q"" """', "a = '''it's ''quoted'' '''", 'a = "\\\n"',
    # integers
    "a = +99", "a = 0", "a = +0", "a = -0", "a = 1_000", "a = 5_3_4", "a = _1", "a = 1_",
    "a = 1__0", "a = 01", "a = -01", "a = 00", "a = 0_1", "a = 0xDEADBEEF", "a = 0xdead_beef",
    "a = 0o755", "a = 0b1101", "a = 0x", "a = 0x_1", "a = 0x1_", "a = 0o8", "a = 0b2",
    "a = +0x1", "a = -0o1", "a = 0X1", "a = 9223372036854775807", "a = -9223372036854775808",
    "a = --1", "a = +-1", "a = 1 2", "a = 1a", "a = 0x0", "a = 0o0_0", "a = 0xG",
    # floats
    "a = 1.0", "a = 3.1415", "a = -0.01", "a = 5e+22", "a = 1e06", "a = -2E-2",
    "a = 6.626e-34", "a = 224_617.445_991", "a = 1e1_0", "a = .7", "a = 7.", "a = 3.e2",
    "a = 1._5", "a = 1_.5", "a = 1.5_", "a = 01.5", "a = 0.0", "a = -0.0", "a = 1e", "a = 1e+",
    "a = 1e_1", "a = 1.2.3", "a = inf", "a = +inf", "a = -inf", "a = nan", "a = +nan",
    "a = -nan", "a = Inf", "a = infinity", "a = 1e400", "a = 0e0", "a = 00.1", "a = 1e05",
    # booleans
    "a = true", "a = false", "a = True", "a = TRUE", "a = t", "a = tru", "a = truee",
    "a = yes", "a = null",
    # dates and times
    "a = 1979-05-27T07:32:00+00:00", "a = 1979-05-27T00:32:00.999999-07:00",
    "a = 1979-05-27T07:32:00", "a = 1979-05-27", "a = 07:32:00", "a = 00:32:00.999999",
    "a = 1979-5-27", "a = 1979-13-01", "a = 1979-00-01", "a = 1979-02-30", "a = 1979-02-29",
    "a = 2000-02-29", "a = 1900-02-29", "a = 2024-02-29", "a = 1979-05-27T24:00:00",
    "a = 1979-05-27T07:60:00", "a = 1979-05-27T07:32", "a = 07:32", "a = 1979-05-27T",
    "a = 1979-05-27T07:32:00+25:00", "a = 1979-05-27T07:32:00+07:60", "a = 25:00:00",
    "a = 07:32:00Z", "a = 1979-05-27T07:32:00.", "a = 1979-05-27x", "a = 1979-05-27 x = 1",
    "a = 1979-05-27 # date", "a = [1979-05-27, 07:32:00]", "a = 1979-05-32", "a = 197-05-27",
    "a = 1979-05-27T07:32:00+0700", "a = 1979-05-27_07:32:00",
    # arrays
    "a = []", "a = [1, 2]", "a = [1, 2,]", "a = [\n1,\n2, # c\n]", "a = [[1], ['x']]",
    "a = [1, 'x', {b = 1}]", "a = [,]", "a = [1,,2]", "a = [1 2]", "a = [1", "a = [1,",
    "a = ]", "a = [1]]", "a = [\n# c\n]", "a = [1\n,\n2]", "a = [ # c\n 1 ]", "a = [x]",
    # inline tables
    "a = {}", "a = { }", "a = {b = 1}", "a = {b = 1, c = 2}", "a = {b = 1,}", "a = {b = 1\n}",
    "a = {\nb = 1}", "a = {b.c = 1, b.d = 2}", "a = {b = 1, b = 2}", "a = {b.c = 1, b = 2}",
    "a = {b = 1", "a = {b}", "a = {, b = 1}", "a = {b = [\n1\n]}", "a = {b = 1}\na.c = 2",
    "a = {b = 1}\n[a]", "a = {b = {c = 1}}\n[a.b]", "a = {b = 1 c = 2}", "a = {b = {}}\na.b.c = 1",
    "a = {} b", "a = {'b' = 1, \"c d\" = 2}",
    # tables
    "[a]", "[a]\nb = 1", "[a.b]\nc = 1", "[ a . b ]\nc = 1", '["a.b".c]\nd = 1', "[a]\n[a]",
    "[a.b]\n[a]", "[a.b]\n[a]\nc = 1", "[a]\n[a.b]", "[a]\nb = 1\n[a.b]", "[]", "[a",
    "[a] b = 1", "[a] # c", "[a]]", "[[a]", "[a.]", "[.a]", "[a..b]", "a = 1\n[a]",
    "a = 1\n[a.b]", "[a]\nb.c = 1\n[a.b]", "[a]\nb.c = 1\n[a.b.d]", "[a.b]\n[a]\nb.c = 1",
    "[a.b.c]\n[a]\nb.d = 1", "a.b = 1\n[a]", "a.b = 1\n[a.c]", "[fruit]\napple.color = 1\napple.taste.sweet = true",
    "[a]\n\n\n[b]\nc = 1\n[d.e.f]\ng = 1", "[a b]", "[a\nb]", "[\"a\"]\n['a']",
    # arrays of tables
    "[[a]]", "[[a]]\nb = 1\n[[a]]\nb = 2", "[[a]]\n[a.b]\nc = 1\n[[a]]\n[a.b]\nc = 2",
    "[[a]]\n[[a.b]]\nc = 1\n[[a.b]]\nc = 2\n[[a]]", "a = []\n[[a]]", "a = [{}]\n[[a]]",
    "[a]\n[[a]]", "[[a]]\n[a]", "[[a.b]]\n[a]", "[[a.b]]\n[a]\nb.c = 1", "[[a.b]]\n[[a]]",
    "[ [a]]", "[[a] ]", "[[ a ]]\nb = 1", "[[a]] # c\n", "[a.b]\n[[a.b]]", "[[a]]\nb.c = 1\n[a.b]",
    "[[a]]\nb.c = 1\n[[a]]\nb.c = 2", "[a]\nb = [{}]\n[a.b.c]", "[[a]]\n[a.b.c]\n[a.b]",
    # comments and control characters
    "# \x00", "# \x7f", "# \t ok", "a = 1 # \x01", "a = 1\rb = 2", "# c\r", "a = 1\x0c",
    "a = 1\x0b\n", "\x01a = 1",
    # a project file
    '[general]\nname = "relu"\nversion = 1\nedition = 5\nlicense = "MIT"\nbackends = [\n'
    '    "cpu",\n    "cuda",\n]\n\n[general.hub]\nrepo-id = "a/b"\n\n[torch]\nsrc = ["t.cpp"]\n\n'
    '[kernel.relu]\nbackend = "cuda"\ndepends = ["torch"]\nsrc = ["r.cu"]\n',
]


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def case(text):
    try:
        return {"text": text, "value": plain(tomllib.loads(text))}
    except tomllib.TOMLDecodeError:
        return {"text": text}


here = pathlib.Path(__file__).parent
cases = [case(text) for text in TEXTS]
lines = ",\n".join(json.dumps(item) for item in cases)
(here / "toml_cases.json").write_text("[\n" + lines + "\n]\n")
