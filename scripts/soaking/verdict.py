"""What must hold in the end."""

import json
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .samples import Sample

MEBIBYTE = 2**20
# What memory may grow by beside its share, and descriptors and threads in all.
MEMORY_MORE = 4 * MEBIBYTE
MEMORY_SHARE = 1.15
DESCRIPTORS_MORE = 24
THREADS_MORE = 6
PROCESSES_MORE = 8
# What memory may be once the load is gone, beside what it was before it.
IDLE_MEMORY_SHARE = 1.5
IDLE_MEMORY_MORE = 10 * MEBIBYTE
# As many as such servers have, with the one that is there only in the end and the files that are opened when
# they are first needed.
IDLE_DESCRIPTORS_MORE = 18
# Servers that rest or come back in the one moment and not in the other.
IDLE_PROCESSES_MORE = 3
# A zombie is there for a moment whenever a process ends.
ZOMBIE_SECONDS = 5

# What is provoked, and so is told as an error.
PROVOKED = [
    re.compile(r"the configuration has changed and can't be used"),
    re.compile(r"the configuration can't be used, nothing was changed"),
]


@dataclass(frozen=True)
class Line:
    what: str
    found: str
    holds: bool


def window(samples: list[Sample], start: float, end: float) -> list[Sample]:
    return [sample for sample in samples if start <= sample.at < end]


def flatness(samples: list[Sample], warm_up: float, seconds: float) -> list[Line]:
    """The last part of the run beside the part after the warm-up."""
    length = max(8.0, (seconds - warm_up) / 5)
    first = window(samples, warm_up, warm_up + length)
    last = window(samples, seconds - length, seconds + 1)
    if not first or not last:
        return [Line("samples", "too few", False)]

    def middles(name: str) -> tuple[float, float]:
        values = [[getattr(sample, name) for sample in part] for part in (first, last)]
        return statistics.median(values[0]), statistics.median(values[1])

    before, after = middles("memory")
    lines = [
        Line(
            "memory after the warm-up, in the end",
            f"{before / MEBIBYTE:.1f} MiB, {after / MEBIBYTE:.1f} MiB",
            after <= before * MEMORY_SHARE + MEMORY_MORE,
        )
    ]
    for name, more in [
        ("descriptors", DESCRIPTORS_MORE),
        ("threads", THREADS_MORE),
        ("processes", PROCESSES_MORE),
    ]:
        before, after = middles(name)
        what = f"{name} after the warm-up, in the end"
        lines.append(Line(what, f"{before:.0f}, {after:.0f}", after <= before + more))
    stretch = longest_stretch(samples)
    lines.append(Line("seconds with zombies, in a row", str(stretch), stretch < ZOMBIE_SECONDS))
    return lines


def happened(counts: Mapping[str, int], kinds: Iterable[str]) -> list[Line]:
    """What has to happen at all, or the rest shows nothing."""
    return [Line(kind, str(counts.get(kind, 0)), counts.get(kind, 0) > 0) for kind in kinds]


def apart(pids: Mapping[str, int | None]) -> Line:
    """Whether all servers run, each in a process of its own."""
    known = [pid for pid in pids.values() if pid is not None]
    holds = len(set(known)) == len(pids) > 0
    return Line("servers with a process of their own", f"{len(set(known))} of {len(pids)}", holds)


def rested(idle: Sample, after: Sample) -> list[Line]:
    """The gateway before the load and after it, when nobody asks."""
    memory = idle.memory * IDLE_MEMORY_SHARE + IDLE_MEMORY_MORE
    return [
        Line(
            "memory before and after, idle",
            f"{idle.memory / MEBIBYTE:.1f} MiB, {after.memory / MEBIBYTE:.1f} MiB",
            after.memory <= memory,
        ),
        Line(
            "descriptors before and after, idle",
            f"{idle.descriptors}, {after.descriptors}",
            after.descriptors <= idle.descriptors + IDLE_DESCRIPTORS_MORE,
        ),
        Line(
            "processes before and after, idle",
            f"{idle.processes}, {after.processes}",
            after.processes <= idle.processes + IDLE_PROCESSES_MORE,
        ),
    ]


def longest_stretch(samples: list[Sample]) -> int:
    longest = current = 0
    for sample in samples:
        current = current + 1 if sample.zombies else 0
        longest = max(longest, current)
    return longest


def unexpected(lines: Iterable[str]) -> list[str]:
    """Lines of the log that nothing here provokes."""
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            # Only what is not logged as it should be, such as a panic, is no JSON.
            if line.strip():
                found.append(line.strip())
            continue
        text = json.dumps(entry.get("fields", entry), ensure_ascii=False)
        if "panic" in text.lower():
            found.append(line.strip())
        elif entry.get("level") == "ERROR" and not any(kind.search(text) for kind in PROVOKED):
            found.append(line.strip())
    return found


def table(lines: list[Line]) -> str:
    width = max(len(line.what) for line in lines)
    rows = []
    for line in lines:
        verdict = "ok" if line.holds else "BROKEN"
        rows.append(f"{line.what:<{width}}  {verdict:<6}  {line.found}")
    return "\n".join(rows)
