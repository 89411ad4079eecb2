"""The commands in `scripts`, as far as they go without a build or an installation."""

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


def load_generate():
    loader = SourceFileLoader("generate", str(SCRIPTS / "generate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate", loader))
    loader.exec_module(module)
    return module


def run_script(name: str, *arguments: str, **options) -> subprocess.CompletedProcess:
    command = [str(SCRIPTS / name), *arguments]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **options)


class Options(unittest.TestCase):
    def test_an_unknown_option_is_a_usage_error(self) -> None:
        for name in ["browser", "conformance", "partners", "test"]:
            result = run_script(name, "--fast")
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"scripts/{name}: unknown option: --fast", result.stderr)
            self.assertEqual(result.stdout, "")

    def test_an_option_without_its_value_is_a_usage_error(self) -> None:
        for option in ["--client", "--revision", "--scenario"]:
            result = run_script("conformance", option)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{option} needs a value", result.stderr)

    def test_help_goes_to_standard_output(self) -> None:
        options = {
            "browser": "--screenshots",
            "conformance": "--release",
            "partners": "--help",
            "test": "--quick",
        }
        for name, option in options.items():
            result = run_script(name, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn(option, result.stdout)


class FindPython(unittest.TestCase):
    def test_the_python_of_the_environment_is_taken_or_refused(self) -> None:
        result = run_script("find-python", env={**os.environ, "PYTHON": sys.executable})
        self.assertEqual((result.returncode, result.stdout), (0, f"{sys.executable}\n"))
        result = run_script("find-python", env={**os.environ, "PYTHON": "/no/python"})
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("error: Python 3.11 or later is needed", result.stderr)


class Generate(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.file = self.root / "docs" / "file.md"
        self.generate = load_generate()

    def update(self, program: str, check: bool = False) -> tuple[bool, str]:
        output = io.StringIO()
        command = [sys.executable, "-c", program]
        with contextlib.redirect_stdout(output):
            good = self.generate.bring_up_to_date("docs/file.md", command, self.root, check)
        return good, output.getvalue()

    def test_a_file_is_written_and_then_up_to_date(self) -> None:
        self.assertEqual(self.update("print('new')"), (True, "docs/file.md: written\n"))
        self.assertEqual(self.file.read_text(encoding="utf-8"), "new\n")
        self.assertEqual(
            self.update("print('new')", check=True), (True, "docs/file.md: up to date\n")
        )
        self.assertEqual(list(self.file.parent.iterdir()), [self.file])

    def test_check_shows_the_difference_and_writes_nothing(self) -> None:
        self.update("print('old')")
        good, output = self.update("print('new')", check=True)
        self.assertFalse(good)
        self.assertIn("-old\n+new\n", output)
        self.assertIn("error: docs/file.md: out of date; run `scripts/generate`", output)
        self.assertEqual(self.file.read_text(encoding="utf-8"), "old\n")

    def test_check_finds_a_missing_file_and_other_line_endings(self) -> None:
        good, output = self.update("print('new')", check=True)
        self.assertFalse(good)
        self.assertIn("error: docs/file.md: missing", output)
        self.file.parent.mkdir()
        self.file.write_bytes(b"new\r\n")
        good, output = self.update("print('new')", check=True)
        self.assertFalse(good)
        self.assertIn("line endings", output)

    def test_a_command_that_fails_leaves_the_file_alone(self) -> None:
        self.update("print('old')")
        for program in ["print('half'); raise SystemExit(3)", "pass"]:
            good, output = self.update(program)
            self.assertFalse(good)
            self.assertIn("error: docs/file.md: ", output)
            self.assertEqual(self.file.read_text(encoding="utf-8"), "old\n")


if __name__ == "__main__":
    unittest.main()
