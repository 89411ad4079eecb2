"""Licence expressions: what is allowed, and what is refused as malformed."""

import unittest

import spdx

ALLOWED = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC", "Unicode-3.0"}


def unmet(expression: str) -> set[str]:
    return set(spdx.parse(expression).unmet(ALLOWED))


class Evaluation(unittest.TestCase):
    def test_one_licence_is_looked_up_whatever_its_case(self) -> None:
        self.assertEqual(unmet("MIT"), set())
        self.assertEqual(unmet("mit"), set())
        self.assertEqual(unmet("GPL-3.0-only"), {"GPL-3.0-only"})

    def test_or_needs_one_of_its_parts(self) -> None:
        self.assertEqual(unmet("GPL-2.0-only OR MIT"), set())
        self.assertEqual(unmet("GPL-2.0-only OR MPL-2.0"), {"GPL-2.0-only", "MPL-2.0"})

    def test_and_needs_all_of_its_parts(self) -> None:
        self.assertEqual(unmet("Apache-2.0 AND ISC"), set())
        self.assertEqual(unmet("Apache-2.0 AND MPL-2.0"), {"MPL-2.0"})

    def test_and_binds_tighter_than_or(self) -> None:
        self.assertEqual(unmet("MIT OR GPL-3.0-only AND MPL-2.0"), set())
        self.assertEqual(unmet("GPL-3.0-only AND MPL-2.0 OR MIT"), set())
        self.assertEqual(unmet("MIT AND GPL-3.0-only OR MPL-2.0"), {"GPL-3.0-only", "MPL-2.0"})

    def test_parentheses_group(self) -> None:
        self.assertEqual(unmet("(MIT OR GPL-3.0-only) AND MPL-2.0"), {"MPL-2.0"})
        self.assertEqual(unmet("(MIT OR Apache-2.0) AND Unicode-3.0"), set())
        self.assertEqual(unmet("((MIT))"), set())
        self.assertEqual(unmet("MIT AND(GPL-2.0-only OR ISC)"), set())

    def test_an_exception_is_allowed_only_as_listed(self) -> None:
        self.assertEqual(unmet("Apache-2.0 WITH LLVM-exception"), set())
        self.assertEqual(
            unmet("MIT WITH Classpath-exception-2.0"), {"MIT WITH Classpath-exception-2.0"}
        )
        self.assertEqual(unmet("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"), set())

    def test_with_binds_tighter_than_and(self) -> None:
        expression = "MIT AND GPL-2.0-only WITH Classpath-exception-2.0"
        self.assertEqual(unmet(expression), {"GPL-2.0-only WITH Classpath-exception-2.0"})

    def test_the_old_slash_means_or(self) -> None:
        self.assertEqual(unmet("MIT/Apache-2.0"), set())
        self.assertEqual(unmet("GPL-2.0-only / MIT"), set())
        self.assertEqual(unmet("GPL-2.0-only/MPL-2.0"), {"GPL-2.0-only", "MPL-2.0"})

    def test_or_later_is_met_by_the_version_itself(self) -> None:
        self.assertEqual(unmet("Apache-2.0+"), set())
        self.assertEqual(unmet("MPL-2.0+"), {"MPL-2.0+"})

    def test_a_licence_that_begins_like_an_allowed_one_is_another(self) -> None:
        self.assertEqual(unmet("MIT-advertising"), {"MIT-advertising"})
        self.assertEqual(unmet("LicenseRef-MIT"), {"LicenseRef-MIT"})


class Malformed(unittest.TestCase):
    def test_malformed_expressions_are_refused(self) -> None:
        for expression in [
            "",
            "   ",
            "AND MIT",
            "MIT OR",
            "MIT Apache-2.0",
            "(MIT",
            "MIT)",
            "()",
            "MIT WITH",
            "MIT WITH (LLVM-exception)",
            "(MIT) WITH LLVM-exception",
            "MIT, Apache-2.0",
            "MIT//Apache-2.0",
            "MIT & ISC",
        ]:
            with self.subTest(expression), self.assertRaises(spdx.SpdxError):
                spdx.parse(expression)

    def test_the_error_says_what_is_wrong(self) -> None:
        with self.assertRaisesRegex(spdx.SpdxError, r"missing `\)` in `\(MIT OR ISC`"):
            spdx.parse("(MIT OR ISC")
        with self.assertRaisesRegex(spdx.SpdxError, "unexpected `,` in `MIT, ISC`"):
            spdx.parse("MIT, ISC")


if __name__ == "__main__":
    unittest.main()
