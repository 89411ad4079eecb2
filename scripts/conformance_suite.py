"""Runs the client side of the official MCP conformance suite, one scenario at a time.

Which scenarios a revision of the protocol requires, the suite says itself. A scenario has passed
when the suite says so and has recorded at least one successful check; a scenario that left no
record was not run, and that is a failure too.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

REVISIONS = ["2025-11-25", "2026-07-28"]
# What is run beside it, since no newer revision requires it: logins to servers of an old revision,
# and clients that log in by themselves, which is an extension. Each with the revision that is spoken.
FURTHER = {
    "2025-03-26": (
        "2025-03-26",
        [
            "auth/2025-03-26-oauth-metadata-backcompat",
            "auth/2025-03-26-oauth-endpoint-fallback",
        ],
    ),
    "oauth-client-credentials": (
        "2025-11-25",
        ["auth/client-credentials-basic", "auth/client-credentials-jwt"],
    ),
}
# The suite gives the client this long.
CLIENT_SECONDS = 30
# The suite itself is ended after this, with the client: it waits for ever for a client that
# survives its signal.
SCENARIO_SECONDS = 60
# Some errors hold whole messages; all of it is in the output that is kept.
LONGEST_REASON = 500

LOG = "output.txt"
LIST_HEADING = re.compile(r"^Required for (\S+) \((\d+) scenarios")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class SuiteError(Exception):
    """The suite did not do what it must for its results to mean anything."""


class UnknownScenario(Exception):
    """No revision that was asked for requires the scenario."""


@dataclass
class Outcome:
    """How one scenario ended: it passed if there is no reason why not."""

    scenario: str
    successes: int = 0
    checks: int = 0
    run: bool = True
    reasons: list[str] = field(default_factory=list)

    def word(self) -> str:
        if not self.run:
            return "NOT RUN"
        return "FAILED" if self.reasons else "passed"


def required_client_scenarios(listing: str, revision: str) -> list[str]:
    """Reads the output of `list --requirements`.

    The heading says how many scenarios follow, for servers and clients together: a listing of
    another shape is an error instead of a shorter list.
    """
    announced = None
    section = None
    sections: dict[str, list[str]] = {}
    for line in listing.splitlines():
        if heading := LIST_HEADING.match(line):
            if heading.group(1) != revision:
                raise SuiteError(f"asked for the scenarios of {revision}, got: {line}")
            announced = int(heading.group(2))
        elif line.startswith(("Client scenarios", "Server scenarios")):
            section = line.split()[0]
        elif section and line.startswith("  - "):
            sections.setdefault(section, []).append(line[4:].strip())
        else:
            section = None
    found = sum(len(names) for names in sections.values())
    if announced != found:
        raise SuiteError(f"the list for {revision} announces {announced} scenarios and has {found}")
    scenarios = sections.get("Client", [])
    if not scenarios:
        raise SuiteError(f"the list for {revision} has no client scenario")
    return scenarios


def selected(names: list[str], scenario: str | None) -> list[str]:
    """The scenarios to run, of those that there are."""
    return [name for name in names if scenario in (None, name)]


def judge(scenario: str, checks: list[dict] | None, status: int | None, output: str) -> Outcome:
    """The outcome of a scenario from what it left behind.

    `checks` is None if the suite recorded none, `status` is None if the suite was ended at the
    deadline.
    """
    outcome = Outcome(scenario)
    if status is None:
        outcome.reasons.append(f"did not end within {SCENARIO_SECONDS} s")
    if checks is None:
        outcome.run = False
        outcome.reasons.append("the suite recorded no checks")
        last = COLOUR.sub("", output).strip().splitlines()[-1:]
        outcome.reasons.extend(f"its last line: {line}" for line in last)
        return outcome

    outcome.successes = sum(check["status"] == "SUCCESS" for check in checks)
    outcome.checks = outcome.successes
    for check in checks:
        # A warning is about something the specification says with SHOULD. The suite counts it as a
        # failure when it runs one scenario, and so does this.
        if check["status"] in ("FAILURE", "WARNING"):
            outcome.checks += 1
            text = check.get("errorMessage") or check.get("description") or "no description"
            if len(text) > LONGEST_REASON:
                text = text[:LONGEST_REASON] + "…"
            outcome.reasons.append(f"{check['id']} ({check['status'].lower()}): {text}")
    # The suite says on lines of their own what is wrong beside the checks.
    for line in output.splitlines():
        if "CLIENT TIMED OUT" in line:
            outcome.reasons.append(f"the client did not end within {CLIENT_SECONDS} s")
        elif found := re.search(r"CLIENT EXITED WITH ERROR \(code (-?\d+)\)", line):
            outcome.reasons.append(f"the client ended with status {found.group(1)}")
    if not outcome.reasons and status != 0:
        outcome.reasons.append(f"the suite ended with status {status}")
    # Some scenarios check nothing, and pass, when the client does nothing.
    if not outcome.reasons and outcome.successes == 0:
        outcome.reasons.append("no check was successful")
    return outcome


class Suite:
    """The command that starts the suite, and where its results go."""

    def __init__(self, command: list[str], output: Path) -> None:
        self.command = command
        self.output = output

    def required(self, revision: str) -> list[str]:
        command = [*self.command, "list", "--requirements", revision]
        try:
            result = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SCENARIO_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SuiteError(f"can't list the scenarios of {revision}: {error}") from error
        if result.returncode != 0:
            reason = result.stderr.strip() or f"status {result.returncode}"
            raise SuiteError(f"can't list the scenarios of {revision}: {reason}")
        return required_client_scenarios(result.stdout, revision)

    def folder(self, heading: str, scenario: str) -> Path:
        return self.output / heading / scenario

    def run(self, client: str, scenario: str, heading: str, revision: str) -> Outcome:
        folder = self.folder(heading, scenario)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # What `--requirements` does for each scenario of its set: at the revision's own wire.
        command = [*self.command, "client", "--command", client, "--scenario", scenario]
        command += ["--spec-version", revision, "--force", "--output-dir", str(folder)]
        command += ["--timeout", str(CLIENT_SECONDS * 1000)]
        log = folder / LOG
        with log.open("wb") as file:
            status = status_within(SCENARIO_SECONDS, command, file)
        return judge(scenario, read_checks(folder), status, log.read_text("utf-8", "replace"))


def status_within(seconds: float, command: list[str], output) -> int | None:
    """Runs a command in a process group of its own and gives its status.

    After the time given, or when this process is interrupted, the whole group is killed. None means
    that the time was over.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read_checks(folder: Path) -> list[dict] | None:
    """The checks that the suite wrote to a new folder below this one, whose name has the time."""
    files = list(folder.rglob("checks.json"))
    if len(files) != 1:
        return None
    try:
        return json.loads(files[0].read_text("utf-8"))
    except ValueError:
        return None


def run_all(
    suite: Suite, client: str, heading: str, revision: str, names: list[str]
) -> list[str]:
    """Runs scenarios in one revision, prints the table and gives those that did not pass."""
    print(f"\n{heading}")
    width = max(len(name) for name in names)
    bad = []
    for name in names:
        outcome = suite.run(client, name, heading, revision)
        checks = f"{outcome.successes} of {outcome.checks} checks"
        print(f"  {name:<{width}}  {outcome.word():<7}  {checks}", flush=True)
        if outcome.reasons:
            bad.append(name)
            log = suite.folder(heading, name) / LOG
            for reason in [*outcome.reasons, f"output: {log}"]:
                print("      " + reason.replace("\n", "\n      "), flush=True)
    return bad


def run(suite: Suite, client: str, headings: list[str], scenario: str | None) -> bool:
    """Runs all that was asked for and says whether it passed."""
    plan = []
    for heading in headings:
        if heading in FURTHER:
            revision, there = FURTHER[heading]
            kind = "further"
        else:
            revision, there = heading, suite.required(heading)
            kind = "required"
        names = selected(there, scenario)
        if names:
            plan.append((heading, revision, kind, names, len(there) - len(names)))
    if not plan:
        raise UnknownScenario(f"{', '.join(headings)} has no client scenario {scenario}")

    good = True
    for heading, revision, kind, names, left_out in plan:
        started = time.monotonic()
        bad = run_all(suite, client, heading, revision, names)
        good = good and not bad
        line = f"{len(names)} {kind} scenarios, {len(names) - len(bad)} passed, {len(bad)} failed"
        if bad:
            line += f" ({', '.join(bad)})"
        if left_out:
            line += f", {left_out} others left out"
        print(f"{heading}: {line}, {time.monotonic() - started:.0f} s", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description="called by scripts/conformance")
    parser.add_argument("--node", required=True)
    parser.add_argument("--suite", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--revision", action="append")
    parser.add_argument("--scenario")
    arguments = parser.parse_args()
    # So that being ended does not leave the suite behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    suite = Suite([arguments.node, arguments.suite], arguments.output)
    # The suite takes the command apart at spaces, and a shell puts it together again.
    client = shlex.quote(arguments.client)
    headings = arguments.revision or [*REVISIONS, *FURTHER]
    try:
        good = run(suite, client, headings, arguments.scenario)
    except UnknownScenario as error:
        print(f"scripts/conformance: error: {error}", file=sys.stderr)
        return 2
    except SuiteError as error:
        print(f"scripts/conformance: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
