"""HTTP/2 as a client that has many requests under way over one connection.

Only as much of it as that needs: headers are sent as literals, and of those of an answer only the status
is read.
"""

import asyncio
import itertools
import json
import struct
from collections.abc import Iterator
from typing import Any

from .wire import DEADLINE, Address, Lost

BEGINNING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOODBYE, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_OF_STREAM, END_OF_HEADERS, ACKNOWLEDGED = 1, 4, 1
CANCEL = 8
# Names that have a number: RFC 7541, appendix A.
POST, HTTP, PATH, AUTHORITY, AUTHORIZATION, CONTENT_TYPE = 3, 6, 4, 1, 23, 31
STATUSES = {8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500}


def frame(kind: int, flags: int, stream: int, content: bytes = b"") -> bytes:
    return struct.pack("!I", len(content))[1:] + struct.pack("!BBI", kind, flags, stream) + content


def number(value: int, bits: int, first: int) -> bytes:
    """A number behind the first bits of a byte: RFC 7541 §5.1."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    encoded = bytearray([first | most])
    value -= most
    while value >= 128:
        encoded.append(value % 128 + 128)
        value //= 128
    encoded.append(value)
    return bytes(encoded)


def behind_number(block: bytes, bits: int) -> bytes:
    """What follows the number that a block begins with."""
    most = (1 << bits) - 1
    at = 1
    if block[0] & most == most:
        while at < len(block) and block[at] & 0x80:
            at += 1
        at += 1
    return block[at:]


def header(name: int, value: str) -> bytes:
    """A header that nobody remembers."""
    return number(name, 4, 0) + number(len(value), 7, 0) + value.encode("latin-1")


def status_of(block: bytes) -> int:
    """The status at the front of headers; 0 for those that have no number."""
    # The size of the table may be told before.
    while block and block[0] & 0xE0 == 0x20:
        block = behind_number(block, 5)
    return STATUSES.get(block[0] & 0x7F, 0) if block and block[0] & 0x80 else 0


class Stream:
    """A request that is under way."""

    def __init__(self) -> None:
        self.status = 0
        self.body = bytearray()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def end(self, lost: str | None = None) -> None:
        if self.done.done():
            return
        if lost is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(Lost(lost))
            # Whoever took it back does not ask.
            self.done.exception()


class Connection:
    def __init__(
        self, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.address = address
        self.reader = reader
        self.writer = writer
        self.numbers: Iterator[int] = itertools.count(1, 2)
        self.streams: dict[int, Stream] = {}
        self.reading = asyncio.create_task(self.read())

    @classmethod
    async def open(cls, address: Address) -> "Connection":
        opening = asyncio.open_connection(address.host, address.port)
        reader, writer = await asyncio.wait_for(opening, DEADLINE)
        writer.write(BEGINNING + frame(SETTINGS, 0, 0))
        return cls(address, reader, writer)

    def close(self) -> None:
        self.reading.cancel()
        self.writer.transport.abort()

    def begin(self, path: str, body: Any) -> int:
        """Sends a request, which has this number."""
        at, stream = next(self.numbers), Stream()
        self.streams[at] = stream
        address = self.address
        block = number(POST, 7, 0x80) + number(HTTP, 7, 0x80)
        block += header(PATH, path) + header(AUTHORITY, f"{address.host}:{address.port}")
        block += header(AUTHORIZATION, f"Bearer {address.token}")
        block += header(CONTENT_TYPE, "application/json")
        data = json.dumps(body).encode()
        self.writer.write(frame(HEADERS, END_OF_HEADERS, at, block))
        self.writer.write(frame(DATA, END_OF_STREAM, at, data))
        if self.reading.done():
            stream.end("the connection has ended")
        return at

    def take_back(self, at: int) -> None:
        self.writer.write(frame(RESET, 0, at, struct.pack("!I", CANCEL)))
        del self.streams[at]

    async def answer(self, at: int) -> tuple[int, Any]:
        """The answer to a request: its status, and its body as JSON."""
        stream = self.streams[at]
        try:
            await asyncio.wait_for(asyncio.shield(stream.done), DEADLINE)
        except TimeoutError as error:
            raise Lost(f"no answer within {DEADLINE:.0f} s") from error
        finally:
            del self.streams[at]
        try:
            return stream.status, json.loads(stream.body)
        except ValueError as error:
            begins = bytes(stream.body[:200])
            raise Lost(f"status {stream.status} and no JSON: {begins!r}") from error

    async def read(self) -> None:
        why = "the connection has ended"
        try:
            while True:
                head = b"\0" + await self.reader.readexactly(9)
                length, kind, flags, at = struct.unpack("!IBBI", head)
                why = self.take(kind, flags, at, await self.reader.readexactly(length)) or why
        except (OSError, asyncio.IncompleteReadError) as error:
            why = f"{why}: {error}"
        finally:
            for stream in self.streams.values():
                stream.end(why)

    def take(self, kind: int, flags: int, at: int, content: bytes) -> str | None:
        """Does what a frame asks for; if it is a goodbye, what it says."""
        stream = self.streams.get(at)
        if kind == SETTINGS and not flags & ACKNOWLEDGED:
            self.writer.write(frame(SETTINGS, ACKNOWLEDGED, 0))
        elif kind == PING and not flags & ACKNOWLEDGED:
            self.writer.write(frame(PING, ACKNOWLEDGED, 0, content))
        elif kind == GOODBYE:
            _, code = struct.unpack("!II", content[:8])
            return f"it says goodbye with code {code}"
        elif kind == RESET and stream is not None:
            stream.end(f"it was reset with code {struct.unpack('!I', content)[0]}")
        elif kind == HEADERS and stream is not None:
            stream.status = status_of(content)
        elif kind == DATA:
            read = struct.pack("!I", len(content))
            if content:
                self.writer.write(frame(WINDOW, 0, 0, read))
            if stream is not None:
                stream.body += content
                if content and not flags & END_OF_STREAM:
                    self.writer.write(frame(WINDOW, 0, at, read))
        if kind in (HEADERS, DATA) and flags & END_OF_STREAM and stream is not None:
            stream.end()
        return None
