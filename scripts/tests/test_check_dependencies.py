"""The rules about dependencies, each shown a graph or a manifest that breaks it."""

import tomllib
import unittest

import check_dependencies as check
from cargo_graph import BUILD, DEV, NORMAL, Graph, Package, from_metadata

APP = Package("app", "app", "0.1.0", "MIT")


def graph(packages: list[Package], edges: list[tuple[str, str, str]], members: list[str]) -> Graph:
    table: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for source, target, kind in edges:
        table.setdefault(source, []).append((target, frozenset({kind})))
    return Graph({package.id: package for package in packages}, members, table)


def app_with(*packages: Package, kind: str = NORMAL) -> Graph:
    edges = [("app", package.id, kind) for package in packages]
    return graph([APP, *packages], edges, ["app"])


class Licences(unittest.TestCase):
    def found(self, tree: Graph, **options: object) -> list[str]:
        return list(check.licence_problems(tree, allowed={"MIT"}, **options))

    def test_an_allowed_licence_passes(self) -> None:
        self.assertEqual(self.found(app_with(Package("a", "a", "1.0.0", "MIT/GPL-3.0-only"))), [])

    def test_the_message_names_crate_licence_and_route(self) -> None:
        inner = Package("b", "b", "2.0.0", "GPL-3.0-only")
        tree = graph(
            [APP, Package("a", "a", "1.0.0", "MIT"), inner],
            [("app", "a", NORMAL), ("a", "b", BUILD)],
            ["app"],
        )
        self.assertEqual(
            self.found(tree),
            [
                "b 2.0.0: licence `GPL-3.0-only` is not allowed: GPL-3.0-only is not on the list"
                " (app → a 1.0.0 → b 2.0.0)"
            ],
        )

    def test_a_missing_or_malformed_licence_is_a_problem(self) -> None:
        [missing] = self.found(app_with(Package("a", "a", "1.0.0", None)))
        self.assertIn("declares no licence expression", missing)
        [malformed] = self.found(app_with(Package("a", "a", "1.0.0", "MIT OR")))
        self.assertIn("can't be read", malformed)

    def test_licences_of_test_dependencies_count_too(self) -> None:
        tree = app_with(Package("a", "a", "1.0.0", "GPL-3.0-only"), kind=DEV)
        self.assertEqual(len(self.found(tree)), 1)

    def test_an_exception_holds_for_the_licence_it_names(self) -> None:
        exceptions = {"a": ("MPL-2.0", "used unchanged")}
        kept = app_with(Package("a", "a", "1.0.0", "MPL-2.0"))
        self.assertEqual(self.found(kept, exceptions=exceptions), [])
        changed = app_with(Package("a", "a", "2.0.0", "GPL-3.0-only"))
        self.assertEqual(len(self.found(changed, exceptions=exceptions)), 1)

    def test_an_exception_for_no_crate_is_a_problem(self) -> None:
        [stale] = self.found(app_with(), exceptions={"gone": ("MPL-2.0", "used unchanged")})
        self.assertIn("gone: has a licence exception but is not in the tree", stale)


class Bans(unittest.TestCase):
    def test_a_banned_crate_is_found_with_its_route(self) -> None:
        tree = app_with(Package("o", "openssl", "0.10.0", "Apache-2.0"))
        [problem] = check.ban_problems(tree, {"openssl": "use rustls"})
        self.assertEqual(problem, "openssl 0.10.0: banned: use rustls (app → openssl 0.10.0)")

    def test_a_crate_with_a_similar_name_is_not_banned(self) -> None:
        tree = app_with(Package("o", "openssl-probe", "0.1.0", "MIT"))
        self.assertEqual(list(check.ban_problems(tree)), [])


class Duplicates(unittest.TestCase):
    def test_two_versions_are_found_with_both_routes(self) -> None:
        first, second = Package("u1", "url", "1.0.0"), Package("u2", "url", "2.0.0")
        self.assertEqual(
            list(check.duplicate_problems(app_with(first, second), {"url"})),
            ["url: 2 versions where one is allowed (app → url 1.0.0; app → url 2.0.0)"],
        )

    def test_a_version_used_by_tests_alone_does_not_count(self) -> None:
        tree = graph(
            [APP, Package("u1", "url", "1.0.0"), Package("u2", "url", "2.0.0")],
            [("app", "u1", NORMAL), ("app", "u2", DEV)],
            ["app"],
        )
        self.assertEqual(list(check.duplicate_problems(tree, {"url"})), [])


class Directions(unittest.TestCase):
    PERMITTED = {"app": {"base"}, "base": set()}

    def tree(self, *edges: tuple[str, str, str]) -> Graph:
        return graph([APP, Package("base", "base", "0.1.0", "MIT")], list(edges), ["app", "base"])

    def test_downwards_passes(self) -> None:
        tree = self.tree(("app", "base", NORMAL))
        self.assertEqual(list(check.direction_problems(tree, self.PERMITTED)), [])

    def test_upwards_is_refused_for_tests_too(self) -> None:
        for kind, how in [(NORMAL, ""), (DEV, " (for tests)")]:
            [problem] = check.direction_problems(self.tree(("base", "app", kind)), self.PERMITTED)
            self.assertEqual(problem, f"base: must not depend on app{how}; see OWN_DEPENDENCIES")

    def test_table_and_workspace_name_the_same_crates(self) -> None:
        [unlisted] = check.direction_problems(self.tree(), {"app": set()})
        self.assertIn("base: is not in the table", unlisted)
        [gone] = check.direction_problems(self.tree(), self.PERMITTED | {"old": set()})
        self.assertIn("old: is in the table OWN_DEPENDENCIES but not in the workspace", gone)


class Manifests(unittest.TestCase):
    GOOD = """
        [package]
        name = "a"
        version.workspace = true
        edition.workspace = true
        rust-version.workspace = true
        license.workspace = true
        [dependencies]
        serde = { workspace = true, features = ["derive"] }
        [lints]
        workspace = true
    """

    def found(self, text: str) -> list[str]:
        return list(check.manifest_problems("a", tomllib.loads(text)))

    def test_a_crate_that_inherits_everything_passes(self) -> None:
        self.assertEqual(self.found(self.GOOD), [])

    def test_each_field_of_its_own_is_named(self) -> None:
        for field in ["version", "edition", "rust-version", "license"]:
            own = self.GOOD.replace(f" {field}.workspace = true", f' {field} = "x"')
            [problem] = self.found(own)
            self.assertIn(f"`{field}` is not inherited", problem)
        self.assertEqual(len(self.found('[package]\nname = "a"')), 5)

    def test_a_dependency_of_its_own_is_named_in_every_section(self) -> None:
        for section in [
            "dev-dependencies",
            "build-dependencies",
            "target.'cfg(unix)'.dependencies",
        ]:
            [problem] = self.found(f'{self.GOOD}\n[{section}]\nlibc = "0.2"')
            self.assertIn(f"`{section}.libc` is not inherited", problem)

    def test_a_dependency_by_path_is_not_inherited(self) -> None:
        [problem] = self.found(f'{self.GOOD}\n[build-dependencies]\nb = {{ path = "../b" }}')
        self.assertIn("`build-dependencies.b` is not inherited", problem)


class Lock(unittest.TestCase):
    def found(self, source: str | None, more: str = "") -> list[str]:
        line = f'source = "{source}"\n' if source else ""
        text = f'version = 4\n[[package]]\nname = "a"\nversion = "1.0.0"\n{line}{more}'
        return list(check.lock_problems(text, {"app"}))

    def test_the_public_registry_passes(self) -> None:
        self.assertEqual(self.found(check.REGISTRY_SOURCE), [])

    def test_other_sources_are_refused(self) -> None:
        for source in [
            "git+https://git.example/a#0123",
            "registry+https://mirror.example/index",
            "sparse+https://mirror.example/index/",
        ]:
            [problem] = self.found(source)
            self.assertIn(f"takes it from `{source}`", problem)

    def test_a_path_outside_the_workspace_is_refused(self) -> None:
        self.assertEqual(
            self.found(None), ["a 1.0.0: Cargo.lock takes it from a path outside the workspace"]
        )

    def test_a_host_elsewhere_in_the_file_is_refused(self) -> None:
        [problem] = self.found(check.REGISTRY_SOURCE, '[metadata]\nx = "https://mirror.example"\n')
        self.assertIn("Cargo.lock:7: names a host", problem)


class Metadata(unittest.TestCase):
    def test_kinds_of_dependencies_are_read(self) -> None:
        package = {"version": "1.0.0", "license": "MIT", "license_file": None, "authors": []}
        tree = from_metadata(
            {
                "packages": [
                    package | {"id": name, "name": name, "manifest_path": f"/{name}/Cargo.toml"}
                    for name in ["app", "both", "test"]
                ],
                "workspace_members": ["app"],
                "resolve": {
                    "nodes": [
                        {
                            "id": "app",
                            "deps": [
                                {"pkg": "both", "dep_kinds": [{"kind": None}, {"kind": "dev"}]},
                                {"pkg": "test", "dep_kinds": [{"kind": "dev"}]},
                            ],
                        }
                    ]
                },
            }
        )
        normal = [package.name for package in tree.reachable(["app"], {NORMAL})]
        self.assertEqual(normal, ["app", "both"])
        self.assertEqual(len(tree.reachable(["app"], {DEV})), 3)


if __name__ == "__main__":
    unittest.main()
