"""HTTP, event streams and WebSockets as a client, with a deadline for everything."""

import asyncio
import base64
import json
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

# A request that takes longer is lost.
DEADLINE = 45.0
LONGEST = 64 * 2**20


class Lost(Exception):
    """An answer did not come, or was none."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Lost(f"status {self.status} with a body that is no JSON: {error}") from error


@dataclass(frozen=True)
class Address:
    host: str
    port: int
    token: str

    def head(self, method: str, path: str, length: int, more: str = "") -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n{more}\r\n"
        ).encode()


class Connection:
    """A connection that is kept; whoever has it asks one thing at a time."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        opening = asyncio.open_connection(self.address.host, self.address.port, limit=LONGEST)
        self.reader, self.writer = await asyncio.wait_for(opening, DEADLINE)

    def close(self) -> None:
        """Hangs up, whatever is under way."""
        if self.writer is not None:
            self.writer.transport.abort()
        self.reader = self.writer = None

    async def send(self, data: bytes) -> None:
        if self.writer is None:
            await self.open()
        assert self.writer is not None
        self.writer.write(data)
        await asyncio.wait_for(self.writer.drain(), DEADLINE)

    async def ask(self, method: str, path: str, body: Any = None, more: str = "") -> Answer:
        """Asks, and waits for the one answer."""
        data = b"" if body is None else json.dumps(body).encode()
        try:
            await self.send(self.address.head(method, path, len(data), more) + data)
            return await asyncio.wait_for(self.answer(), DEADLINE)
        except TimeoutError as error:
            self.close()
            raise Lost(f"no answer within {DEADLINE:.0f} s") from error
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise Lost(f"the connection ended: {error}") from error

    async def answer(self) -> Answer:
        assert self.reader is not None
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split(" ")[1])
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        if headers.get("transfer-encoding") == "chunked":
            body = await self.chunks()
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return Answer(status, headers, body)

    async def chunks(self) -> bytes:
        assert self.reader is not None
        parts = []
        while True:
            size = int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16)
            part = await self.reader.readexactly(size + 2)
            if size == 0:
                return b"".join(parts)
            parts.append(part[:-2])


class WebSocket:
    """A WebSocket that takes little at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, address: Address) -> "WebSocket":
        # A small window, so that the other side feels how slowly this one reads.
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            await asyncio.wait_for(loop.sock_connect(raw, (address.host, address.port)), DEADLINE)
        except BaseException:
            raw.close()
            raise
        reader, writer = await asyncio.open_connection(sock=raw, limit=4096)
        key = base64.b64encode(os.urandom(16)).decode()
        more = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n"
        )
        writer.write(address.head("GET", "/api/ws", 0, more))
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEADLINE)
        if b" 101 " not in head.split(b"\r\n")[0]:
            writer.transport.abort()
            raise Lost(f"no WebSocket: {head[:80]!r}")
        return cls(reader, writer)

    def close(self) -> None:
        self.writer.transport.abort()

    async def say(self, message: Any) -> None:
        await self.frame(1, json.dumps(message).encode())

    async def frame(self, kind: int, data: bytes) -> None:
        mask = os.urandom(4)
        if len(data) < 126:
            head = struct.pack("!BB", 0x80 | kind, 0x80 | len(data))
        else:
            head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, len(data))
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        self.writer.write(head + mask + masked)
        await asyncio.wait_for(self.writer.drain(), DEADLINE)

    async def hear(self) -> Any | None:
        """The next message; none if the other side has closed."""
        text = b""
        while True:
            first, second = await self.reader.readexactly(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", await self.reader.readexactly(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
            data = await self.reader.readexactly(length)
            kind = first & 0x0F
            if kind == 8:
                return None
            if kind == 9:
                await self.frame(10, data)
            elif kind in (0, 1):
                text += data
                if first & 0x80:
                    return json.loads(text)
