"""Puts what was measured of the gateway into `docs/benchmarks.md`, with a description of the machine.

    python3 scripts/benchmark_page.py MEASURED PAGE

The section stands between two comments, and everything else of the page stays as it is.
"""

import datetime
import os
import platform
import sys
from pathlib import Path

BEGIN = "<!-- scripts/bench writes what follows: the gateway -->"
END = "<!-- scripts/bench writes what precedes: the gateway -->"


class PageError(Exception):
    """The page is not one that a section can be put into."""


def with_section(page: str, section: str) -> str:
    """The page with another section between the comments."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise PageError("the page must have each of the two comments once")
    before, rest = page.split(BEGIN)
    if END not in rest:
        raise PageError("the comments are in the wrong order")
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{section.strip()}\n{END}{after}"


def value_of(text: str, name: str) -> str | None:
    """The first value of a name in a text of lines like `name : value`."""
    for line in text.splitlines():
        found, _, value = line.partition(":")
        if found.strip() == name and value.strip():
            return value.strip()
    return None


def read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def machine(cpuinfo: str, meminfo: str, cores: int, system: str, today: datetime.date) -> str:
    """One sentence about a machine."""
    model = value_of(cpuinfo, "model name") or "an unnamed processor"
    kilobytes = (value_of(meminfo, "MemTotal") or "").removesuffix(" kB")
    memory = f"{int(kilobytes) / 2**20:.0f} GiB" if kilobytes.isdigit() else "unknown"
    count = "1 core" if cores == 1 else f"{cores} cores"
    return f"Measured on {today.isoformat()}: {count} of {model}, {memory} of memory, {system}."


def this_machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()} {platform.release()}"
    today = datetime.datetime.now(datetime.UTC).date()
    return machine(read("/proc/cpuinfo"), read("/proc/meminfo"), cores or 1, system, today)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: benchmark_page.py MEASURED PAGE", file=sys.stderr)
        return 2
    measured, page = map(Path, arguments)
    section = f"{this_machine()}\n\n{measured.read_text(encoding='utf-8')}"
    try:
        text = with_section(page.read_text(encoding="utf-8"), section)
    except PageError as error:
        print(f"{page}: {error}", file=sys.stderr)
        return 1
    page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
