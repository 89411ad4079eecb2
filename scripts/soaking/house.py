"""The gateway, its configuration, and servers that misbehave."""

import json
import os
import selectors
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from .options import Options
from .wire import Address

# What a server whose end is provoked may do for ever.
RESTARTS = 1_000_000
# How long a program may take to say its first line, on a machine that does something else too.
FIRST_LINE = 30.0
LONGEST_LINE = 4096


class NotStarted(Exception):
    """Something could not be started."""


class House:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.home = options.keep / "home"
        self.state = self.home / ".openclaw"
        self.config = self.state / "openclaw.json"
        self.log = options.keep / "gateway.log"
        self.marker = f"openclaw-soak-{os.getpid()}"
        self.state.mkdir(parents=True, mode=0o700)
        # Longer than the soak, and so that nothing stays for ever if this is killed.
        self.lifetime = str(int(options.seconds) + 300)
        self.remote: subprocess.Popen | None = None
        self.remote_url = ""
        self.gateway: subprocess.Popen | None = None
        self.address: Address | None = None

    def stdio(self, *flags: str, **more: Any) -> dict[str, Any]:
        arguments = ["stdio", "--lifetime", self.lifetime, "--marker", self.marker, *flags]
        return {"command": str(self.options.fake_server), "args": arguments, **more}

    def servers(self) -> dict[str, Any]:
        """The servers that stay. `changes` adds those that don't."""
        return self.apart(
            {
                **{f"steady{number}": self.stdio() for number in range(4)},
                "paced": self.stdio(),
                "changing": self.stdio(),
                "remote": {"url": self.remote_url},
                "noisy": self.stdio("--noise", "--duplicate-replies"),
                "flooding": self.stdio("--flood-stderr", str(2**18)),
                "lazy": self.stdio(lazy=True, idleTimeoutMs=1500),
                "family": self.stdio("--grandchild", "--grandchild-setsid"),
                "mute": self.stdio("--mute-calls", requestTimeoutMs=1500),
                "crashing": self.stdio("--exit-after", "60", maxRestarts=RESTARTS),
                "dying": self.stdio("--exit-on-call", maxRestarts=RESTARTS),
            }
        )

    def apart(self, servers: dict[str, Any]) -> dict[str, Any]:
        """A process for each: servers with one definition would share one."""
        for name, server in servers.items():
            if "command" in server:
                server.setdefault("env", {})["SERVER"] = name
        return servers

    def write(self, servers: dict[str, Any]) -> None:
        self.write_text(json.dumps({"mcp": {"servers": servers}}))

    def write_text(self, text: str) -> None:
        """Replaces the file, as editors do."""
        beside = self.config.with_suffix(".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.config)

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ.get("PATH", "")}

    def start(self) -> None:
        self.start_remote()
        self.write(self.servers())
        command = [self.options.openclaw, "--log-level", "info", "--log-format", "json"]
        command += ["gateway", "run", "--port", "0"]
        with self.log.open("wb") as log:
            self.gateway = subprocess.Popen(
                command,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        line = first_line(self.gateway, FIRST_LINE)
        if not line.startswith("gateway ready at http://"):
            raise NotStarted(f"the gateway is not ready but says: {line!r}; see {self.log}")
        host, _, port = line.split(" ")[3].removeprefix("http://").rpartition(":")
        token = (self.state / "gateway.token").read_text(encoding="utf-8").strip()
        self.address = Address(host, int(port), token)

    def start_remote(self) -> None:
        command = [self.options.fake_server, "http", "--lifetime", self.lifetime]
        self.remote = subprocess.Popen(
            [*command, "--marker", f"{self.marker}-remote"],
            # It ends when this does.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        line = first_line(self.remote, FIRST_LINE)
        if not line.startswith("listening on "):
            raise NotStarted(f"the fake server does not listen but says: {line!r}")
        self.remote_url = f"{line.removeprefix('listening on ')}/mcp"

    @property
    def pid(self) -> int:
        assert self.gateway is not None
        return self.gateway.pid

    def reload(self) -> None:
        os.kill(self.pid, signal.SIGHUP)

    def stop(self, patience: float) -> tuple[int | None, float]:
        """Asks the gateway to end; its exit code, none if it had to be killed, and how long it took."""
        assert self.gateway is not None
        started = time.monotonic()
        self.gateway.terminate()
        try:
            code: int | None = self.gateway.wait(patience)
        except subprocess.TimeoutExpired:
            code = None
        return code, time.monotonic() - started

    def end(self) -> None:
        """Ends what is left, whatever has happened."""
        for process in (self.gateway, self.remote):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def first_line(process: subprocess.Popen, patience: float) -> str:
    """The first line of a program, or what there is of it when it ends or is too late."""
    assert process.stdout is not None
    deadline = time.monotonic() + patience
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while b"\n" not in line and len(line) < LONGEST_LINE:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                break
            # Whatever has come: a whole line could be waited for without an end.
            more = os.read(process.stdout.fileno(), LONGEST_LINE)
            if not more:
                break
            line += more
    return line.partition(b"\n")[0].decode("utf-8", "replace").strip()


def left_over(marker: str) -> list[int]:
    """Processes that have this in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(argument == marker.encode() for argument in arguments):
            found.append(int(entry.name))
    return found
