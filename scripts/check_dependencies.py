#!/usr/bin/env python3
"""Checks the dependencies: licences, bans, duplicates, inheritance, directions and sources.

Reads `cargo metadata`, the manifests and `Cargo.lock`. Prints one line per problem, with the
route over which a workspace crate pulls the dependency in. The tables below are the rules.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import cargo_graph
import spdx
from cargo_graph import DEV, EVERY_KIND, NORMAL, ROOT, Graph

# Licences that are compatible with shipping under "MIT OR Apache-2.0".
ALLOWED_LICENCES = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}

# Crates that may be used under another licence: name → (licence expression, why that is fine).
# The expression must be the one the crate declares ("" if none), so that a change is noticed.
LICENCE_EXCEPTIONS: dict[str, tuple[str, str]] = {}

# Crates that must not be in the tree: name → what to use instead. Most of them come in through
# the default features of another crate: turn those off. To allow one after all, delete its line
# in the change that needs it and say why there.
_ONE_TLS_STACK = "there is one TLS stack, rustls with ring; turn off the feature that selects this"
BANNED = {
    "async-std": "tokio is the runtime",
    "aws-lc-fips-sys": _ONE_TLS_STACK,
    "aws-lc-rs": _ONE_TLS_STACK,
    "aws-lc-sys": _ONE_TLS_STACK,
    "dotenv": "it is unmaintained, and openclaw-config reads `.env` files itself",
    "hyper-tls": _ONE_TLS_STACK,
    "native-tls": _ONE_TLS_STACK,
    "openssl": _ONE_TLS_STACK,
    "openssl-sys": _ONE_TLS_STACK,
    "tokio-native-tls": _ONE_TLS_STACK,
}

# Crates that cost too much, or whose types meet in too many places, to be built in two versions.
ONE_VERSION_ONLY = {
    "axum",
    "clap",
    "http",
    "hyper",
    "regex",
    "reqwest",
    "ring",
    "rmcp",
    "rusqlite",
    "rustls",
    "schemars",
    "serde",
    "serde_json",
    "tokio",
    "tower",
    "tower-http",
    "tracing",
    "url",
}

# Crates that are in the graph and in no build, which `cargo tree -i` shows: nothing switches them on.
NEVER_BUILT = {
    "schemars 0.9.0": "an optional dependency of serde_with",
}

# Which of our own crates a crate may depend on, for tests too: dependencies point downwards only.
OWN_DEPENDENCIES = {
    "openclaw-acp": {"openclaw-content", "openclaw-engine", "openclaw-state"},
    "openclaw-agent": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-conversation",
        "openclaw-engine",
        "openclaw-media",
        "openclaw-mcp",
        "openclaw-mcp-client",
        "openclaw-models",
        "openclaw-process",
        "openclaw-secrets",
        "openclaw-sessions",
        "openclaw-skills",
        "openclaw-state",
        "openclaw-telemetry",
        "openclaw-testkit",
    },
    "openclaw": {
        "openclaw-acp",
        "openclaw-config",
        "openclaw-content",
        "openclaw-definitions",
        "openclaw-demo-server",
        "openclaw-engine",
        "openclaw-gateway",
        "openclaw-import",
        "openclaw-link",
        "openclaw-mcp-server",
        "openclaw-media",
        "openclaw-process",
        "openclaw-render",
        "openclaw-runtime",
        "openclaw-secret-stores",
        "openclaw-secrets",
        "openclaw-sessions",
        "openclaw-state",
        "openclaw-telemetry",
        "openclaw-testkit",
    },
    "openclaw-config": {"openclaw-secrets", "openclaw-state"},
    "openclaw-content": set(),
    "openclaw-conversation": {"openclaw-content"},
    "openclaw-definitions": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-engine",
        "openclaw-import",
        "openclaw-render",
        "openclaw-secret-stores",
        "openclaw-secrets",
        "openclaw-state",
    },
    "openclaw-demo-server": set(),
    "openclaw-engine": set(),
    "openclaw-gateway": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-engine",
        "openclaw-json",
        "openclaw-link",
        "openclaw-secrets",
        "openclaw-state",
        "openclaw-telemetry",
        "openclaw-testkit",
    },
    "openclaw-http": {"openclaw-secrets", "openclaw-testkit"},
    "openclaw-import": {"openclaw-config", "openclaw-secrets", "openclaw-state"},
    "openclaw-media": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-http",
        "openclaw-process",
        "openclaw-secret-stores",
        "openclaw-secrets",
        "openclaw-state",
        "openclaw-testkit",
    },
    "openclaw-json": set(),
    "openclaw-link": {"openclaw-engine", "openclaw-json", "openclaw-telemetry", "openclaw-testkit"},
    "openclaw-mcp": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-http",
        "openclaw-mcp-client",
        "openclaw-oauth",
        "openclaw-process",
        "openclaw-ranking",
        "openclaw-secret-stores",
        "openclaw-secrets",
        "openclaw-state",
        "openclaw-testkit",
    },
    "openclaw-mcp-client": {
        "openclaw-json",
        "openclaw-process",
        "openclaw-secrets",
        "openclaw-sse",
        "openclaw-state",
        "openclaw-telemetry",
        "openclaw-testkit",
    },
    "openclaw-mcp-server": {
        "openclaw-content",
        "openclaw-engine",
        "openclaw-telemetry",
        "openclaw-testkit",
    },
    "openclaw-models": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-conversation",
        "openclaw-http",
        "openclaw-process",
        "openclaw-ranking",
        "openclaw-secret-stores",
        "openclaw-secrets",
        "openclaw-sse",
        "openclaw-testkit",
    },
    "openclaw-oauth": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-http",
        "openclaw-secret-stores",
        "openclaw-secrets",
        "openclaw-state",
        "openclaw-testkit",
    },
    "openclaw-process": set(),
    "openclaw-ranking": set(),
    "openclaw-render": {"openclaw-config", "openclaw-content", "openclaw-engine"},
    "openclaw-secret-stores": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-http",
        "openclaw-process",
        "openclaw-secrets",
        "openclaw-testkit",
    },
    "openclaw-runtime": {
        "openclaw-agent",
        "openclaw-config",
        "openclaw-content",
        "openclaw-conversation",
        "openclaw-definitions",
        "openclaw-engine",
        "openclaw-import",
        "openclaw-mcp",
        "openclaw-media",
        "openclaw-mcp-client",
        "openclaw-models",
        "openclaw-oauth",
        "openclaw-process",
        "openclaw-render",
        "openclaw-secret-stores",
        "openclaw-secrets",
        "openclaw-sessions",
        "openclaw-skills",
        "openclaw-slash",
        "openclaw-state",
        "openclaw-telemetry",
        "openclaw-testkit",
    },
    "openclaw-secrets": {"openclaw-testkit"},
    "openclaw-sessions": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-conversation",
        "openclaw-state",
        "openclaw-testkit",
    },
    "openclaw-skills": {"openclaw-config", "openclaw-content", "openclaw-state"},
    "openclaw-slash": {
        "openclaw-config",
        "openclaw-content",
        "openclaw-definitions",
        "openclaw-engine",
        "openclaw-render",
    },
    "openclaw-sse": set(),
    "openclaw-state": set(),
    "openclaw-telemetry": {"openclaw-http", "openclaw-secrets", "openclaw-testkit"},
    "openclaw-testkit": set(),
}

# What a crate takes from `[workspace.package]`.
INHERITED_FIELDS = ("version", "edition", "rust-version", "license")

# What cargo writes for a crate of the public registry, whatever mirror it was fetched from.
REGISTRY_SOURCE = "registry+https://github.com/rust-lang/crates.io-index"


def licence_problems(
    graph: Graph,
    allowed: set[str] = ALLOWED_LICENCES,
    exceptions: dict[str, tuple[str, str]] = LICENCE_EXCEPTIONS,
) -> Iterator[str]:
    """Finds crates whose licence is missing, unreadable or not allowed, and stale exceptions."""
    routes = graph.routes(graph.members, EVERY_KIND)
    packages = graph.reachable(graph.members, EVERY_KIND)
    for package in packages:
        if package.name in exceptions and exceptions[package.name][0] == (package.licence or ""):
            continue
        problem = _licence_problem(package.licence, allowed)
        if problem:
            yield f"{package}: {problem} ({graph.describe(routes[package.id])})"
    for name in sorted(exceptions.keys() - {package.name for package in packages}):
        yield f"{name}: has a licence exception but is not in the tree; remove the exception"


def _licence_problem(licence: str | None, allowed: set[str]) -> str | None:
    if not licence:
        return "declares no licence expression; read its licence and add a named exception"
    try:
        unmet = spdx.parse(licence).unmet(allowed)
    except spdx.SpdxError as error:
        return f"its licence expression can't be read: {error}"
    if unmet:
        return f"licence `{licence}` is not allowed: {', '.join(sorted(unmet))} is not on the list"
    return None


def ban_problems(graph: Graph, banned: dict[str, str] = BANNED) -> Iterator[str]:
    """Finds banned crates."""
    routes = graph.routes(graph.members, EVERY_KIND)
    for package in graph.reachable(graph.members, EVERY_KIND):
        if package.name in banned:
            route = graph.describe(routes[package.id])
            yield f"{package}: banned: {banned[package.name]} ({route})"


def duplicate_problems(
    graph: Graph,
    single: set[str] = ONE_VERSION_ONLY,
    never_built: dict[str, str] = NEVER_BUILT,
) -> Iterator[str]:
    """Finds crates that reach what we ship in two versions; tests may bring their own."""
    routes = graph.routes(graph.members, {NORMAL})
    versions: dict[str, list[str]] = {}
    for package in graph.reachable(graph.members, {NORMAL}):
        if package.name in single and str(package) not in never_built:
            versions.setdefault(package.name, []).append(graph.describe(routes[package.id]))
    for name, found in versions.items():
        if len(found) > 1:
            yield f"{name}: {len(found)} versions where one is allowed ({'; '.join(found)})"


def direction_problems(
    graph: Graph, permitted: dict[str, set[str]] = OWN_DEPENDENCIES
) -> Iterator[str]:
    """Finds dependencies between our own crates that point the wrong way."""
    names = {graph.packages[member].name: member for member in graph.members}
    for name, member in sorted(names.items()):
        if name not in permitted:
            yield f"{name}: is not in the table OWN_DEPENDENCIES of scripts/check_dependencies.py"
            continue
        for target, kinds in sorted(graph.edges.get(member, [])):
            target_name = graph.packages[target].name
            if target in graph.members and target_name not in permitted[name]:
                how = " (for tests)" if kinds == {DEV} else ""
                yield f"{name}: must not depend on {target_name}{how}; see OWN_DEPENDENCIES"
    for name in sorted(permitted.keys() - names.keys()):
        yield f"{name}: is in the table OWN_DEPENDENCIES but not in the workspace"


def manifest_problems(name: str, manifest: dict) -> Iterator[str]:
    """Finds what one crate declares itself although the workspace declares it."""
    package = manifest.get("package", {})
    for key in INHERITED_FIELDS:
        if not _from_workspace(package.get(key)):
            yield f"{name}: `{key}` is not inherited: write `{key}.workspace = true`"
    if not _from_workspace(manifest.get("lints")):
        yield f"{name}: lints are not inherited: write `[lints]` with `workspace = true`"
    targets = manifest.get("target", {})
    tables = {"": manifest} | {f"target.'{key}'.": table for key, table in targets.items()}
    for prefix, table in tables.items():
        for section in ("dependencies", "dev-dependencies", "build-dependencies"):
            for dependency, value in sorted(table.get(section, {}).items()):
                if not _from_workspace(value):
                    yield (
                        f"{name}: `{prefix}{section}.{dependency}` is not inherited: declare it in"
                        f" `[workspace.dependencies]` and write `{dependency}.workspace = true`"
                    )


def _from_workspace(value: object) -> bool:
    return isinstance(value, dict) and value.get("workspace") is True


def lock_problems(lock: str, members: set[str]) -> Iterator[str]:
    """Finds packages of `Cargo.lock` from elsewhere than the registry and the workspace."""
    for package in tomllib.loads(lock).get("package", []):
        what = f"{package['name']} {package['version']}"
        source = package.get("source")
        if source is None and package["name"] not in members:
            yield f"{what}: Cargo.lock takes it from a path outside the workspace"
        elif source is not None and source != REGISTRY_SOURCE:
            yield f"{what}: Cargo.lock takes it from `{source}`, not from the public registry"
    for number, line in enumerate(lock.splitlines(), start=1):
        # Sources of packages are judged above; this finds hosts anywhere else in the file.
        if "://" in line and not line.startswith("source = "):
            yield f"Cargo.lock:{number}: names a host: {line.strip()}"


def problems(root: Path, graph: Graph) -> Iterator[str]:
    """Finds all problems of the workspace at `root`."""
    yield from licence_problems(graph)
    yield from ban_problems(graph)
    yield from duplicate_problems(graph)
    yield from direction_problems(graph)
    members = [graph.packages[member] for member in graph.members]
    for package in sorted(members, key=lambda member: member.name):
        manifest = tomllib.loads(package.manifest.read_text(encoding="utf-8"))
        yield from manifest_problems(package.name, manifest)
    lock = (root / "Cargo.lock").read_text(encoding="utf-8")
    yield from lock_problems(lock, {package.name for package in members})


def main() -> int:
    """Prints the problems; the exit status says whether there are any."""
    graph = cargo_graph.load()
    found = list(problems(ROOT, graph))
    for problem in found:
        print(f"error: {problem}")
    count = len(graph.reachable(graph.members, EVERY_KIND))
    print(f"dependencies: {count} crates, {len(found)} problem{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
