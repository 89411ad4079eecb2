"""Who asks what, and which answers are right."""

import asyncio
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from . import http2
from .house import House
from .wire import DEADLINE, Address, Connection, Lost, WebSocket

# Servers on which every call must succeed, whatever is reloaded meanwhile.
SOUND = [
    "steady0",
    "steady1",
    "steady2",
    "steady3",
    "remote",
    "noisy",
    "flooding",
    "lazy",
    "family",
    "changing",
]
# Servers on which a call may fail, but must be answered.
FRAGILE = ["crashing", "dying", "mute", "extra0", "extra1", "extra2"]

# Everything that is counted. What never happened shows nothing, and so each of them has to.
KINDS = [
    "calls over HTTP, answered",
    "calls over HTTP, a clean error",
    "calls over HTTP/2, answered",
    "calls over HTTP/2, taken back",
    "calls of commands, answered",
    "calls of commands, a clean error",
    "calls over WebSockets, answered",
    "calls over slow WebSockets, answered",
    "events over WebSockets",
    "WebSockets that never read",
    "callers that hung up",
    "turns over chat completions",
    "configurations that are not usable",
]
# How long one who reads slowly takes for each event, and how long its answers may be on their way: they
# stand behind everything that it has not read yet.
SLOWLY = 0.01
LATE = 3 * DEADLINE

# How long a caller rests between two questions, at most.
REST = 0.05
MOST_BREACHES = 50
# How many calls share a connection over HTTP/2, at most, and how often they do before there is another one.
TOGETHER = 24
ROUNDS = 40


class Tally:
    """What came of all questions."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        # What went wrong, by its kind: an example, and how often.
        self.breaches: dict[str, str] = {}
        self.kinds: Counter[str] = Counter()
        self.broken = 0

    def count(self, what: str) -> None:
        if what not in KINDS:
            raise ValueError(f"{what!r} is not among what has to happen")
        self.counts[what] += 1

    def breach(self, what: str) -> None:
        self.broken += 1
        kind = re.sub(r"\d+", "0", re.sub(r"x{3,}", "x", what))[:120]
        if kind in self.breaches or len(self.breaches) < MOST_BREACHES:
            self.breaches.setdefault(kind, what)
            self.kinds[kind] += 1


class Callers:
    def __init__(self, house: House, chance: random.Random, tally: Tally) -> None:
        assert house.address is not None
        self.house = house
        self.address: Address = house.address
        self.chance = chance
        self.tally = tally
        self.numbers = itertools.count()

    def crowd(self) -> list[Callable[[asyncio.Event], Awaitable[None]]]:
        """Thirty-two callers."""
        return (
            [self.over(self.sound_call)] * 8
            + [self.sharing] * 2
            + [self.over(self.paced_call)] * 4
            + [self.over(self.fragile_call)] * 6
            + [self.over(self.command)] * 4
            + [self.over(self.hang_up)] * 3
            + [self.over(self.chat)] * 2
            + [self.socket]
            + [self.slow_socket]
            + [self.deaf]
        )

    def over(
        self, ask: Callable[[Connection], Awaitable[None]]
    ) -> Callable[[asyncio.Event], Awaitable[None]]:
        """A caller who asks the same again and again over a connection that is kept."""

        async def run(until: asyncio.Event) -> None:
            connection = Connection(self.address)
            while not until.is_set():
                try:
                    await ask(connection)
                except Lost as lost:
                    self.tally.breach(f"{ask.__name__}: {lost}")
                    connection.close()
                await asyncio.sleep(self.chance.random() * REST)
            connection.close()

        return run

    async def sharing(self, until: asyncio.Event) -> None:
        """A caller with many calls under way over one connection, some of which are taken back."""
        while not until.is_set():
            connection = None
            try:
                connection = await http2.Connection.open(self.address)
                for _ in range(self.chance.randrange(1, ROUNDS)):
                    if not until.is_set():
                        await self.at_once(connection)
            except (Lost, OSError, TimeoutError) as error:
                self.tally.breach(f"HTTP/2: {type(error).__name__}: {error}")
                await asyncio.sleep(1)
            finally:
                if connection is not None:
                    connection.close()

    async def at_once(self, connection: http2.Connection) -> None:
        wanted: dict[int, tuple[str, str]] = {}
        unwanted = []
        for _ in range(self.chance.randrange(1, TOGETHER)):
            if self.chance.random() < 0.2:
                body = {"tool": "paced/sleep", "arguments": {"ms": 700}}
                unwanted.append(connection.begin("/api/mcp/call", body))
            else:
                server, message = self.chance.choice(SOUND), self.message()
                body = {"tool": f"{server}/echo", "arguments": {"message": message}}
                wanted[connection.begin("/api/mcp/call", body)] = (server, message)
        # At once, before they have been seen, or while they are under way.
        await asyncio.sleep(self.chance.choice([0, 0.05]))
        for at in unwanted:
            connection.take_back(at)
            self.tally.count("calls over HTTP/2, taken back")
        for at, (server, message) in wanted.items():
            status, said = await connection.answer(at)
            self.expect(server, status, said, message, "calls over HTTP/2, answered")

    def message(self) -> str:
        """A text that nobody else sends."""
        return f"soak {next(self.numbers)} " + "x" * self.chance.choice([0, 10, 2000])

    async def call(self, connection: Connection, tool: str, arguments: dict) -> tuple[int, Any]:
        body = {"tool": tool, "arguments": arguments}
        answer = await connection.ask("POST", "/api/mcp/call", body)
        return answer.status, answer.json()

    async def sound_call(self, connection: Connection) -> None:
        server, message = self.chance.choice(SOUND), self.message()
        status, said = await self.call(connection, f"{server}/echo", {"message": message})
        self.expect(server, status, said, message)

    async def paced_call(self, connection: Connection) -> None:
        time = self.chance.randrange(20, 800)
        status, said = await self.call(connection, "paced/sleep", {"ms": time})
        self.expect("paced", status, said, f"slept {time} ms")

    def expect(
        self,
        server: str,
        status: int,
        said: Any,
        text: str,
        counts_as: str = "calls over HTTP, answered",
    ) -> None:
        if status == 200 and not said.get("isError") and text_of(said) == text:
            self.tally.count(counts_as)
        else:
            self.tally.breach(f"{server}: status {status}: {json.dumps(said)[:400]}")

    async def fragile_call(self, connection: Connection) -> None:
        server, message = self.chance.choice(FRAGILE), self.message()
        status, said = await self.call(connection, f"{server}/echo", {"message": message})
        if status == 200 and not said.get("isError"):
            if text_of(said) != message:
                self.tally.breach(f"{server}: another answer: {json.dumps(said)[:400]}")
            self.tally.count("calls over HTTP, answered")
        elif status == 200 and text_of(said):
            self.tally.count("calls over HTTP, a clean error")
        elif status == 404 and server.startswith("extra") and "error" in said:
            self.tally.count("calls over HTTP, a clean error")
        else:
            self.tally.breach(f"{server}: status {status}: {json.dumps(said)[:400]}")

    async def command(self, _: Connection) -> None:
        """The command, which finds the gateway by its socket."""
        server, message = self.chance.choice(SOUND + FRAGILE), self.message()
        process = await asyncio.create_subprocess_exec(
            self.house.options.openclaw,
            *["mcp", "call", f"{server}/echo", f"message={message}", "--json"],
            env=self.house.environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), DEADLINE)
        except TimeoutError as error:
            process.kill()
            await process.wait()
            raise Lost(f"{server}: the command did not end within {DEADLINE:.0f} s") from error
        try:
            said = json.loads(stdout)
        except ValueError as error:
            raise Lost(f"{server}: {stdout[:200]!r} {stderr[:200]!r}") from error
        is_done = process.returncode == 0 and text_of(said) == message
        is_clean = process.returncode in (1, 2) and ("error" in said or said.get("isError"))
        if is_done:
            self.tally.count("calls of commands, answered")
        elif is_clean and server in FRAGILE:
            self.tally.count("calls of commands, a clean error")
        else:
            self.tally.breach(f"{server}: command: {process.returncode} {stdout[:400]!r}")

    async def hang_up(self, connection: Connection) -> None:
        """Goes away in the middle: of the request, or of the call."""
        body = json.dumps({"tool": "paced/sleep", "arguments": {"ms": 700}}).encode()
        request = self.address.head("POST", "/api/mcp/call", len(body)) + body
        try:
            whole = self.chance.random() < 0.7
            await connection.send(request if whole else request[: self.chance.randrange(1, 200)])
            await asyncio.sleep(self.chance.random() * 0.3)
        except (OSError, TimeoutError) as error:
            raise Lost(f"nobody listens: {error}") from error
        finally:
            connection.close()
        self.tally.count("callers that hung up")

    async def chat(self, connection: Connection) -> None:
        stream = self.chance.random() < 0.5
        text = f"use the tool steady1/echo with the message 'soak {next(self.numbers)}'"
        body = {
            "model": "openclaw",
            "messages": [{"role": "user", "content": text}],
            "stream": stream,
        }
        answer = await connection.ask("POST", "/v1/chat/completions", body)
        if answer.status != 200:
            self.tally.breach(f"chat: status {answer.status}: {answer.body[:400]!r}")
        elif stream and not answer.body.rstrip().endswith(b"data: [DONE]"):
            self.tally.breach(f"chat: a stream without its end: {answer.body[-200:]!r}")
        elif not stream and not answer.json()["choices"][0]["message"]["content"]:
            self.tally.breach(f"chat: nothing was said: {answer.body[:400]!r}")
        else:
            self.tally.count("turns over chat completions")
        await asyncio.sleep(0.2)

    async def socket(self, until: asyncio.Event) -> None:
        """A WebSocket that is told everything that happens, and reads only now and then."""
        while not until.is_set():
            await self.conversing("WebSocket", self.conversation(until))

    async def slow_socket(self, until: asyncio.Event) -> None:
        """A WebSocket that is told more than it reads. Its answers are late, and not lost."""
        while not until.is_set():
            await self.conversing("slow WebSocket", self.conversation(until, SLOWLY))

    async def conversing(self, who: str, conversation: Awaitable[None]) -> None:
        try:
            await conversation
        except (Lost, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            self.tally.breach(f"{who}: {type(error).__name__}: {error}")
            await asyncio.sleep(1)

    async def deaf(self, until: asyncio.Event) -> None:
        """WebSockets that want to be told everything, and never read any of it."""
        while not until.is_set():
            try:
                web = await WebSocket.open(self.address)
                await web.say({"type": "ask", "id": 1, "question": "watch", "with": None})
            except (Lost, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
                self.tally.breach(f"deaf WebSocket: {type(error).__name__}: {error}")
                await asyncio.sleep(1)
                continue
            for _ in range(self.chance.randrange(20, 200)):
                if not until.is_set():
                    await asyncio.sleep(0.1)
            web.close()
            self.tally.count("WebSockets that never read")

    async def conversation(self, until: asyncio.Event, slowly: float = 0.0) -> None:
        web = await WebSocket.open(self.address)
        try:
            await web.say({"type": "ask", "id": 1, "question": "watch", "with": None})
            # The longer one reads slowly, the more there is to be read before an answer.
            for number in range(2, 5 if slowly else 2 + self.chance.randrange(5, 20)):
                if until.is_set():
                    break
                message = self.message()
                request = {
                    "tool": "steady2/echo",
                    "arguments": {"object": {"message": message}, "words": []},
                    "approved": False,
                    "framed": False,
                    "correlation": f"soak{number}",
                }
                await web.say({"type": "ask", "id": number, "question": "call", "with": request})
                # Meanwhile things happen, and are told to somebody who does not read.
                await asyncio.sleep(self.chance.random() * 3)
                patience = LATE if slowly else DEADLINE
                report = await asyncio.wait_for(self.reply(web, number, slowly), patience)
                if text_of(report) != message:
                    raise Lost(f"another answer: {json.dumps(report)[:300]}")
                which = "slow WebSockets" if slowly else "WebSockets"
                self.tally.count(f"calls over {which}, answered")
        finally:
            web.close()

    async def reply(self, web: WebSocket, number: int, slowly: float) -> Any:
        while True:
            heard = await web.hear()
            if heard is None:
                raise Lost("closed")
            if heard.get("type") in ("failed", "error"):
                raise Lost(json.dumps(heard)[:300])
            if heard.get("type") == "event":
                self.tally.count("events over WebSockets")
                await asyncio.sleep(slowly)
            elif heard.get("id") == number:
                return heard["report"]


def text_of(report: Any) -> str:
    """The text of a result."""
    parts = report.get("content") if isinstance(report, dict) else None
    return "".join(part.get("text", "") for part in parts or [])
