"""The page of the benchmarks, and the pinned programs that the gateway is compared with."""

import contextlib
import datetime
import io
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import benchmark_page
from benchmark_page import BEGIN, END, PageError, machine, with_section

SCRIPTS = Path(__file__).resolve().parent.parent
PINNED = SCRIPTS / "bench.d"


class Page(unittest.TestCase):
    def test_only_what_is_between_the_comments_changes(self) -> None:
        page = f"# Title\n\n{BEGIN}\nold\n{END}\n\nlast\n"
        self.assertEqual(
            with_section(page, "\nnew\n"), f"# Title\n\n{BEGIN}\nnew\n{END}\n\nlast\n"
        )

    def test_a_page_without_its_comments_is_refused(self) -> None:
        for page in ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}"]:
            with self.assertRaises(PageError):
                with_section(page, "new")

    def test_a_page_that_is_refused_stays_as_it_was(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            measured, page = Path(folder, "measured.md"), Path(folder, "page.md")
            measured.write_text("| a |\n", encoding="utf-8")
            page.write_text("nothing\n", encoding="utf-8")
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(benchmark_page.main([str(measured), str(page)]), 1)
            self.assertIn("comments", said.getvalue())
            self.assertEqual(page.read_text(encoding="utf-8"), "nothing\n")

    def test_the_page_of_the_project_has_a_place_for_the_gateway(self) -> None:
        page = (SCRIPTS.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
        self.assertIn("new", with_section(page, "new"))


class Machine(unittest.TestCase):
    def test_it_is_described_in_one_sentence(self) -> None:
        text = machine(
            "processor\t: 0\nmodel name\t: A Processor\n\nprocessor\t: 1\nmodel name\t: Other\n",
            "MemTotal:       25165824 kB\n",
            2,
            "Linux 6.1",
            datetime.date(2026, 1, 2),
        )
        self.assertEqual(
            text,
            "Measured on 2026-01-02: 2 cores of A Processor, 24 GiB of memory, Linux 6.1.",
        )

    def test_what_is_not_known_is_said(self) -> None:
        text = machine("", "", 1, "Darwin 25", datetime.date(2026, 1, 2))
        self.assertIn("1 core of an unnamed processor, unknown of memory, Darwin 25", text)


class Pinned(unittest.TestCase):
    def test_every_npm_package_has_one_version_a_digest_and_no_registry(self) -> None:
        manifest = json.loads((PINNED / "package.json").read_text(encoding="utf-8"))
        lock = json.loads((PINNED / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        for name, version in manifest["dependencies"].items():
            self.assertRegex(version, r"^\d+\.\d+\.\d+$", name)
            self.assertEqual(lock[f"node_modules/{name}"]["version"], version)
        for path, package in lock.items():
            self.assertNotIn("resolved", package, path)
            if path:
                self.assertRegex(package["integrity"], "^sha512-", path)

    def test_every_python_package_has_one_exact_version(self) -> None:
        lines = (PINNED / "requirements.txt").read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if not line.startswith("#")]
        self.assertTrue(any(line.startswith("mcp-proxy==") for line in packages))
        for line in packages:
            self.assertRegex(line, r"^[a-z0-9-]+==[0-9.]+( ; .+)?$")


class Options(unittest.TestCase):
    def run_bench(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [str(SCRIPTS / "bench"), *arguments]
        return subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)

    def test_what_is_wrong_is_a_usage_error(self) -> None:
        for arguments, told in [
            (["--fast"], "unknown option: --fast"),
            (["--bench"], "--bench needs a value"),
            (["no-such"], "there is no benchmark no-such"),
        ]:
            result = self.run_bench(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"scripts/bench: {told}", result.stderr)

    def test_help_goes_to_standard_output(self) -> None:
        result = self.run_bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertTrue(re.search(r"--profile NAME", result.stdout))


if __name__ == "__main__":
    unittest.main()
