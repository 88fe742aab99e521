#!/usr/bin/env python3
"""The documentation says what is there: links lead somewhere, and the messages that troubleshooting explains exist.

usage: docs.py SOURCE_FOLDER   (TAP on standard output)
"""
import glob, os, re, sys

ROOMS = ["base", "daemon", "protocol", "gpu", "skills", "clients"]


def pages(source):
    return [os.path.join(source, "README.md")] + glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchor(heading):
    """GitHub's: small letters, no punctuation, blanks as hyphens."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-")


def anchors(page):
    text = re.sub(r"^```.*?^```", "", open(page).read(), flags=re.S | re.M)
    return {anchor(m) for m in re.findall(r"^#+ +(.*)$", text, re.M)}


def check_links(source):
    for page in pages(source):
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(open(page).read())):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, part = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not os.path.exists(file):
                yield "%s: %s is not there" % (os.path.relpath(page, source), target)
            elif part and file.endswith(".md") and part not in anchors(file):
                yield "%s: %s has no such heading" % (os.path.relpath(page, source), target)


def check_changes(source):
    """The usual changes of contributing.md: at most two files each, and all are there (NAME stands for any)."""
    page = open(os.path.join(source, "docs", "contributing.md")).read()
    table = page.partition("## Ten usual changes")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (?!change |---)([^|]+) \| (.*) \|$", table, re.M)
    if len(rows) != 10:
        yield "contributing.md has %d usual changes" % len(rows)
    for change, text in rows:
        files = re.findall(r"`([^`]+/[^`]+)`", text)
        if not 1 <= len(files) <= 2:
            yield "%s: %d files" % (change, len(files))
        for file in files:
            if not glob.glob(os.path.join(source, re.sub("NAME|FAMILY", "*", file))):
                yield "%s: %s is not there" % (change, file)


def strings_of_the_product(source):
    """All string literals, those that stand side by side as one."""
    texts = []
    for room in ROOMS:
        for file in glob.glob(os.path.join(source, room, "**", "*.[ch]"), recursive=True):
            texts.append(re.sub(r'"\s*\n\s*"', "", open(file).read()))
        for file in glob.glob(os.path.join(source, room, "**", "*.json"), recursive=True):
            texts.append(open(file).read())
    return "\n".join(texts)


def check_messages(source):
    said = strings_of_the_product(source)
    text = open(os.path.join(source, "docs", "guide", "troubleshooting.md")).read()
    messages = [m for row in re.findall(r"^\| ([^|]*) \|", text, re.M) for m in re.findall(r"`([^`]+)`", row)]
    if len(messages) < 10:
        yield "only %d messages were found in troubleshooting.md" % len(messages)
    for message in messages:
        for part in message.split("…"):
            if part.strip() not in said:
                yield "nothing says %r" % part.strip()


def check_texts(source):
    """Who installed the programs has no page of this repository."""
    page = re.compile(r"\bdocs/(?:\w+/)?[\w-]+\.md")
    for text in re.findall(r'"(?:[^"\\\n]|\\.)*"', strings_of_the_product(source)):
        if page.search(text):
            yield "a text names a page that an installed program does not have: %s" % text[:100]
    for plugin in "emacs", "neovim", "zed/src", "vscode/src", "vscode/media", "python":
        for file in glob.glob(os.path.join(source, "clients", plugin, "**", "*.*"), recursive=True):
            if os.path.isfile(file) and not file.endswith((".md", ".pyc")) and page.search(open(file).read()):
                yield "%s names a page that is not installed with it" % os.path.relpath(file, source)


PROPERTIES = [("links lead somewhere", check_links),
              ("a usual change is two files, and they are there", check_changes),
              ("messages of troubleshooting.md are the program's", check_messages),
              ("no text of the programs names a page of the repository", check_texts)]
print("1..%d" % len(PROPERTIES))
failed = False
for number, (words, check) in enumerate(PROPERTIES, 1):
    faults = list(check(sys.argv[1]))
    failed = failed or bool(faults)
    print("%s %d - %s" % ("not ok" if faults else "ok", number, words))
    for fault in faults:
        print("# " + fault)
sys.exit(1 if failed else 0)
