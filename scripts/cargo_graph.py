"""The dependency graph of the workspace, as `cargo metadata` describes it.

The graph covers all features and all target platforms. Cargo unites the features of the whole
workspace here, so it can hold a few optional dependencies that one build alone would leave out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

NORMAL = "normal"
BUILD = "build"
DEV = "dev"
EVERY_KIND = frozenset({NORMAL, BUILD, DEV})


@dataclass(frozen=True)
class Package:
    """One version of one crate."""

    id: str
    name: str
    version: str
    licence: str | None = None
    licence_file: str | None = None
    authors: tuple[str, ...] = ()
    manifest: Path = Path("Cargo.toml")

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass
class Graph:
    """Packages and who depends on whom."""

    packages: dict[str, Package]
    members: list[str]
    edges: dict[str, list[tuple[str, frozenset[str]]]] = field(default_factory=dict)

    def member(self, name: str) -> Package:
        """Returns the workspace crate of that name."""
        for member in self.members:
            if self.packages[member].name == name:
                return self.packages[member]
        raise KeyError(name)

    def routes(self, roots: Iterable[str], kinds: Collection[str]) -> dict[str, list[str]]:
        """Returns a shortest route from a root to each package reachable over such edges."""
        found = {root: [root] for root in sorted(roots)}
        queue = deque(found)
        while queue:
            current = queue.popleft()
            for target, edge_kinds in sorted(self.edges.get(current, [])):
                if target not in found and not edge_kinds.isdisjoint(kinds):
                    found[target] = [*found[current], target]
                    queue.append(target)
        return found

    def reachable(self, roots: Iterable[str], kinds: Collection[str]) -> list[Package]:
        """Returns the packages reachable over such edges, by name and version."""
        found = (self.packages[package] for package in self.routes(roots, kinds))
        return sorted(found, key=lambda package: (package.name, package.version))

    def describe(self, route: list[str]) -> str:
        """Writes a route for people: workspace crates by name, others with their version."""
        return " → ".join(
            self.packages[step].name if step in self.members else str(self.packages[step])
            for step in route
        )


def load(root: Path = ROOT) -> Graph:
    """Asks cargo for the graph of the workspace at `root`; ends the program if it can't say."""
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--locked", "--all-features"]
    command += ["--format-version", "1"]
    try:
        result = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        sys.exit(f"`{command[0]}` could not be started: {error.strerror}")
    if result.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed with status {result.returncode}")
    return from_metadata(json.loads(result.stdout))


def from_metadata(metadata: dict) -> Graph:
    """Builds the graph from the JSON of `cargo metadata`."""
    packages = {
        package["id"]: Package(
            id=package["id"],
            name=package["name"],
            version=package["version"],
            licence=package["license"],
            licence_file=package["license_file"],
            authors=tuple(package["authors"]),
            manifest=Path(package["manifest_path"]),
        )
        for package in metadata["packages"]
    }
    edges = {
        node["id"]: [
            (dep["pkg"], frozenset(kind["kind"] or NORMAL for kind in dep["dep_kinds"]))
            for dep in node["deps"]
        ]
        for node in metadata["resolve"]["nodes"]
    }
    return Graph(packages=packages, members=list(metadata["workspace_members"]), edges=edges)
