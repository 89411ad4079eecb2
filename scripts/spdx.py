"""SPDX licence expressions: parsed, and evaluated against a list of licences.

The grammar is that of SPDX 2.3 annex D (`AND`, `OR`, `WITH`, `+`, parentheses), plus the slash that
old Cargo manifests use for `OR`. `WITH` binds tightest, then `AND`, then `OR`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(?:(?P<mark>[()/])|(?P<word>[A-Za-z0-9.:-]+\+?))")
_OPERATORS = {"AND", "OR", "WITH"}


class SpdxError(ValueError):
    """An expression that does not follow the grammar."""


@dataclass(frozen=True)
class Licence:
    """One licence, with its exception if it has one."""

    name: str

    def unmet(self, allowed: Collection[str]) -> frozenset[str]:
        """Returns the licences that would have to be allowed as well: none, if this one is."""
        known = {entry.lower() for entry in allowed}
        # `X+` is "X or any later version": whoever may use X may use that.
        if self.name.lower() in known or self.name.removesuffix("+").lower() in known:
            return frozenset()
        return frozenset({self.name})


@dataclass(frozen=True)
class All:
    """Licences that apply together."""

    parts: tuple[Expression, ...]

    def unmet(self, allowed: Collection[str]) -> frozenset[str]:
        """Returns what is missing from every part."""
        return frozenset().union(*(part.unmet(allowed) for part in self.parts))


@dataclass(frozen=True)
class Any:
    """Licences of which the user picks one."""

    parts: tuple[Expression, ...]

    def unmet(self, allowed: Collection[str]) -> frozenset[str]:
        """Returns nothing if one part is allowed, else what is missing from all of them."""
        missing = [part.unmet(allowed) for part in self.parts]
        return frozenset() if not all(missing) else frozenset().union(*missing)


Expression = Licence | All | Any


def parse(text: str) -> Expression:
    """Parses an expression, or raises SpdxError with what is wrong."""
    parser = _Parser(text)
    expression = parser.any()
    if parser.peek() is not None:
        raise SpdxError(f"unexpected `{parser.peek()}` in `{text}`")
    return expression


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._position = 0

    def peek(self) -> str | None:
        if self._position < len(self._tokens):
            return self._tokens[self._position]
        return None

    def any(self) -> Expression:
        parts = [self._all()]
        while self.peek() in ("OR", "/"):
            self._position += 1
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def _all(self) -> Expression:
        parts = [self._single()]
        while self.peek() == "AND":
            self._position += 1
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _single(self) -> Expression:
        if self.peek() == "(":
            self._position += 1
            inner = self.any()
            if self.peek() != ")":
                raise SpdxError(f"missing `)` in `{self._text}`")
            self._position += 1
            return inner
        name = self._word("a licence")
        if self.peek() == "WITH":
            self._position += 1
            name = f"{name} WITH {self._word('an exception')}"
        return Licence(name)

    def _word(self, wanted: str) -> str:
        token = self.peek()
        if token is None:
            raise SpdxError(f"`{self._text}` ends where {wanted} is expected")
        if token in _OPERATORS or token in "()/":
            raise SpdxError(f"`{token}` stands where {wanted} is expected in `{self._text}`")
        self._position += 1
        return token


def _tokens(text: str) -> list[str]:
    tokens = []
    text = text.rstrip()
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise SpdxError(f"unexpected `{text[position:].strip()[0]}` in `{text}`")
        word = match["mark"] or match["word"]
        tokens.append(word.upper() if word.upper() in _OPERATORS else word)
        position = match.end()
    return tokens
