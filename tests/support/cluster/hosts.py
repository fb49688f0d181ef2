"""Three hosts on one machine for tests and benches of a cluster: each has network, mount, process, host name, IPC and
time namespaces of its own, so that its /tmp, its /dev/shm, its addresses and its CLOCK_MONOTONIC are not another's.

A bridge in a network namespace of its own joins them; nothing of it shows outside, so any number can be up at once.
The sources of runner/ and backend/ are hidden on every host but the first: code gets there only as a cluster brings it.
All of it lives as long as the pipes that hold it open: when the test process ends, however it ends, so do the hosts.
Knows how to start and stop Ray; does not know the runner.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.support import NOT_LOADED, PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
NAMES = ("head", "worker-1", "worker-2")
HIDDEN = ("runner", "backend")
PORT = 6379
QUIET = ("--disable-usage-stats", "--include-log-monitor=false")  # each would be one more process on every host
TOKEN = "/tmp/cluster/token"
RAYS = "ray/core|ray/_private|ray/dashboard|ray/autoscaler|ray::"  # the processes of Ray
# What CLOCK_MONOTONIC of each host is ahead of the machine's: no two agree, as on real machines.
AHEAD_S = {"head": 0, "worker-1": 40_000, "worker-2": 7_000}
# A dead host is noticed after about 6 s instead of 30 to 60 s; the last two are for who asks such a host meanwhile.
HEALTH = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_grpc_client_keepalive_time_ms": "3000",
    "RAY_grpc_client_keepalive_timeout_ms": "3000",
    "RAY_prestart_worker_first_driver": "0",  # workers that no rank uses
    "RAY_agent_register_timeout_ms": "240000",
    "RAY_worker_register_timeout_seconds": "600",
}
# Ray's command, which gives the start of a node 30 s and that of its agents 15, with ten times as long and without a
# wait (as runner/engines/ray/cluster.py, which is hidden on most hosts); and without the dashboard and its agent, which
# are there for who looks at a cluster in a browser and sends it jobs.
START_RAY = """
import time
from types import SimpleNamespace
from ray import _raylet
from ray._private import node, services
start = node.Node.start_raylet
def start_raylet(self, *sizes):
    self._ray_params.runtime_env_agent_port = 7101
    ports = {_raylet.RUNTIME_ENV_AGENT_PORT_NAME: 7101, _raylet.METRICS_AGENT_PORT_NAME: -1}
    ports |= {_raylet.METRICS_EXPORT_PORT_NAME: -1, _raylet.DASHBOARD_AGENT_LISTEN_PORT_NAME: -1}
    for name, port in ports.items():
        _raylet.persist_port(self._session_dir, self._node_id, name, port)
    start(self, *sizes)
node.Node.start_raylet = start_raylet
node.Node.start_api_server = lambda self, **_: None
process = services.start_ray_process
def start_ray_process(command, *rest, **more):
    agent = "--dashboard_agent_command="
    command = [f"{agent}sleep infinity" if each.startswith(agent) else each for each in command]
    return process(command, *rest, **more)
services.start_ray_process = start_ray_process
node.time = SimpleNamespace(**{**vars(time), "monotonic": lambda: time.monotonic() / 10})
from ray.scripts.scripts import main
main()
"""
_ENTER = ("--net", "--mount", "--pid", "--uts", "--ipc", "--time")

# The first process of a host: it makes the host's own file systems, then waits for its pipe to end. A shell that waits
# for `cat` also reaps the orphans of its process namespace. KEPT: paths under /tmp that stay visible.
_HOST = """set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t sysfs sysfs /sys
umount -l /sys/fs/cgroup 2>/dev/null || true
mount -t tmpfs -o size=256m shm /dev/shm
mkdir -p /dev/shm/keep
for each in $KEPT; do mkdir -p /dev/shm/keep$each; mount --bind $each /dev/shm/keep$each; done
mount -t tmpfs -o size=2g,mode=1777 tmp /tmp
for each in $KEPT; do mkdir -p $each; mount --move /dev/shm/keep$each $each; done
rm -rf /dev/shm/keep
for each in $HIDE; do mount -t tmpfs -o size=64k,ro none $each; done
mkdir -p /tmp/home
hostname $NAME
ip link set lo up
echo up
cat
"""
_SWITCH = "set -e; ip link add name switch type bridge; ip link set switch up; ip link set lo up; echo up; exec cat"


def can_make_hosts() -> str | None:
    """The reason why this machine does not allow such hosts; None if it does."""
    if sys.platform != "linux":
        return "hosts are made of Linux namespaces"
    missing = [tool for tool in ("unshare", "nsenter", "ip", "mount", "pkill") if shutil.which(tool) is None]
    if missing:
        return f"no {', '.join(missing)} here (Debian: apt-get install iproute2 util-linux mount procps)"
    if os.geteuid() != 0:
        return "only root may make namespaces with networks; run the tests as root"
    try:
        with Hosts(("one", "two")) as hosts:
            return None if hosts.run("one", "true").returncode == 0 else "a made host runs nothing"
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return f"namespaces cannot be made here: {error}"


@dataclass(slots=True)
class _Host:
    """A host that is up: its holder (whose pipe keeps it) and the process id of its first process."""

    holder: subprocess.Popen[bytes]
    first: int


class Hosts:
    """Hosts on one switch; the first may see the sources, the others may not."""

    def __init__(self, names: tuple[str, ...] = NAMES) -> None:
        self.names = names
        self.addresses = {name: f"10.77.0.{number}" for number, name in enumerate(names, 1)}
        self.up: dict[str, _Host] = {}
        self.switch: subprocess.Popen[bytes] | None = None
        self.cables: dict[str, subprocess.Popen[bytes]] = {}  # long ones

    def __enter__(self) -> Hosts:
        try:
            self.switch = _hold(["unshare", "--net", "sh", "-c", _SWITCH], {})
            for name in self.names:
                self.start(name)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End every host and the switch."""
        for name in list(self.up):
            self.kill(name)
        for cable in self.cables.values():
            _end(cable)
        self.cables.clear()
        if self.switch is not None:
            _end(self.switch)
            self.switch = None

    def start(self, name: str) -> None:
        """Start a host, empty like a machine that was just switched on, and connect it to the switch."""
        assert name not in self.up
        assert self.switch is not None
        hide = [str(ROOT / folder) for folder in HIDDEN if name != self.names[0]]
        # a folder inside ROOT is visible with it
        within = [sys.prefix] if not Path(sys.prefix).is_relative_to(ROOT) else []
        kept = [path for path in (str(ROOT), *within) if path.startswith("/tmp/")]
        ahead = ("--time", "--monotonic", str(AHEAD_S.get(name, 0)))
        own = ("--net", "--mount", "--pid", "--uts", "--ipc", *ahead, "--fork", "--kill-child")
        setting = {"NAME": name, "HIDE": " ".join(hide), "KEPT": " ".join(kept)}
        holder = _hold(["unshare", *own, "sh", "-c", _HOST], setting)
        try:
            first = int(Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()[0])
            self.up[name] = _Host(holder, first)
            self._switch("ip", "link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", str(first))
            self._switch("ip", "link", "set", name, "master", "switch", "up")
            self.check(name, "ip", "address", "add", f"{self.addresses[name]}/24", "dev", "eth0")
            self.check(name, "ip", "link", "set", "eth0", "up")
        except BaseException:
            self.up.pop(name, None)
            _end(holder)
            raise

    def kill(self, name: str) -> None:
        """End a host with everything that runs on it, at once. Its kernel still closes its connections."""
        host = self.up.pop(name)
        _end(host.holder, host.first)

    def switch_off(self, name: str) -> None:
        """Switch a host off: its connections are not closed, and its peers receive nothing more."""
        self.cut(name)
        self.kill(name)

    def cut(self, name: str) -> None:
        """Pull a host's cable at the switch."""
        self._switch("ip", "link", "set", name, "down")

    def mend(self, name: str) -> None:
        """Put the cable back."""
        self._switch("ip", "link", "set", name, "up")

    def lengthen(self, name: str, seconds: float) -> None:
        """Delay everything to and from a host by a time each way: a bridge of its own, and a long cable from there to
        the switch.
        """
        assert self.switch is not None
        near, far, apart = f"{name}.near", f"{name}.far", f"{name}.br"
        within = ["nsenter", "--target", str(self.switch.pid), "--net"]
        self.cables[name] = _hold(
            [*within, sys.executable, str(ROOT / "tests/support/cluster/cable.py"), near, far, str(seconds)], {}
        )
        self._switch("ip", "link", "add", "name", apart, "type", "bridge")
        for device, bridge in ((apart, None), (near, "switch"), (far, apart)):
            self._switch("ip", "link", "set", device, *(("master", bridge) if bridge else ()), "up")
        self._switch("ip", "link", "set", name, "master", apart)

    def shorten(self, name: str) -> None:
        """Connect a host to the switch again."""
        self._switch("ip", "link", "set", name, "master", "switch")
        _end(self.cables.pop(name))
        self._switch("ip", "link", "delete", f"{name}.br")

    def enter(self, name: str, environ: dict[str, str] | None = None) -> list[str]:
        """The command prefix that runs a command on a host, in the project's folder, with its own environment. Killing
        the process that this starts does not end the command: end its input, or its host.
        """
        settings = {
            "PATH": os.environ["PATH"],
            "HOME": "/tmp/home",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": NOT_LOADED,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": TOKEN,
            "RAY_USAGE_STATS_ENABLED": "0",
            **HEALTH,
            **(environ or {}),
        }
        given = [f"{key}={value}" for key, value in settings.items()]
        return ["nsenter", "--target", str(self.up[name].first), *_ENTER, "env", "-i", "-C", str(ROOT), *given]

    def run(
        self, name: str, *command: str, timeout: float = PATIENCE_S, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host and wait for its end."""
        whole = [*self.enter(name, environ), *command]
        return subprocess.run(whole, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)

    def check(self, name: str, *command: str, timeout: float = PATIENCE_S, **environ: str) -> str:
        """Run a command on a host; returns its output. Raises an error with the output on failure."""
        done = self.run(name, *command, timeout=timeout, **environ)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[:4])} on {name}: exit code {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def give_token(self, token: str, *names: str) -> None:
        """Put the cluster's token on hosts, readable by its owner only."""
        for name in names or self.names:
            text = f"umask 077; mkdir -p {os.path.dirname(TOKEN)}; printf %s {token} > {TOKEN}"
            self.check(name, "sh", "-c", text)

    def ray(self, name: str, cpus: int = 2, **environ: str) -> float:
        """Start Ray on a host: the cluster's head on the first, elsewhere a node that joins it. Seconds it took."""
        begin = time.monotonic()
        own = ["--node-ip-address", self.addresses[name], "--num-cpus", str(cpus), "--object-store-memory=80000000"]
        if name == self.names[0]:
            whole = ["--head", f"--port={PORT}", "--include-dashboard=false", "--no-monitor", *own]
        else:
            whole = ["--address", self.address, *own]
        self.check(name, sys.executable, "-c", START_RAY, "start", *QUIET, *whole, **environ)
        return time.monotonic() - begin

    def stop_ray(self, name: str) -> None:
        """Kill Ray on a host, where it may have ended already, as `ray stop --force` does in a CPU-second."""
        done = self.run(name, "pkill", "-KILL", "-f", RAYS)
        if done.returncode > 1:  # 1: there was none
            raise RuntimeError(f"Ray on {name} could not be stopped: {done.stderr}")

    @property
    def address(self) -> str:
        """The address of the cluster's head."""
        return f"{self.addresses[self.names[0]]}:{PORT}"

    def _switch(self, *command: str) -> None:
        assert self.switch is not None
        done = subprocess.run(
            ["nsenter", "--target", str(self.switch.pid), "--net", *command],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def _hold(command: list[str], setting: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start what makes namespaces and wait until it says that they are up; they last while its input is open."""
    environ = {"PATH": os.environ["PATH"], **setting}
    holder = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environ,
        bufsize=0,
        cwd="/",
    )
    assert holder.stdout is not None
    output = b""
    while line := holder.stdout.readline():
        if line == b"up\n":
            return holder
        output += line
    _end(holder)
    raise RuntimeError(output.decode(errors="replace").strip() or f"{command[0]} ended without output")


def _end(holder: subprocess.Popen[bytes], first: int | None = None) -> None:
    """End these processes: the kernel ends a process namespace with its first process."""
    assert holder.stdin is not None
    assert holder.stdout is not None
    if first is not None:
        os.kill(first, 9)
    holder.stdin.close()
    try:
        holder.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        holder.kill()
        holder.wait(PATIENCE_S)
    holder.stdout.close()
