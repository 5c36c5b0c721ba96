"""A real Spark on this machine: one master and some workers, standalone, on loopback, all files in one folder.

    with Cluster(folder, workers=2) as cluster:
        spark = cluster.session()

Nothing outlives it. Master and workers get SIGKILL from the kernel when the process that made them ends, however it
does; a driver and executors of Spark end when they lose those; and stop() kills whatever is left. All of them
are known by a variable in their environment.

SPDX-License-Identifier: MIT
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import pyspark
from pyspark.sql import SparkSession

MARK = "LEGOSKETCH_SPARK_CLUSTER"


def java_home():
    """Spark 4 runs on Java 17 and 21, so Debian's 17 comes before whatever `java` is; None if there is no Java."""
    debian = sorted(pathlib.Path("/usr/lib/jvm").glob("java-17-openjdk-*"))
    if debian:
        return debian[0]
    java = shutil.which("java")
    return pathlib.Path(java).resolve().parents[1] if java else None


def processes(mark):
    """The ids of all processes whose environment has this mark, this one excepted."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # it has ended, or is another user's
            continue
    return [process for process in found if process != os.getpid()]


def descendants(process):
    """The process and all that it started, as they are now."""
    parent = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    family = [process]
    for member in family:  # grows while it is read
        family += [child for child, its_parent in parent.items() if its_parent == member]
    return family


def kill(ids):
    for process in ids:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    def __init__(self, folder, workers=2):
        self.folder = pathlib.Path(folder).resolve()
        self.mark = str(self.folder)
        self.environment = {
            MARK: self.mark,
            "JAVA_HOME": str(java_home()),
            "SPARK_HOME": os.path.dirname(pyspark.__file__),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": self.java_options() + " -XX:TieredStopAtLevel=1",  # they start sooner
            "TMPDIR": str(self.folder / "tmp"),
            "PYSPARK_PYTHON": sys.executable,
        }
        self.workers = []
        self.count = workers
        self.spark = None

    def java_options(self):
        return f"-Djava.io.tmpdir={self.folder / 'tmp'} -XX:-UsePerfData -XX:+UseSerialGC"

    def __enter__(self):
        for name in ("tmp", "local", "logs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)  # the driver's Java starts from here, and has to be found by its mark
        try:
            port = free_port()
            self.url = f"spark://127.0.0.1:{port}"
            self.master = self.start("master", "org.apache.spark.deploy.master.Master", "--port", str(port))
            self.wait_for("master", "New state: ALIVE")
            for _ in range(self.count):
                self.start_worker()
            self.wait_for_workers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.spark:
            self.spark.stop()
        while alive := processes(self.mark):
            kill(alive)
            for process in self.children():
                process.wait()
            time.sleep(0.05)
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for name in ("tmp", "local", "work"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def children(self):
        return [process for process in [getattr(self, "master", None), *self.workers] if process]

    def start(self, name, *command):
        with open(self.folder / "logs" / name, "wb") as log:
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", f"{self.environment['SPARK_HOME']}/bin/spark-class", *command,
                 "--host", "127.0.0.1", "--webui-port", "0"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def wait_for(self, name, line, seconds=60):
        until = time.monotonic() + seconds
        log = self.folder / "logs" / name
        while line not in log.read_text(errors="replace"):
            if time.monotonic() > until:
                raise TimeoutError(f"{log} does not say '{line}' after {seconds} s")
            time.sleep(0.1)

    def start_worker(self):
        name = f"worker{len(self.workers)}"
        self.workers.append(self.start(name, "org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory",
                                       "700m", "--work-dir", str(self.folder / "work"), self.url))

    def wait_for_workers(self):
        for index, worker in enumerate(self.workers):
            if worker.poll() is None:
                self.wait_for(f"worker{index}", "Successfully registered with master")

    def kill_worker(self, index):
        """As if its machine had gone: the worker, its executors and their Pythons at once."""
        kill(descendants(self.workers[index].pid))
        self.workers[index].wait()

    def session(self, **settings):
        """A driver in this process. settings: names of Spark's, with _ for the dots."""
        builder = SparkSession.builder.master(self.url).appName("legosketch")
        quick = {  # a lost worker is noticed in seconds
            "spark.network.timeout": "60s", "spark.executor.heartbeatInterval": "5s",
            "spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "1s",
        }
        small = {
            "spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        here = {
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"), "spark.pyspark.python": sys.executable,
            "spark.driver.extraJavaOptions": self.java_options(),
            "spark.executor.extraJavaOptions": self.java_options(),
        }
        own = {name.replace("_", "."): value for name, value in settings.items()}
        for name, value in {**quick, **small, **here, **own}.items():
            builder = builder.config(name, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        return self.spark
