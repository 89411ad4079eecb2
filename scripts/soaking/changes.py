"""The configuration that changes all the time."""

import asyncio
import random
from typing import Any

from .callers import Tally
from .house import House

INVALID = [
    "",
    "{ mcp: { servers: {",
    '{"mcp": {"servers": []}}',
    '{"tools": {"allow": 7}}',
]


class Changes:
    def __init__(self, house: House, chance: random.Random, tally: Tally) -> None:
        self.house = house
        self.chance = chance
        self.tally = tally
        self.written = 0
        # Which of the servers that come and go are there now.
        self.extra: set[str] = set()

    def servers(self) -> dict[str, Any]:
        servers = self.house.servers()
        # Another process for each version, and one tool that must always be there.
        servers["changing"] = self.house.stdio(env={"ROUND": str(self.written)})
        for name in sorted(self.extra):
            servers[name] = self.house.stdio()
        return self.house.apart(servers)

    def next(self) -> None:
        self.written += 1
        if self.chance.random() < 0.15:
            self.tally.count("configurations that are not usable")
            self.house.write_text(self.chance.choice(INVALID))
        else:
            for name in ("extra0", "extra1", "extra2"):
                if self.chance.random() < 0.3:
                    self.extra ^= {name}
            self.house.write(self.servers())
        if self.chance.random() < 0.5:
            self.house.reload()

    async def run(self, until: asyncio.Event) -> None:
        """One change a second."""
        while not until.is_set():
            self.next()
            await asyncio.sleep(1)

    def settle(self) -> None:
        """The last one, which is fine."""
        self.written += 1
        self.extra = {"last"}
        self.house.write(self.servers())
