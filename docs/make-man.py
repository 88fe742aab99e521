#!/usr/bin/env python3
"""Make the manual pages from what the programs' own --help says.

usage: make-man.py UPSKILLD UPSKILLCTL WORKER FOLDER

Writes upskilld.1, upskillctl.1 and upskilld-worker.1 into FOLDER.
"""
import os, re, subprocess, sys

SEE = {"upskilld": "upskillctl(1), upskilld-worker(1)", "upskillctl": "upskilld(1), upskilld-worker(1)",
       "upskilld-worker": "upskilld(1), upskillctl(1)"}
SUMMARY = {"upskilld": "check and run CUDA kernels without a GPU, and make and find agent skills, over JSON\\-RPC",
           "upskillctl": "command\\-line client of upskilld",
           "upskilld-worker": "compile and run CUDA kernels for upskilld"}


def said(*words, **more):
    # A home that is nobody's: no path of this machine belongs into a page.
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **more}
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True, timeout=60).stdout


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c < "\x80" else "\\[u%04X]" % ord(c) for c in text)
    return "\\&" + text if text[:1] in (".", "'") else text


def option(words):
    """--name in bold, what stands behind it in italics."""
    return " ".join(("\\fB%s\\fR" if w.startswith("-") or w.islower() else "\\fI%s\\fR") % escaped(w)
                    for w in words.split())


def body(text):
    """roff of a help text: paragraphs, 'word:' as a heading of a list, and lists of two columns."""
    out, open_entry = [], False
    for line in text.split("\n"):
        entry = re.match(r"  (\S.*?)(?:  +(\S.*))?$", line)
        more = re.match(r"   +(\S.*)$", line)
        if not line.strip():
            out.append(".PP" if not open_entry else "")
        elif more and open_entry:
            out.append(escaped(more[1]))
        elif entry:
            out += [".TP", option(entry[1]), escaped(entry[2] or "")]
            open_entry = True
        elif re.match(r"\w[\w, ]*:$", line):
            out += [".PP", "\\fB%s\\fR" % escaped(line)]
            open_entry = False
        else:
            if open_entry:
                out.append(".PP")
            out.append(escaped(line))
            open_entry = False
    return [line for line in out if line]


def usage(text):
    """The lines of 'usage: …', and what follows them."""
    first, _, rest = text.partition("\n")
    lines = [first.removeprefix("usage: ")]
    while re.match(r" {7}\S", rest):
        line, _, rest = rest.partition("\n")
        lines.append(line.strip())
    return lines, rest


def synopsis(lines):
    return [line for words in lines for line in ("\\fB%s\\fR %s" % tuple(
        escaped(w) for w in (words.split(" ", 1) + [""])[:2]), ".br")][:-1]


def page(program, text, version):
    lines, rest = usage(text)
    return ['.TH "%s" 1 "" "%s"' % (program.upper(), escaped(version)), ".SH NAME",
            "%s \\- %s" % (escaped(program), SUMMARY[program]), ".SH SYNOPSIS", *synopsis(lines),
            ".SH DESCRIPTION", *body(rest)]


def commands(discover, help_of):
    """Each command's own help."""
    out = [".SH COMMANDS"]
    for name in discover:
        lines, rest = usage(help_of(name))
        rest = re.sub(r"\nagents:\n.*", "", rest, flags=re.S)
        out += [".SS %s" % escaped(name), *synopsis(lines), ".PP", *body(rest)]
    return out


def names_of_commands(text):
    """The first column of the list of commands: those that have a help of their own."""
    part = text.partition("commands:\n")[2].partition("\n\n")[0]
    names = [m[1].strip() for m in re.finditer(r"^  (\S.*?)(?:  |$)", part, re.M)]
    plain = [re.sub(r" ?[\[A-Z].*", "", n.split("|")[0].split(",")[0]) for n in names]
    return [n for n in plain if n not in ("status", "jobs", "runs", "generate")]  # short names of others


def main():
    upskilld, upskillctl, worker, folder = sys.argv[1:5]
    ask = {"UPSKILLD": os.path.abspath(upskilld)}
    version = said(upskillctl, "--version", **ask).split("\n")[0]
    client = said(upskillctl, "--help", **ask)
    pages = {"upskilld": page("upskilld", said(upskilld, "--help"), version),
             "upskilld-worker": page("upskilld-worker", said(worker, "--help"), version),
             "upskillctl": page("upskillctl", client, version) + commands(
                 names_of_commands(client), lambda name: said(upskillctl, "help", *name.split(), **ask))}
    for program, lines in pages.items():
        with open(os.path.join(folder, program + ".1"), "w") as file:
            file.write("\n".join(lines + [".SH SEE ALSO", SEE[program]]) + "\n")


main()
