#!/usr/bin/env python3
"""A coding agent's command line, scripted: reads the question, looks for a skill, prints events.

usage: fake_agent.py FORMAT LOG BEHAVIOUR   (FORMAT: claude, codex, opencode)

BEHAVIOUR: good (answers by the skill when it finds one), blind (never opens it), crash, hang,
writes (good, and leaves files, links and a FIFO in its working directory), garbage, fail, leak (prints its key wherever it can). Appends to LOG one JSON object: its environment's names, home, working directory,
files and question. `hang` leaves a child of its own behind, to be killed with it.
"""
import json, os, sys, time  # and nothing slow to load: it starts some 300 times

FORMAT, LOG, BEHAVIOUR = sys.argv[1:4]
QUESTION = sys.stdin.read()
FILES = sorted(os.path.normpath(os.path.join(d, f)) for d, _, files in os.walk(".") for f in files)
with open(LOG, "a") as f:
    f.write(json.dumps({"env": sorted(os.environ), "home": os.environ["HOME"], "cwd": os.getcwd(), "files": FILES,
                        "home_files": os.listdir(os.environ["HOME"]), "question": QUESTION,
                        "argv": sys.argv[4:], "permission": os.environ.get("OPENCODE_PERMISSION"), "key": os.environ.get("ANTHROPIC_API_KEY")}) + "\n")


def say(event):
    print(json.dumps(event), flush=True)


skills = [p for p in FILES if p.endswith("/SKILL.md")]
opened = skills and BEHAVIOUR in ("good", "writes")
answer = "correct" if opened and "marigold" in open(skills[0]).read() else "wrong"
if BEHAVIOUR == "writes":
    os.makedirs("src")
    open("src/out.json", "w").write('{"word": "%s"}' % answer)
    open("notes/context.txt", "a").write(" More of it.")
    open("picture", "wb").write(b"\xff\xfe\x00" * 100)
    open("large.txt", "w").write("x" * (2 << 20))
    os.symlink("/etc/passwd", "stolen")
    os.symlink("/", "src/root")
    os.mkfifo("pipe")
if BEHAVIOUR == "leak":
    answer += " " + os.environ["ANTHROPIC_API_KEY"]
    print("my key is " + os.environ["ANTHROPIC_API_KEY"], file=sys.stderr, flush=True)
if BEHAVIOUR == "crash":
    print('{"type": "system"', end="", flush=True)
    print("panic: out of coffee", file=sys.stderr, flush=True)
    os.abort()
if BEHAVIOUR == "hang":
    os.spawnvp(os.P_NOWAIT, "sleep", ["sleep", "600"])
    time.sleep(600)
if BEHAVIOUR == "garbage":
    sys.stdout.buffer.write(b"\xff\xfe{{{]]\n[1,2\n\x00\x00\n" * 100)
    sys.exit(0)
if FORMAT == "claude":
    say({"type": "system", "subtype": "init", "model": "claude-fake", "skills": [os.path.dirname(p) for p in skills]})
    if opened:
        say({"type": "assistant", "message": {"model": "claude-fake", "content": [
            {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": "words"}}]}})
    say({"type": "assistant", "message": {"model": "claude-fake", "content": [{"type": "text", "text": answer}]}})
    say({"type": "result", "subtype": "error_max_turns" if BEHAVIOUR == "fail" else "success",
         "is_error": BEHAVIOUR in ("fail", "leak") and len(QUESTION) % 2 == 0, "result": answer, "total_cost_usd": 0.01,
         "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 5}})
elif FORMAT == "codex":
    say({"type": "thread.started", "thread_id": "t"})
    if opened:
        say({"type": "item.completed", "item": {"type": "command_execution", "command": "cat " + skills[0],
                                                "aggregated_output": "", "exit_code": 0, "status": "completed"}})
    say({"type": "item.completed", "item": {"type": "agent_message", "text": answer}})
    if BEHAVIOUR == "fail":
        say({"type": "turn.failed", "error": {"message": "stream disconnected"}})
        sys.exit(1)
    say({"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 50, "output_tokens": 5}})
else:
    say({"type": "step_start", "part": {}})
    if opened:
        say({"type": "tool_use", "part": {"tool": "read", "state": {"input": {"filePath": os.path.abspath(skills[0])}}}})
    if BEHAVIOUR == "fail":
        say({"type": "error", "error": {"name": "APIError", "data": {"message": "denied"}}})
        sys.exit(1)
    say({"type": "text", "part": {"text": answer}})
    say({"type": "step_finish", "part": {"tokens": {"input": 100, "output": 5}, "cost": 0.02}})
