#!/usr/bin/env python3
"""Read the PTX of kernels with the PTX reader and count again in the text.

Every tests/kernels/*.cu (and FILE…) is compiled by NVRTC with -lineinfo; ptx_dump reads the PTX. For each
function the number of instructions of each spelling and of registers of each type must be what a
line-by-line count of the text gives, which shares nothing with the reader.

usage: read_ptx.py PTX_DUMP [FILE…]
  PTX_DUMP   the built tool (tests/kernels/ptx_dump.c)
  FILE       .cu or .ptx instead of all tests/kernels/*.cu
The toolkit is found as the tests in C find it; exit status 77 = there is none.
"""
import collections
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEAD = re.compile(r"^(?:\.(?:visible|weak|extern|common)\s+)*\.(entry|func)\b(.*)")
INSTRUCTION = re.compile(r"^(?:@!?[%\w$]+\s+)?([a-z][a-z0-9]*(?:\.[\w:]+)*)(?=[\s;{]|$)")
REGISTER = re.compile(r"^\.reg\s*(?:\.v([248])\s*)?(\.\w+)\s+(.*);")


def find_toolkit():
    wheels = "/upskilld/cuda/nvidia/cu13"
    home = os.environ.get("HOME", "")
    for root in (os.environ.get("UPSKILLD_CUDA"), os.environ.get("CUDA_HOME"),
                 os.environ.get("XDG_DATA_HOME", "") + wheels, f"{home}/.local/share{wheels}"):
        if root and pathlib.Path(root, "lib/libnvrtc.so.13").exists():
            return root
    return None


def load(toolkit):
    """The built-ins first: NVRTC looks for them by name when it compiles."""
    for path in pathlib.Path(toolkit, "lib").glob("libnvrtc-builtins.so.13*"):
        ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(f"{toolkit}/lib/libnvrtc.so.13")


def compile_ptx(nvrtc, toolkit, path):
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), path.read_bytes(), path.name.encode(), 0, None,
                             None)
    words = ["-arch=compute_90a", "-std=c++17", "-default-device", "-lineinfo",
             f"-I{toolkit}/include", f"-I{toolkit}/include/cccl"]
    options = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
    size = ctypes.c_size_t()
    if nvrtc.nvrtcCompileProgram(program, len(words), options) != 0:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise SystemExit(f"{path}: {log.value.decode()[:2000]}")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return text.value.decode()


def count_registers(into, line):
    match = REGISTER.match(line)
    if match:
        for name in match.group(3).split(","):
            numbered = re.search(r"<(\d+)>", name)
            into[match.group(2)] += int(numbered.group(1)) if numbered else int(match.group(1) or 1)


def name_of(head):
    """After the results in brackets, the name: 'foo(' or 'foo'."""
    head = re.sub(r"^\s*\(.*?\)\s*", "", head.strip())
    return re.match(r"[\w$]+", head).group(0) if re.match(r"[\w$]+", head) else None


def statements(text):
    """The bodies as flat statements: braces of blocks apart from those of operands."""
    text = re.sub(r"/\*.*?\*/", " ", re.sub(r"//[^\n]*", "", text), flags=re.S)
    text = re.sub(r"\.section\s[^{]*\{[^}]*\}", "", text)
    text = re.sub(r"^\s*\.(?:loc|file|version|target|address_size)\b[^\n]*", "", text,
                  flags=re.M)
    out, start, inside = [], 0, False
    for at, byte in enumerate(text):
        if byte == "{" and re.fullmatch(r"(?:\s*[\w$]+\s*:)*\s*", text[start:at]):
            out.append("{")
            start = at + 1
        elif byte == "{":
            head = HEAD.match(text[start:at].strip())
            if head:
                out += [text[start:at].strip(), "{"]
                start = at + 1
            else:
                inside = True
        elif byte == "}" and inside:
            inside = False
        elif byte == "}":
            out.append("}")
            start = at + 1
        elif byte == ";":
            out.append(text[start:at + 1].strip())
            start = at + 1
    return out


def count_statements(text):
    functions, name, depth = {}, None, 0
    for part in statements(text):
        if part in ("{", "}"):
            depth += 1 if part == "{" else -1
            continue
        while re.match(r"^[\w$]+\s*:(?!:)", part):  # labels
            part = re.sub(r"^[\w$]+\s*:", "", part).strip()
        flat = " ".join(part.split())
        if depth == 0:
            # `.version` and its like have no ';' and stand in front of the first head
            head = re.search(r"(?:^|\s)\.(entry|func)\b(.*)", flat)
            name = name_of(head.group(2)) if head else None
            if name and not flat.endswith(";"):
                functions[name] = (collections.Counter(), collections.Counter())
            continue
        instructions, registers = functions[name]
        count_registers(registers, flat)
        found = INSTRUCTION.match(flat)
        if found:
            instructions[found.group(1)] += 1
    return functions


def differences(dump, text):
    expected = count_statements(text)
    got = {f["name"]: (f["spellings"], f["registers"]) for f in dump["functions"]}
    if expected.keys() != got.keys():
        yield f"functions {sorted(expected)} and {sorted(got)}"
    for name in expected.keys() & got.keys():
        for which, what in enumerate(("instructions", "registers")):
            if dict(expected[name][which]) != got[name][which]:
                yield f"{name}: {what} {dict(expected[name][which])} and {got[name][which]}"


def main():
    tool, *files = sys.argv[1:]
    toolkit = find_toolkit()
    if not toolkit:
        print("skip: no CUDA toolkit (set UPSKILLD_CUDA to one)", file=sys.stderr)
        sys.exit(77)
    nvrtc = load(toolkit)
    paths = [pathlib.Path(f) for f in files] or sorted(HERE.glob("*.cu"))
    bad = instructions = size = 0
    for path in paths:
        text = path.read_text() if path.suffix == ".ptx" else compile_ptx(nvrtc, toolkit, path)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as out:
            out.write(text)
            out.flush()
            run = subprocess.run([tool, out.name], capture_output=True, text=True)
        if run.returncode:
            print(path.name, run.stderr.strip())
            bad += 1
            continue
        dump = json.loads(run.stdout)
        for line in differences(dump, text):
            print(path.name, line)
            bad += 1
        instructions += sum(f["instructions"] for f in dump["functions"])
        size += len(text)
    print(f"{len(paths)} files, {size} bytes, {instructions} instructions, {bad} differences")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
