"""The conformance runner, against a program that stands in for the suite."""

import contextlib
import io
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import conformance_suite
from conformance_suite import Suite, SuiteError, UnknownScenario, judge

LISTING = """\
Required for 2025-11-25 (3 scenarios, frozen; run at the 2025-11-25 wire):

Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - initialize
  - tools_call

Run and reported, but never scored:
  extension (1):
    - auth/dpop [client]

"""

# Takes the options of the suite that count here, and leaves what `scenarios` says for the scenario.
STAND_IN = """\
import argparse, json, os, sys, time
from pathlib import Path
if sys.argv[1] == "list":
    print({listing!r}, end="")
    sys.exit({list_status})
parser = argparse.ArgumentParser()
parser.add_argument("--scenario", required=True)
parser.add_argument("--spec-version", required=True, choices=["2025-11-25"])
parser.add_argument("--output-dir", required=True, type=Path)
options, _ = parser.parse_known_args(sys.argv[2:])
checks, status = {scenarios!r}[options.scenario]
if checks == "hang":
    (options.output_dir / "pid").write_text(str(os.getpid()))
    os.fork()
    time.sleep(300)
if checks is not None:
    folder = options.output_dir / (options.scenario + "-time")
    folder.mkdir(parents=True)
    (folder / "checks.json").write_text(json.dumps(checks))
sys.exit(status)
"""

GOOD = [{"id": "one", "status": "SUCCESS"}, {"id": "two", "status": "INFO"}]
BAD = [
    {"id": "one", "status": "SUCCESS"},
    {"id": "two", "status": "FAILURE", "errorMessage": "no header"},
]


class Listing(unittest.TestCase):
    def test_the_client_section_is_taken(self) -> None:
        found = conformance_suite.required_client_scenarios(LISTING, "2025-11-25")
        self.assertEqual(found, ["initialize", "tools_call"])

    def test_a_listing_of_another_shape_is_an_error(self) -> None:
        for listing in [
            "",
            LISTING.replace("(3 ", "(5 "),
            LISTING.replace("  - tools_call", "  * tools_call"),
            LISTING.replace("Client scenarios", "Scenarios for clients"),
            "Required for 2025-11-25 (1 scenarios)\nServer scenarios:\n  - ping\n",
        ]:
            with self.assertRaises(SuiteError):
                conformance_suite.required_client_scenarios(listing, "2025-11-25")
        with self.assertRaises(SuiteError):
            conformance_suite.required_client_scenarios(LISTING, "2026-07-28")


class Judge(unittest.TestCase):
    def word(self, checks, status, output="") -> str:
        return judge("name", checks, status, output).word()

    def test_a_scenario_passes_with_a_successful_check_and_nothing_bad(self) -> None:
        self.assertEqual(self.word(GOOD, 0), "passed")

    def test_each_bad_sign_fails_the_scenario(self) -> None:
        warning = [*GOOD, {"id": "three", "status": "WARNING"}]
        self.assertEqual(self.word(BAD, 0), "FAILED")
        self.assertEqual(self.word(warning, 0), "FAILED")
        self.assertEqual(self.word(GOOD, 1), "FAILED")
        self.assertEqual(self.word(GOOD, None), "FAILED")
        self.assertEqual(self.word(GOOD, 0, "CLIENT TIMED OUT - Test incomplete"), "FAILED")
        self.assertEqual(self.word(GOOD, 0, "CLIENT EXITED WITH ERROR (code 3)"), "FAILED")

    def test_a_scenario_that_checked_nothing_fails(self) -> None:
        self.assertEqual(self.word([], 0), "FAILED")
        self.assertEqual(self.word([{"id": "two", "status": "INFO"}], 0), "FAILED")

    def test_a_scenario_without_a_record_was_not_run(self) -> None:
        outcome = judge("name", None, 0, "\x1b[31mSKIPPED: not applicable\x1b[0m\n")
        self.assertEqual(outcome.word(), "NOT RUN")
        self.assertEqual(outcome.reasons[-1], "its last line: SKIPPED: not applicable")

    def test_the_failing_checks_are_named(self) -> None:
        self.assertEqual(judge("name", BAD, 1, "").reasons, ["two (failure): no header"])


class Run(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_suite(self, scenarios, scenario=None, headings=("2025-11-25",), listing=LISTING, list_status=0):
        program = self.folder / "suite.py"
        text = STAND_IN.format(listing=listing, list_status=list_status, scenarios=scenarios)
        program.write_text(text, encoding="utf-8")
        suite = Suite([sys.executable, str(program)], self.folder / "output")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            good = conformance_suite.run(suite, "client", list(headings), scenario)
        return good, output.getvalue()

    def test_what_no_revision_requires_is_run_in_the_revision_it_is_spoken_in(self) -> None:
        further = {"an-extension": ("2025-11-25", ["auth/machine"])}
        scenarios = {"auth/machine": (BAD, 1), "initialize": (GOOD, 0), "tools_call": (GOOD, 0)}
        with mock.patch.object(conformance_suite, "FURTHER", further):
            headings = ("2025-11-25", "an-extension")
            good, output = self.run_suite(scenarios, headings=headings)
        self.assertFalse(good)
        self.assertIn("2025-11-25: 2 required scenarios, 2 passed, 0 failed, ", output)
        summary = "an-extension: 1 further scenarios, 0 passed, 1 failed (auth/machine), "
        self.assertIn(summary, output)

    def test_one_bad_scenario_fails_the_run_and_the_others_still_run(self) -> None:
        good, output = self.run_suite({"initialize": (BAD, 1), "tools_call": (GOOD, 0)})
        self.assertFalse(good)
        self.assertIn("  initialize  FAILED   1 of 2 checks\n", output)
        self.assertIn("      two (failure): no header\n", output)
        self.assertIn("  tools_call  passed   1 of 1 checks", output)

    def test_a_scenario_that_is_not_run_fails_the_run(self) -> None:
        good, output = self.run_suite({"initialize": (None, 0), "tools_call": (GOOD, 0)})
        self.assertFalse(good)
        self.assertIn("  initialize  NOT RUN", output)
        self.assertIn("1 failed (initialize)", output)

    def test_results_of_an_earlier_run_do_not_count(self) -> None:
        self.run_suite({"tools_call": (GOOD, 0)}, scenario="tools_call")
        good, output = self.run_suite({"tools_call": (None, 0)}, scenario="tools_call")
        self.assertFalse(good)
        self.assertIn("NOT RUN", output)

    def test_one_scenario_can_be_run_alone(self) -> None:
        good, output = self.run_suite({"tools_call": (GOOD, 0)}, scenario="tools_call")
        self.assertTrue(good)
        self.assertIn("1 required scenarios, 1 passed, 0 failed, 1 others left out", output)
        with self.assertRaises(UnknownScenario):
            self.run_suite({}, scenario="tools-call")

    def test_a_suite_that_can_not_list_or_lists_nothing_to_run_is_an_error(self) -> None:
        with self.assertRaises(SuiteError):
            self.run_suite({}, list_status=1)
        nothing = LISTING.replace("  - initialize\n  - tools_call\n", "").replace("(3 ", "(1 ")
        with self.assertRaises(SuiteError):
            self.run_suite({}, listing=nothing)

    def test_a_suite_that_hangs_is_killed_with_all_it_started(self) -> None:
        with mock.patch.object(conformance_suite, "SCENARIO_SECONDS", 2):
            good, output = self.run_suite({"tools_call": ("hang", 0)}, scenario="tools_call")
        self.assertFalse(good)
        self.assertIn("did not end within 2 s", output)
        group = int((self.folder / "output/2025-11-25/tools_call/pid").read_text("utf-8"))
        deadline = time.monotonic() + 10
        with self.assertRaises(ProcessLookupError):
            while time.monotonic() < deadline:
                os.killpg(group, 0)
                time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
