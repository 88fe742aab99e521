"""A Slurm of one machine with one "h100" (/dev/null stands in for it), in a folder of its own: munge,
slurmctld and slurmd are started from Debian's packages and ended again. Root only."""
import os, pwd, shutil, socket, subprocess, tempfile, time

from support import until

PROGRAMS = ("srun", "slurmctld", "slurmd", "munged", "squeue", "scancel", "sinfo")


def missing():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [p for p in PROGRAMS if not shutil.which(p, path=path)]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Onebox:
    def __init__(self):
        self.room = tempfile.mkdtemp(prefix="upskilld-slurm-")
        os.chmod(self.room, 0o755)
        self.started = []
        os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        os.environ["SLURM_CONF"] = self.room + "/slurm.conf"
        try:
            self.start_munge()
            self.start_slurm()
        except BaseException:
            self.end()
            raise

    def folder(self, name, owner):
        path = os.path.join(self.room, name)
        os.makedirs(path)
        user = pwd.getpwnam(owner)
        os.chown(path, user.pw_uid, user.pw_gid)
        os.chmod(path, 0o755)
        return path

    def run(self, *argv, user=None):
        log = open(os.path.join(self.room, os.path.basename(argv[0]) + ".log"), "w")
        child = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, user=user,
                                 group=user, extra_groups=[] if user else None)
        self.started.append(child)

    def start_munge(self):
        run = self.folder("munge", "munge")
        key = run + "/key"
        with open(key, "wb") as f:
            f.write(os.urandom(1024))
        user = pwd.getpwnam("munge")
        os.chown(key, user.pw_uid, user.pw_gid)
        os.chmod(key, 0o400)
        self.socket = run + "/socket"
        self.run("munged", "--foreground", "--socket=" + self.socket, "--key-file=" + key, "--pid-file=" + run + "/pid",
                 "--log-file=" + run + "/log", "--seed-file=" + run + "/seed", user="munge")
        until(lambda: os.path.exists(self.socket), "munge listens")

    def start_slurm(self):
        host = socket.gethostname().split(".")[0]
        state, (control, node, *_) = self.folder("ctld", "slurm"), free_ports(2)
        spool = self.folder("d", "root")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1 << 20) - 512
        with open(self.room + "/slurm.conf", "w") as f:
            f.write("""ClusterName=onebox
SlurmctldHost=%s(127.0.0.1)
SlurmctldPort=%d
SlurmdPort=%d
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket=%s
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmctldPidFile=%s/pid
SlurmdPidFile=%s/pid
SlurmdSpoolDir=%s
StateSaveLocation=%s
SlurmctldLogFile=%s/log
SlurmdLogFile=%s/log
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
NodeName=%s NodeAddr=127.0.0.1 CPUs=%d RealMemory=%d Gres=gpu:h100:1 State=UNKNOWN
PartitionName=gpu Nodes=%s Default=YES MaxTime=INFINITE State=UP
""" % (host, control, node, self.socket, state, spool, spool, state, state, spool, host, os.cpu_count(), memory, host))
        with open(self.room + "/gres.conf", "w") as f:
            f.write("Name=gpu Type=h100 File=/dev/null\n")  # without File the node is found invalid
        open(self.room + "/cgroup.conf", "w").close()
        self.run("slurmctld", "-D", "-c")
        self.run("slurmd", "-D", "-c")
        until(lambda: "idle" in self.say("sinfo", "-h", "-o", "%T"), "the node is idle: " + self.room)

    def say(self, *argv):
        return subprocess.run(argv, capture_output=True, text=True).stdout

    def jobs(self):
        """{id: state}"""
        return dict(line.split() for line in self.say("squeue", "-h", "-o", "%i %T").splitlines())

    def until_free(self):
        until(lambda: not self.jobs(), "the GPU is free again")

    def end(self):
        for child in reversed(self.started):
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        time.sleep(0.2)
        shutil.rmtree(self.room, ignore_errors=True)
