"""The pinned partners, and what `scripts/partners` does when it can't install them."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
PINNED = SCRIPTS / "partners.d"
VERSION = re.compile(r"^\d+\.\d+\.\d+(-[a-z]+\.\d+)?$")


def read_json(name: str) -> dict:
    return json.loads((PINNED / name).read_text(encoding="utf-8"))


class Pinned(unittest.TestCase):
    def test_every_npm_package_has_one_exact_version(self) -> None:
        manifest = read_json("package.json")
        versions = {**manifest["dependencies"], **manifest["optionalDependencies"]}
        for name, version in versions.items():
            self.assertRegex(version, VERSION, name)
        locked = read_json("package-lock.json")["packages"]
        for name, version in versions.items():
            self.assertEqual(locked[f"node_modules/{name}"]["version"], version)

    def test_the_lock_has_a_digest_of_every_package_and_no_registry(self) -> None:
        packages = read_json("package-lock.json")["packages"]
        for path, package in packages.items():
            self.assertNotIn("resolved", package, path)
            if path:
                self.assertRegex(package["integrity"], "^sha512-", path)

    def test_the_node_for_every_platform_is_the_same(self) -> None:
        nodes = read_json("package.json")["optionalDependencies"]
        self.assertEqual(len(set(nodes.values())), 1, nodes)

    def test_every_python_package_has_one_exact_version(self) -> None:
        lines = (PINNED / "requirements.txt").read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if not line.startswith("#")]
        self.assertTrue(packages)
        for line in packages:
            self.assertRegex(line, r"^[a-z0-9-]+==[0-9.]+(\.post[0-9]+)?( ; .+)?$")


class Installation(unittest.TestCase):
    """Runs in a copy, where an `npm` of the test is the first one in the path."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "scripts").mkdir()
        for name in ["find-python", "partners"]:
            shutil.copy2(SCRIPTS / name, self.root / "scripts" / name)
        shutil.copytree(PINNED, self.root / "scripts" / "partners.d")
        self.partners = self.root / "target" / "partners"

    def install(self, npm: str) -> subprocess.CompletedProcess:
        program = self.root / "bin" / "npm"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{npm}\n", encoding="utf-8")
        program.chmod(0o755)
        return subprocess.run(
            [str(self.root / "scripts" / "partners")],
            cwd="/",
            env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_a_failure_is_told_with_the_end_of_the_log(self) -> None:
        result = self.install("echo 'no such host'; exit 7")
        self.assertEqual(result.returncode, 1)
        self.assertIn("scripts/partners: error: npm ci failed (status 7)", result.stderr)
        self.assertIn("no such host", result.stderr)
        self.assertFalse((self.partners / "installed").exists())

    def test_what_was_installed_before_is_not_taken_for_whole_after_a_failure(self) -> None:
        (self.partners / "node_modules").mkdir(parents=True)
        (self.partners / "installed").write_text("an earlier set\n", encoding="utf-8")
        result = self.install("exit 1")
        self.assertEqual(result.returncode, 1)
        self.assertFalse((self.partners / "installed").exists())
        self.assertFalse((self.partners / "node_modules").exists())


if __name__ == "__main__":
    unittest.main()
