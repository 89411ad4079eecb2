#!/usr/bin/env python3
"""Prints the notices of the crates that the `openclaw` binary is built from.

Covers normal and build dependencies for all features and all target platforms, not those of tests.
The licence texts are the files found in the crates' sources; a text that several crates carry is
printed once. The output depends on `Cargo.lock` alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import cargo_graph
from cargo_graph import BUILD, NORMAL, Graph, Package

BINARY = "openclaw"

_LICENCE_NAME = re.compile(r"(un)?licen[cs]e|licen[cs]es|copying|copyright|notice", re.IGNORECASE)
_TEXT_SUFFIXES = {"", ".md", ".markdown", ".txt", ".rst", ".adoc"}
# Suffixes of `LICENSE.x` that say that the file is code or data, not a text.
_CODE_SUFFIXES = {".c", ".go", ".h", ".hbs", ".html", ".json", ".py", ".rs", ".sh", ".toml", ".yml"}
# Parts of a crate's source that never reach a binary.
_NOT_SHIPPED = {"benches", "ci", "examples", "fuzz", "tests"}

_INTRODUCTION = """\
# Third-party notices

`openclaw` is built from the crates listed here, under their own licences. Some of them are used on
some platforms or at build time only. `scripts/generate` writes this file.
"""


def is_licence_file(path: Path) -> bool:
    """Says whether a path, relative to the crate, looks like a licence, copyright or notice."""
    folders = path.parts[:-1]
    if any(folder in _NOT_SHIPPED or folder.startswith(".") for folder in folders):
        return False
    if folders and folders[-1].upper() == "LICENSES":
        return path.suffix.lower() in _TEXT_SUFFIXES
    match = _LICENCE_NAME.match(path.name)
    if match is None or path.suffix.lower() in _CODE_SUFFIXES:
        return False
    return path.name[match.end() :][:1] in ("", "-", "_", ".")


def licence_files(package: Package) -> list[Path]:
    """Returns the licence files of a crate, relative to it and sorted."""
    folder = package.manifest.parent
    found = {
        path.relative_to(folder)
        for path in folder.rglob("*")
        if is_licence_file(path.relative_to(folder)) and path.is_file()
    }
    if package.licence_file and (folder / package.licence_file).is_file():
        found.add(Path(package.licence_file))
    return sorted(found, key=lambda path: path.as_posix())


def clean(text: str) -> str:
    """Removes what differs between copies of a text without meaning anything."""
    lines = [line.rstrip() for line in text.replace("\f", "").splitlines()]
    return "\n".join(lines).strip("\n")


def texts(packages: list[Package]) -> tuple[list[tuple[str, list[str]]], list[Package]]:
    """Returns each distinct text with the files it is from, and the crates that carry none."""
    found: dict[str, tuple[str, list[str]]] = {}
    without = []
    for package in packages:
        files = licence_files(package)
        for file in files:
            raw = (package.manifest.parent / file).read_text(encoding="utf-8", errors="replace")
            text = clean(raw)
            # The same text is often wrapped or indented differently.
            key = " ".join(text.split())
            if key:
                found.setdefault(key, (text, []))[1].append(f"{package} ({file.as_posix()})")
        if not files:
            without.append(package)
    return list(found.values()), without


def fenced(text: str) -> str:
    """Puts a text into a code block that it can't close itself."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def notices(packages: list[Package]) -> Iterator[str]:
    """Yields the document in blocks that are separated by an empty line."""
    yield _INTRODUCTION.rstrip()
    rows = [f"| {item.name} | {item.version} | {item.licence or 'see text'} |" for item in packages]
    yield "## Crates"
    yield "\n".join(["| crate | version | licence |", "|---|---|---|", *rows])
    groups, without = texts(packages)
    if without:
        yield "## Crates without a licence text"
        yield "They carry no text of their own; the standard text of their licence applies."
        yield "\n".join(f"- {item}: {item.licence}{_by(item)}" for item in without)
    yield "## Licence texts"
    for text, sources in groups:
        yield f"### {sources[0]}"
        if len(sources) > 1:
            yield f"Also of {', '.join(sources[1:])}."
        yield fenced(text)


def _by(package: Package) -> str:
    names = [re.sub(r"\s*<[^>]*>", "", author).strip() for author in package.authors]
    return f", by {', '.join(name for name in names if name)}" if any(names) else ""


def shipped(graph: Graph) -> list[Package]:
    """Returns the third-party crates that the binary is built from."""
    found = graph.reachable([graph.member(BINARY).id], {NORMAL, BUILD})
    return [package for package in found if package.id not in graph.members]


def main() -> int:
    """Prints the document."""
    document = "\n\n".join(notices(shipped(cargo_graph.load()))) + "\n"
    sys.stdout.buffer.write(document.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
