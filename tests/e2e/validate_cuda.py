#!/usr/bin/env python3
"""kernel/validate on a CUDA device (the stand-in of libcuda) gives what the emulator gives for the same seed: the corpus.

usage: validate_cuda.py UPSKILLD --standin libcuda-standin.so [--all] [WORD …]   (TAP on standard output)

By default a part of the corpus that has every kind of argument, launch and verdict: the first check of some sources and
those that do not pass; all of it with --all, or what has one of the words in its label.
"""
import os, sys

from standin import StandIn
from validate_support import Daemon, Tap, ask_all, corpus, params_of, short

SEED = "0x5eed"
PART = ("01_vector_add", "10_scan", "16_wmma", "18_cp_async", "23_wgmma", "25_dynamic", "36_printf", "39_texture",
        "42_vote", "44_half2", "45_fp8", "async_copies", "bytes.cu", "divergent", "int64", "look_back", "printing", "structs")
EMULATOR_ONLY = {"uninitialized", "race", "global_race", "barrier_divergence", "invalid_mask",  # a device does not tell
                 "invalid_mbarrier", "unwaited_copy", "missing_fence", "invalid_tensor_map", "early_exit"}


def part():
    seen, chosen = set(), []
    for check in corpus():
        label, source, content = check
        if label.startswith(PART) and (source not in seen or content.get("verdict", "pass") != "pass"):
            chosen.append(check)
            seen.add(source)
    label, source, content = chosen[0]  # cooperatively too: the corpus's own such kernels take seconds to compile
    together = dict(content["spec"], launch=dict(content["spec"]["launch"], cooperative=True))
    return chosen + [(label + ", cooperatively", source, dict(content, spec=together))]


def codes(result):
    return {f["code"] for f in result.get("findings", [])}


def outputs(result):
    """Of every case and trial: its verdict, and how far each output is from what is expected."""
    return [(c["verdict"], c["seed"], [{k: v for k, v in o.items() if k != "samples"} for o in c.get("outputs", [])])
            for c in result.get("cases", [])]


def same_part(a, b, name):
    assert a.get(name) == b.get(name), "%s: emulator %s, device %s" % (name, str(a.get(name))[:600], str(b.get(name))[:600])


def compare(emulator, device):
    for result, kind in ((device, "cuda"), (emulator, "emulator")):
        assert result.get("backend", {}).get("kind") == kind, "not on the %s: %s %s" % (kind, result.get("backend"), short(result))
    if emulator["verdict"] == "unsupported":
        return cannot_run(device)
    told = codes(emulator)
    if told & EMULATOR_ONLY and not told - EMULATOR_ONLY:
        return "only the emulator tells of " + " ".join(sorted(told))
    if "deadlock" in told and device["verdict"] == "timeout":
        return "a device waits for ever"
    assert device["verdict"] == emulator["verdict"], "emulator %s, device %s" % (short(emulator), short(device))
    if (device.get("error") or {}).get("stage") != "run":  # a fault takes with it what was not yet fetched
        same_part(emulator, device, "printf")
    if not told:
        assert not codes(device), short(device)
        assert outputs(emulator) == outputs(device), "emulator %s, device %s" % (outputs(emulator), outputs(device))
        same_part(emulator, device, "reference_check")
        return None
    assert codes(device) & told or told == {"launch_error"}, "emulator %s, device %s" % (short(emulator), short(device))
    return "%s: %s" % (device["verdict"], " ".join(sorted(codes(device))))


def cannot_run(device):
    """The stand-in has the emulator's instructions: what it cannot run is an error that names itself, no crash."""
    error = device.get("error") or {}
    assert device["verdict"] == "error" and error.get("code") == "CUDA_ERROR_NOT_SUPPORTED", short(device)
    assert "stand-in: line " in error["message"], error
    return error["message"][:120].replace("\n", " ").replace("#", "")


def main():
    arguments = sys.argv[2:]
    library = arguments.pop(arguments.index("--standin") + 1)
    words = [a for a in arguments if not a.startswith("--")]
    whole = "--all" in arguments
    chosen = list(corpus()) if whole else [c for c in corpus() if any(w in c[0] for w in words)] if words else part()
    tap, results = Tap(), {}
    standin = StandIn(library)
    daemon = Daemon(os.path.abspath(sys.argv[1]), env=standin.env)

    def told(key, answer):
        (label, _, _), backend = key
        if backend == "emulator":
            results[label] = answer.get("result", answer)
        else:
            tap.run(label, compare, results.pop(label), answer.get("result", answer))

    ask_all(daemon, (((c, b), params_of(c[1], c[2], seed=SEED, backend=b)) for c in chosen for b in ("emulator", "auto")), told)
    tap.run("the daemon ends", lambda: ended(daemon.close()))
    standin.close()
    return tap.end()


def ended(code):
    assert code == 0, "it ended with %s" % code


if __name__ == "__main__":
    sys.exit(main())
