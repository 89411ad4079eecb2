"""Runs a soak and says what came of it."""

import asyncio
import os
import random
import signal
import sys
import time
from typing import Any

from . import options as options_module
from .callers import KINDS, LATE, Callers, Tally, text_of
from .changes import Changes
from .house import House, NotStarted, left_over
from .options import Options
from .samples import Sample, collect, sample
from .verdict import Line, apart, flatness, happened, rested, table, unexpected
from .wire import Connection, Lost

# How long the gateway may take to stop, and what it started to be gone.
STOPPING = 6.0
# How long servers may take to be ready, on a machine that does something else too.
READY = 60.0
# Servers that end again and again, and those of them that answer calls in between.
CRASHING = ["crashing", "dying"]
ANSWERING = ["crashing"]
STEADY = ["steady0", "steady1", "steady2", "steady3", "paced", "noisy", "flooding", "family"]


async def ask(house: House, path: str) -> Any:
    assert house.address is not None
    connection = Connection(house.address)
    try:
        return (await connection.ask("GET", path)).json()
    finally:
        connection.close()


async def eventually(patience: float, condition) -> bool:
    deadline = time.monotonic() + patience
    while not await condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.2)
    return True


async def states(house: House) -> dict[str, tuple[str, int | None]]:
    report = await ask(house, "/api/mcp/servers")
    return {server["name"]: (server["state"], server["pid"]) for server in report["servers"]}


def steady_pids(states_now: dict[str, tuple[str, int | None]]) -> dict[str, int | None]:
    return {name: states_now.get(name, ("", None))[1] for name in STEADY}


async def soak(house: House, options: Options) -> list[Line]:
    chance = random.Random(options.seed)

    async def are_ready() -> bool:
        now = await states(house)
        return all(now.get(name, ("", None))[0] == "ready" for name in [*STEADY, *CRASHING])

    if not await eventually(READY, are_ready):
        return [Line("servers that are ready", str(await states(house)), False)]
    first = await states(house)
    idle = sample(house.pid, time.monotonic())
    began = time.monotonic()
    tally = Tally()
    changes = Changes(house, chance, tally)
    samples: list[Sample] = []
    until = asyncio.Event()
    work = [
        asyncio.create_task(caller(until))
        for caller in Callers(house, chance, tally).crowd()
    ]
    work.append(asyncio.create_task(changes.run(until)))
    watching = asyncio.create_task(collect(house.pid, began, samples, until))
    await progress(options, began, tally, samples, [*work, watching])
    until.set()
    done, late = await asyncio.wait([*work, watching], timeout=1.5 * LATE)
    for task in late:
        task.cancel()
    failures = [str(task.exception()) for task in done if task.exception() is not None]
    lines = [apart(steady_pids(first)), *happened(tally.counts, KINDS)]
    lines.append(Line("calls with a wrong answer or none", str(tally.broken), not tally.broken))
    lines.append(Line("callers that did not end", str(len(late)), not late))
    lines.append(Line("callers that failed", str(failures[:3] or "none"), not failures))
    lines.append(Line("configurations written", str(changes.written), changes.written > 0))
    lines += flatness(samples, options.warm_up, options.seconds)
    lines += await afterwards(house, changes, first, idle)
    for kind, example in tally.breaches.items():
        print(f"breach, {tally.kinds[kind]} times: {example}")
    return lines


async def progress(options: Options, began: float, tally: Tally, samples, tasks) -> None:
    """Waits for the end, or for the gateway's, and says how it goes every half a minute."""
    told = 0.0
    while (passed := time.monotonic() - began) < options.seconds:
        if any(task.done() for task in tasks):
            return
        if passed - told >= 30 and samples:
            told = passed
            last = samples[-1]
            print(
                f"{passed:5.0f} s: {sum(tally.counts.values())} answers, {tally.broken} breaches, "
                f"{last.memory / 2**20:.1f} MiB, {last.descriptors} descriptors, "
                f"{last.threads} threads, {last.processes} processes",
                flush=True,
            )
        await asyncio.sleep(0.5)


async def afterwards(
    house: House, changes: Changes, first: dict[str, tuple[str, int | None]], idle: Sample
) -> list[Line]:
    """The gateway when nobody asks any longer."""
    changes.settle()

    async def is_in_force() -> bool:
        now = await states(house)
        return now.get("last", ("", None))[0] == "ready" and "extra0" not in now

    lines = [Line("the last configuration is in force", "", await eventually(15, is_in_force))]
    error = (await ask(house, "/api/status")).get("configError")
    lines.append(Line("no error of the configuration is left", str(error), error is None))
    pids, now = steady_pids(first), steady_pids(await states(house))
    moved = sorted(name for name in pids if pids[name] != now[name])
    lines.append(Line("servers that were started again without a reason", str(moved), not moved))
    lines += [await came_back(house, name, first) for name in CRASHING]

    async def is_quiet() -> bool:
        return all(line.holds for line in rested(idle, sample(house.pid, 0)))

    await eventually(20, is_quiet)
    return lines + rested(idle, sample(house.pid, 0))


async def came_back(house: House, name: str, first: dict[str, tuple[str, int | None]]) -> Line:
    """Whether a server that ended again and again is there as another process, and of use."""
    assert house.address is not None
    callers = Callers(house, random.Random(), Tally())
    found = "nothing"

    async def is_back() -> bool:
        nonlocal found
        state, pid = (await states(house)).get(name, ("", None))
        found = f"{state}, PID {pid}"
        if state != "ready" or pid == first[name][1]:
            return False
        if name not in ANSWERING:
            return True
        connection = Connection(house.address)
        try:
            _, said = await callers.call(connection, f"{name}/echo", {"message": name})
        finally:
            connection.close()
        found = f"PID {pid}, {text_of(said)!r}"
        return text_of(said) == name

    holds = await eventually(READY, is_back)
    return Line(f"{name} has come back", found, holds)


def ending(house: House) -> list[Line]:
    code, took = house.stop(STOPPING)
    lines = [Line("the gateway stopped", f"status {code}, {took:.1f} s", code == 0)]
    deadline = time.monotonic() + max(0.0, STOPPING - took)
    while (left := left_over(house.marker)) and time.monotonic() < deadline:
        time.sleep(0.05)
    lines.append(Line("processes left", str(left or "none"), not left))
    with house.log.open(encoding="utf-8", errors="replace") as log:
        strange = unexpected(log)
    for line in strange[:20]:
        print(f"log: {line[:400]}")
    lines.append(Line("lines of the log that nothing provoked", str(len(strange)), not strange))
    return lines


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    options = options_module.read(sys.argv[1:])
    signal.signal(signal.SIGTERM, interrupted)
    house = House(options)
    try:
        house.start()
        print(f"a gateway with PID {house.pid}, for {options.minutes:g} minutes", flush=True)
        try:
            lines = asyncio.run(soak(house, options))
        except (Lost, OSError) as error:
            lines = [Line("the gateway answers", str(error), False)]
        lines += ending(house)
    except NotStarted as error:
        print(f"scripts/soak: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("scripts/soak: interrupted", file=sys.stderr)
        return 1
    finally:
        house.end()
    broken = [line for line in lines if not line.holds]
    print(f"\n{table(lines)}\n")
    print(f"scripts/soak: {len(lines)} checks, {len(broken)} broken; the log is {house.log}")
    return 1 if broken else 0


if __name__ == "__main__":
    # What is started must not find a configuration of whoever runs this.
    os.umask(0o077)
    sys.exit(main())
