"""The notices: which files are licence texts, and how they are grouped and printed."""

import tempfile
import unittest
from pathlib import Path

import third_party_notices as notices
from cargo_graph import BUILD, DEV, NORMAL, Graph, Package


class LicenceFiles(unittest.TestCase):
    def test_names_of_licence_files(self) -> None:
        for name in [
            "LICENSE",
            "LICENSE-MIT",
            "LICENSE.Apache2",
            "LICENCE.md",
            "license-apache-2.0",
            "LICENSE_A2",
            "UNLICENSE",
            "COPYING",
            "COPYRIGHT.txt",
            "NOTICE",
            "LICENSES/MIT.txt",
            "third_party/fiat/LICENSE",
        ]:
            with self.subTest(name):
                self.assertTrue(notices.is_licence_file(Path(name)))

    def test_names_of_other_files(self) -> None:
        for name in [
            "README.md",
            "src/license.rs",
            "src/LicenseProtection/mod.rs",
            "noticeboard.txt",
            "LICENSES/check.py",
            "tests/data/LICENSE",
            ".github/LICENSE",
        ]:
            with self.subTest(name):
                self.assertFalse(notices.is_licence_file(Path(name)))


class Document(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def crate(self, name: str, files: dict[str, str], **fields: object) -> Package:
        folder = self.folder / name
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        manifest = folder / "Cargo.toml"
        return Package(name, name, "1.0.0", "MIT", manifest=manifest, **fields)

    def test_a_text_that_two_crates_carry_is_printed_once(self) -> None:
        first = self.crate("a", {"LICENSE": "Permission is\ngranted.\n"})
        second = self.crate("b", {"LICENSE-MIT": "  Permission is granted.  \r\n"})
        document = "\n\n".join(notices.notices([first, second]))
        self.assertEqual(document.count("Permission"), 1)
        self.assertIn("### a 1.0.0 (LICENSE)\n\nAlso of b 1.0.0 (LICENSE-MIT).\n", document)
        self.assertIn("```text\nPermission is\ngranted.\n```", document)
        self.assertNotIn(str(self.folder), document)

    def test_a_crate_without_a_text_is_named_with_its_authors(self) -> None:
        crate = self.crate("a", {}, authors=("Ann Other <ann@example.com>",))
        document = "\n\n".join(notices.notices([crate]))
        self.assertIn("- a 1.0.0: MIT, by Ann Other", document)

    def test_a_text_cannot_close_its_own_block(self) -> None:
        self.assertEqual(notices.fenced("a\n```\nb"), "````text\na\n```\nb\n````")

    def test_dependencies_of_tests_and_our_own_crates_are_left_out(self) -> None:
        packages = [Package(name, name, "1.0.0") for name in ["own", "used", "built", "tested"]]
        packages.append(Package("openclaw", "openclaw", "0.1.0"))
        edges = {
            "openclaw": [("own", frozenset({NORMAL})), ("tested", frozenset({DEV}))],
            "own": [("used", frozenset({NORMAL})), ("built", frozenset({BUILD}))],
        }
        graph = Graph({package.id: package for package in packages}, ["openclaw", "own"], edges)
        self.assertEqual([item.name for item in notices.shipped(graph)], ["built", "used"])


if __name__ == "__main__":
    unittest.main()
