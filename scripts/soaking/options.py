"""What is typed."""

import argparse
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    minutes: float
    seed: int
    openclaw: Path
    fake_server: Path
    keep: Path

    @property
    def seconds(self) -> float:
        return self.minutes * 60

    @property
    def warm_up(self) -> float:
        """When things have settled: after a minute, or a third of a short run."""
        return min(60.0, self.seconds / 3)


def minutes(text: str) -> float:
    value = float(text)
    if not 0.5 <= value <= 24 * 60:
        raise ValueError(text)
    return value


def read(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(prog="scripts/soak", add_help=False)
    parser.add_argument("--minutes", type=minutes, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--openclaw", type=Path, required=True)
    parser.add_argument("--fake-server", type=Path, required=True)
    parser.add_argument("--keep", type=Path, required=True)
    return Options(**vars(parser.parse_args(arguments)))
