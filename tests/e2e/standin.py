"""The stand-ins of libcuda and libnvidia-ml (tests/cuda) for a daemon: a folder with copies of them, and what they are to do."""
import os, shutil
import scratch


class StandIn:
    """`library`: libcuda-standin.so; lines of conf (tests/cuda/conf.h) may be set at any time: each new process reads them.

    Named by UPSKILLD_LIBCUDA alone, it is the kernels' process that loads it; `in_path` puts both libraries into the
    loader's path, where the compiler finds libcuda too."""

    def __init__(self, library, conf="", nvml="", in_path=False):
        self.folder = scratch.folder("standin-")
        self.path = self.folder + ("/libcuda.so.1" if in_path else "/libcuda-standin.so")
        self.nvml = self.folder + "/libnvidia-ml.so.1"
        shutil.copy(library, self.path)  # no links: a confined process may read where the library really lies
        shutil.copy(os.path.join(os.path.dirname(library), "libnvml-standin.so"), self.nvml)
        self.env = {"LD_LIBRARY_PATH": self.folder} if in_path else {"UPSKILLD_LIBCUDA": self.path}
        self.env["UPSKILLD_SANITIZER"] = "off"  # a real one has nothing to watch in a stand-in
        self.set(conf, nvml)

    def set(self, conf="", nvml=""):
        """Whole files: a process never reads half of one."""
        for path, text in ((self.path, conf), (self.nvml, nvml)):
            with open(path + ".new", "w") as f:
                f.write(text)
            os.replace(path + ".new", path + ".conf")

    def without(self, symbol):
        """The library itself, without one of its functions: its name in the table of symbols becomes another one."""
        with open(self.path, "rb") as f:
            image = f.read()
        name = b"\0" + symbol.encode() + b"\0"
        assert image.count(name) >= 1, symbol
        with open(self.path + ".new", "wb") as f:
            f.write(image.replace(name, b"\0" + b"x" * len(symbol) + b"\0"))
        os.replace(self.path + ".new", self.path)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
