#!/usr/bin/env python3
"""Programs on our own CUDA runtime: what the library answers, and what it reports.

usage: runtime.py PROGRAM LIBRARY KERNELS.ptx   (TAP on standard output)

PROGRAM (tests/runtime/host_program.c) checks the answers itself; here are the lines of its report
(gpu/runtime/run_report.h). Lines of findings are those of tests/runtime/kernels.cu.
"""
import json, os, subprocess, sys, tempfile

PROGRAM, LIBRARY, PTX = sys.argv[1:4]
# {case: exit status or -signal}, where it is not 0
ENDS = {"follow": -11, "freed": -11, **dict.fromkeys(("free_device", "free_inside", "free_large", "free_pinned", "free_stack", "free_twice",
                                                      "resize_managed"), -6)}
KERNELS = os.path.join(os.path.dirname(PTX), "kernels.cu")


def line_of(text):
    return 1 + next(k for k, line in enumerate(open(KERNELS)) if text in line)


class Run:
    def __init__(self, case, config=None):
        with tempfile.TemporaryDirectory() as room:
            report, settings = os.path.join(room, "report"), os.path.join(room, "config")
            env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(LIBRARY), UPSKILLD_RUN_REPORT=report)
            if config is not None:
                json.dump(config, open(settings, "w"))
                env["UPSKILLD_RUN_CONFIG"] = settings
            self.done = subprocess.run([PROGRAM, PTX, case], env=env, capture_output=True, text=True, timeout=60)
            self.lines = [json.loads(line) for line in open(report)]

    def events(self, name):
        """Of each id the last one."""
        found = {}
        for k, line in enumerate(self.lines):
            if line["event"] == name:
                found[line.get("id", -k)] = line
        return list(found.values())

    def findings(self):
        return [(e["finding"]["code"], e["finding"].get("line", 0)) for e in self.events("finding")]

    def one(self, name):
        events = self.events(name)
        assert len(events) == 1, (name, events)
        return events[0]


def check_add(run):
    launch = run.one("launch")
    assert launch["kernel"] == "add" and launch["grid"] == [2, 1, 1] and launch["block"] == [128, 1, 1], launch
    assert launch["host"][0]["object"].endswith("runtime_program") and launch["host"][0]["offset"] > 0, launch
    assert run.one("counters")["counters"]["by_kernel"][0]["launches"] == 1
    assert not run.findings() and not run.events("leak") and not run.events("api_error")
    assert run.lines[0]["event"] == "begin" and run.lines[-1]["event"] == "end" and run.lines[-1]["how"] == "exit"


def check_bounds(run):
    assert run.findings() == [("out_of_bounds", line_of("a[threadIdx.x + 1] = 1"))], run.findings()
    assert run.one("finding")["host"], "the launch's place"
    error = run.one("api_error")  # what fails behind it fails for the same reason
    assert error["function"] == "cudaDeviceSynchronize" and error["later"] == 2, error
    later, record = error["later_calls"]
    assert record["function"] == "cudaEventRecord" and later["function"] == "cudaMemset" and later["host"][0] != error["host"][0], error
    assert not run.events("leak")


def check_deadlock(run):
    assert run.findings() == [("deadlock", line_of("while (*flag == 0)"))], run.findings()


def check_driver(run):
    """Its launches and failed calls are told as the runtime's."""
    assert [e["kernel"] for e in run.events("launch")] == ["bump", "bump", "use"], run.events("launch")
    assert not run.findings() and not run.events("leak"), run.lines
    failed = {e["function"]: e["code"] for e in run.events("api_error")}
    assert failed["cuModuleGetFunction"] == 500 and failed["cuModuleLoad"] == 301, failed


def check_errors(run):
    errors = run.events("api_error")
    assert len(errors) == 6, errors
    first = errors[0]
    assert first["error"] == "cudaErrorInvalidValue" and first["looked_at"] and "only 1024" in first["message"], first
    assert not errors[3]["looked_at"], errors[3]
    assert "1025" not in errors[4].get("message", "") or errors[4]["code"] == 9


def check_poll(run):
    check_nothing(run)
    error = run.one("api_error")  # of two calls that were not ready the query is none
    assert error["function"] == "cudaEventElapsedTime" and "waited" in error["message"], error


def check_follow(run):
    finding = run.one("finding")["finding"]
    assert finding["code"] == "host_access" and "byte 8 of device memory of 1024 bytes" in finding["message"], finding
    assert run.one("crash")["host"][0]["object"].endswith("runtime_program")
    assert run.one("end")["how"] == "signal" and run.one("end")["signal"] == 11


def check_freed(run):
    finding = run.one("finding")["finding"]
    assert finding["code"] == "use_after_free" and "byte 12 of managed memory" in finding["message"], finding


def check_frees(run):
    messages = [e["finding"]["message"] for e in run.events("finding")]
    for message, words in zip(messages, ["inside an allocation", "not one that the runtime gave out", "cudaFreeHost", "before"],
                              strict=True):
        assert words in message, (message, words)


def ends_by_free(words):
    """One finding, which says what the crash says, at the program's line."""
    def check(run):
        event, crash = run.one("finding"), run.one("crash")
        assert event["finding"]["code"] == "invalid_free" and words in event["finding"]["message"], event
        assert crash["message"] == event["finding"]["message"] and run.one("end")["signal"] == 6, run.lines
        assert any(frame["object"].endswith("runtime_program") for frame in event["host"]), event
        assert event.get("other") == ("the allocation" if "cuda" in words else None), event
    return check


def check_copies_past(run):
    found = [(e["finding"]["code"], e["finding"]["message"]) for e in run.events("finding")]
    assert found == [("out_of_bounds", "A copy reads bytes 600 to 1000 of a block of the host's heap that has only 1000 bytes"),
                     ("out_of_bounds", "A copy writes bytes 0 to 100 of a block of the host's heap that has only 100 bytes"),
                     ("out_of_bounds", "A copy writes bytes 0 to 5001 of a block of the host's heap that has only 5001 bytes"),
                     ("use_after_free", "A copy reads bytes 0 to 39 of a block of the host's heap that has been freed")], found


def check_overrun(run):
    event = run.one("finding")
    assert event["finding"]["code"] == "out_of_bounds" and "at most 15 bytes" in event["finding"]["message"], event
    assert event["host"][0]["object"].endswith("runtime_program") and run.one("end")["how"] == "exit", event


def check_leak(run):
    leaks = sorted((e["kind"], e["count"], e["bytes"]) for e in run.events("leak"))
    assert leaks == [("device", 1, 1000), ("device", 3, 300), ("managed", 1, 24)], leaks
    assert all(e["host"] for e in run.events("leak"))


def check_again(run):
    line = line_of("atomicAdd")
    assert run.findings() == [("unwritten_copy", 0), ("uninitialized", line), ("out_of_bounds", line)], run.findings()
    assert "freed" in run.events("finding")[2]["finding"]["message"], run.events("finding")[2]
    skipped = run.one("skipped")["kernels"]
    assert list(skipped) == ["bump"] and 30 <= skipped["bump"] <= 53, skipped  # rounds 6 to 59 at the most
    assert not run.events("leak"), run.events("leak")


def check_unseen(run):
    """The 1,000 launches before the memory is freed are known to be of no use, and few others."""
    assert 1000 <= run.one("skipped")["kernels"]["bump"] <= 1010, run.one("skipped")
    codes = [code for code, _ in run.findings()]
    assert codes == ["invalid_free"], run.findings()


def check_unseen_freed(run):
    assert [code for code, _ in run.findings()] == ["out_of_bounds"], run.findings()
    assert "freed" in run.one("finding")["finding"]["message"], run.one("finding")


def check_unseen_renewed(run):
    """Of 361 launches the last 120 are of no use. A sum that is read tells that a part of it was not written, once."""
    assert 110 <= run.one("skipped")["kernels"]["add"] <= 120, run.one("skipped")
    assert [code for code, _ in run.findings()] == ["uninitialized"], run.findings()


def check_unseen_kinds(run):
    """Of the first 900 only the first of each kind is executed."""
    assert 890 <= run.one("skipped")["kernels"]["bump"] <= 897, run.one("skipped")
    assert not run.findings(), run.findings()


def check_repeat(run):
    skipped = run.one("skipped")
    assert skipped["kernels"] == {"add": 9} and skipped["sets"] == 9, skipped
    assert sum(e["times"] for e in run.events("launch")) == 25, run.events("launch")


def check_repeat_contents(run):
    """Of 121 launches at counts all are known but few; the 60 at more are new."""
    skipped = run.one("skipped")["kernels"]
    assert list(skipped) == ["bump"] and 60 <= skipped["bump"] <= 118, skipped


def check_repeat_found(run):
    """What is found in a launch that is skipped is counted as if it had been executed."""
    skipped = run.one("skipped")["kernels"]
    assert list(skipped) == ["bump_apart"] and 30 <= skipped["bump_apart"] <= 57, skipped
    found = run.one("finding")["finding"]
    assert found["code"] == "barrier_divergence" and found["count"] == 60, found


def check_reset(run):
    assert [code for code, _ in run.findings()] == ["out_of_bounds", "invalid_free"], run.findings()
    assert not run.events("leak")


def check_symbols(run):
    assert run.done.stdout == "hello from 5\n" * 2, run.done.stdout


def check_uninitialized(run):
    assert run.findings() == [("uninitialized", line_of("c[i] = a[i] + b[i]"))], run.findings()
    assert run.one("finding")["finding"]["count"] > 1


def check_uninitialized_read(run):
    """The host's call is the launch's; the copy by which the host reads is the other one."""
    check_uninitialized(run)
    found, launch = run.one("finding"), run.one("launch")
    assert found["host"] == launch["host"] != found["other_host"] and found["other"] == "the copy", found


def check_unwritten(run):
    """Of 128 threads for 256 floats; of their copy; one byte more of 4 rows than were filled. A pass stays one."""
    words = ["1024 bytes of device memory, and nothing has written 512 of them, the first at byte 512 of its 1024",
             "8 bytes of device memory, and nothing has written 4 of them, the first at byte 512 of its 1024",
             "404 bytes of device memory, and nothing has written 4 of them, the first at byte 100 of its 2048"]
    found = run.events("finding")
    assert len(found) == len(words), found
    for event, text in zip(found, words):
        finding = event["finding"]
        assert (finding["code"], finding["severity"]) == ("unwritten_copy", "warning") and text in finding["message"], finding
        assert event["host"] and event["other_host"] and event["other"] == "the allocation", event


def check_unwaited(run):
    """Each at its line, beside the other call's."""
    words = ["Host code reads byte 4 of managed memory of 1024 bytes, which add writes",
             "Host code writes byte 8220 of pinned host memory of 9216 bytes, which a copy writes",
             "Byte 0 of device memory of 1024 bytes: add reads it, and add writes it in another stream",
             "Byte 0 of device memory of 1024 bytes: add reads it, and add writes it in another stream",
             "Byte 0 of device memory of 1024 bytes: a copy reads it, and add writes it in another stream"]
    found = run.events("finding")
    for event, text in zip(found, words, strict=True):
        assert event["finding"]["code"] == "missing_sync" and text in event["finding"]["message"], event
        assert event["host"] and event["other_host"], event


def check_two_threads(run):
    """On a busy machine the other thread may be late."""
    tries = 0
    while not run.events("finding") and tries < 9:
        run, tries = Run("two_threads"), tries + 1
    finding = run.one("finding")["finding"]
    assert finding["code"] == "missing_sync" and "Byte 0 of device memory of 1024 bytes: add reads it, and add writes it in another stream" in finding["message"], finding


def check_uninitialized_many(run):
    """The one that the host copies, of 131,072."""
    finding = run.one("finding")["finding"]
    assert finding["code"] == "uninitialized" and finding["line"] == line_of("c[i] = a[i] + b[i]") and finding["count"] == 1, finding


def check_nothing(run):
    assert not run.findings(), run.findings()


def check_graph_memory(run):
    """What the calls answer is checked; cudaFree of memory that does not live is a finding."""
    finding = run.one("finding")["finding"]
    assert finding["code"] == "invalid_free" and "freed before" in finding["message"], finding
    assert not run.events("leak"), run.events("leak")


def check_graph_memory_kept(run):
    """Two launches left it, and the second freed what the first had left. Each finds memory that nothing has written."""
    leak, finding = run.one("leak"), run.one("finding")["finding"]
    assert leak["bytes"] == 4 and leak["count"] == 1 and leak["host"], run.lines
    assert finding["code"] == "uninitialized" and finding["count"] == 5, finding


def check_graph_memory_late(run):
    assert run.findings() == [("out_of_bounds", line_of("atomicAdd"))], run.findings()
    assert "freed" in run.one("finding")["finding"]["message"], run.one("finding")


def check_graph_conditions_unset(run):
    finding = run.one("finding")
    assert finding["finding"]["code"] == "uninitialized" and "nothing has set" in finding["finding"]["message"] and finding["host"], finding


def check_graph_conditions_unordered(run):
    finding = run.one("finding")["finding"]
    assert finding["code"] == "missing_sync" and "add reads it, and add writes it in another node of the graph" in finding["message"], finding


def check_graph_unordered(run):
    """Each at its node's call, beside the other's."""
    words = ["Byte 0 of device memory of 1024 bytes: add reads it, and add writes it in another node of the graph",
             "Byte 0 of device memory of 1024 bytes: add reads it, and add writes it in another node of the graph",
             "Byte 0 of device memory of 1024 bytes: a copy reads it, and a fill writes it in another node of the graph",
             "Byte 0 of device memory of 1024 bytes: add writes it, and a fill writes it in another stream"]
    found = run.events("finding")
    for event, text in zip(found, words, strict=True):
        assert event["finding"]["code"] == "missing_sync" and text in event["finding"]["message"], event
        assert event["host"] and event["other_host"] and event["host"] != event["other_host"], event


def check_virtual_left(run):
    assert [code for code, _ in run.findings()] == ["uninitialized"], run.findings()
    leak = run.one("leak")
    assert (leak["kind"], leak["bytes"], leak["count"]) == ("device", 2 << 20, 1) and leak["host"], leak


def check_virtual_fault(words):
    def check(run):
        finding = run.one("finding")["finding"]
        assert finding["code"] == "out_of_bounds" and finding["line"] == line_of("atomicAdd") and words in finding["message"], finding
    return check


CASES = {"add": check_add, "advice": check_nothing, "again": check_again, "bounds": check_bounds, "deadlock": check_deadlock, "driver": check_driver, "errors": check_errors, "follow": check_follow,
         "free_device": ends_by_free("free(0x200000000000): this is device memory, which malloc did not give: cudaFree frees it"),
         "free_inside": ends_by_free("at the start of malloc's block, but 1 byte behind it"),
         "free_large": ends_by_free("malloc did not give this pointer"), "free_stack": ends_by_free("malloc did not give this pointer"),
         "free_pinned": ends_by_free("this is pinned host memory, which malloc did not give: cudaFreeHost frees it"),
         "free_twice": ends_by_free("has been freed before"), "resize_managed": ends_by_free("this is managed memory, which malloc did not give: cudaFree frees it"),
         "copies": check_nothing, "copies_past": check_copies_past, "heap": check_nothing, "overrun": check_overrun,
         "freed": check_freed, "frees": check_frees, "graph": check_nothing,
         "graph_conditions": check_nothing, "graph_conditions_unset": check_graph_conditions_unset, "graph_conditions_unordered": check_graph_conditions_unordered, "graph_events": check_nothing, "user_objects": check_nothing, "graph_memory": check_graph_memory,
         "graph_memory_kept": check_graph_memory_kept, "graph_memory_late": check_graph_memory_late, "graph_nodes": check_nothing, "graph_ordered": check_nothing, "graph_unordered": check_graph_unordered, "handles": check_nothing, "leak": check_leak, "linked": check_nothing, "order": check_nothing,
         "poll": check_poll, "registered": lambda run: None, "repeat": check_repeat, "repeat_contents": check_repeat_contents,
         "repeat_found": check_repeat_found,
         "reset": check_reset, "symbols": check_symbols, "two_threads": check_two_threads,
         "unseen": check_unseen, "unseen_freed": check_unseen_freed,
         "unseen_renewed": check_unseen_renewed, "unseen_kinds": check_unseen_kinds, "uninitialized": check_nothing, "uninitialized_half": check_nothing,
         "uninitialized_many": check_uninitialized_many,
         "uninitialized_read": check_uninitialized_read, "uninitialized_pinned": check_uninitialized_read, "unwaited": check_unwaited, "virtual": check_nothing, "virtual_left": check_virtual_left,
         "virtual_no_access": check_virtual_fault("offset 4 of mapped memory, which cuMemSetAccess has given no access to"),
         "virtual_unmapped": check_virtual_fault("offset 0 of the part of a reserved range that begins at its byte 2097152, which has no memory mapped to it"),
         "waited": check_nothing,
         "unwritten": check_unwritten, "written": check_nothing}


def ends_right(case, check, config=None):
    run = Run(case, config)
    assert run.done.returncode == ENDS.get(case, 0), (run.done.returncode, run.done.stderr)
    check(run)


def all_launches():
    for case in "repeat", "repeat_contents", "unseen", "unseen_kinds":
        ends_right(case, lambda run: run.events("skipped") == [] or sys.exit(1), {"run_all_launches": True})
        case == "unseen" or check_nothing(Run(case, {"run_all_launches": True}))


SEEDS = int(os.environ.get("RUNTIME_SEEDS", "12"))


def drawn_operations_end_as_if_all_were_executed():
    """Outputs, findings and leaks, whatever waits or is skipped. Some launches are."""
    skipped = 0
    for seed in range(SEEDS):
        os.environ["SEED"] = str(seed)
        some, every = Run("random"), Run("random", {"run_all_launches": True})
        assert some.done.returncode == 0 and some.done.stdout == every.done.stdout != "", (seed, some.done, every.done)
        assert some.findings() == every.findings() and not some.findings(), (seed, some.findings(), every.findings())
        skipped += sum(e["launches"] for e in some.events("skipped"))
    assert skipped > 100 * SEEDS, skipped


def no_checks():
    ends_right("uninitialized_read", check_nothing, {"checks": ["memory"]})
    ends_right("unwritten", check_nothing, {"checks": ["memory"]})


def launch_limit():
    run = Run("repeat", {"launches": 3})
    assert run.done.returncode == 1 and run.one("limit")["which"] == "launches", run.lines


def bad_config():
    run = subprocess.run([PROGRAM, PTX, "add"], capture_output=True, text=True,
                         env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(LIBRARY), UPSKILLD_RUN_CONFIG="/nowhere"))
    assert run.returncode == 127 and "/nowhere" in run.stderr, (run.returncode, run.stderr)


def without_variables():
    run = subprocess.run([PROGRAM, PTX, "uninitialized_read"], capture_output=True, text=True,
                         env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(LIBRARY)))
    assert run.returncode == 0 and "kernels.cu:%d: error" % line_of("c[i] = a[i] + b[i]") in run.stderr, run.stderr


TESTS = [("the case %s" % case, lambda case=case, check=check: ends_right(case, check)) for case, check in CASES.items()]
TESTS += [("operations drawn by lot end as if all were executed", drawn_operations_end_as_if_all_were_executed),
          ("every launch is carried out when that is asked for", all_launches), ("only what is asked for is checked", no_checks),
          ("a limit of launches", launch_limit), ("a configuration that cannot be read", bad_config),
          ("without a reader findings go to standard error", without_variables)]

print("1..%d" % len(TESTS))
for number, (name, test) in enumerate(TESTS, 1):
    try:
        test()
        print("ok %d - %s" % (number, name), flush=True)
    except Exception as fault:
        print("not ok %d - %s" % (number, name))
        print("# " + repr(fault).replace("\n", "\n# "), flush=True)
