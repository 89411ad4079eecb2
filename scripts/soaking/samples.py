"""Memory, descriptors, threads and processes of the gateway over time."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    at: float
    memory: int
    descriptors: int
    threads: int
    zombies: int
    processes: int


def status_of(pid: int) -> dict[str, str]:
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def below(pid: int) -> tuple[int, int]:
    """How many processes a process has below itself, and how many of them are zombies."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            _, _, rest = (entry / "stat").read_text(encoding="utf-8").rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        parents.setdefault(int(parent), []).append((int(entry.name), state))
    processes = zombies = 0
    waiting = [pid]
    while waiting:
        for child, state in parents.get(waiting.pop(), []):
            processes += 1
            zombies += state == "Z"
            waiting.append(child)
    return processes, zombies


def sample(pid: int, began: float) -> Sample:
    status = status_of(pid)
    processes, zombies = below(pid)
    return Sample(
        at=time.monotonic() - began,
        memory=int(status["VmRSS"].removesuffix(" kB")) * 1024,
        descriptors=sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
        threads=int(status["Threads"]),
        zombies=zombies,
        processes=processes,
    )


async def collect(pid: int, began: float, samples: list[Sample], until: asyncio.Event) -> None:
    """A sample a second."""
    while not until.is_set():
        samples.append(sample(pid, began))
        await asyncio.sleep(1)
