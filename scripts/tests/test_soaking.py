"""What a soak counts as broken, and how its client reads what it is sent."""

import asyncio
import json
import subprocess
import time
import unittest
from pathlib import Path

from soaking import http2, options
from soaking.callers import KINDS, Tally, text_of
from soaking.house import first_line
from soaking.samples import Sample, below, sample
from soaking.verdict import apart, flatness, happened, rested, table, unexpected
from soaking.wire import Address, Connection, Lost

SCRIPTS = Path(__file__).resolve().parent.parent
MEBIBYTE = 2**20


def samples(**values) -> list[Sample]:
    """A run of a hundred seconds; each value is a function of the time."""
    plain = {
        "memory": 50 * MEBIBYTE,
        "descriptors": 40,
        "threads": 8,
        "zombies": 0,
        "processes": 10,
    }
    found = []
    for at in range(100):
        figures = {**plain, **{name: value(at) for name, value in values.items()}}
        found.append(Sample(at=float(at), **figures))
    return found


def broken(run: list[Sample]) -> list[str]:
    lines = flatness(run, warm_up=20, seconds=100)
    return [line.what.split(" ")[0] for line in lines if not line.holds]


class Flatness(unittest.TestCase):
    def test_a_run_that_stays_as_it_was_holds(self) -> None:
        self.assertEqual(broken(samples()), [])

    def test_what_grows_in_the_warm_up_does_not_count(self) -> None:
        self.assertEqual(broken(samples(memory=lambda at: min(at, 20) * MEBIBYTE * 5)), [])

    def test_what_grows_later_is_broken(self) -> None:
        grows = {
            "memory": lambda at: (50 + at / 4) * MEBIBYTE,
            "descriptors": lambda at: 40 + at,
            "threads": lambda at: 8 + at // 4,
            "processes": lambda at: 10 + at // 4,
        }
        for name, value in grows.items():
            self.assertEqual(broken(samples(**{name: value})), [name])

    def test_a_single_high_sample_does_not_count(self) -> None:
        run = samples(memory=lambda at: (500 if at == 95 else 50) * MEBIBYTE)
        self.assertEqual(broken(run), [])

    def test_zombies_may_be_there_for_a_moment_only(self) -> None:
        self.assertEqual(broken(samples(zombies=lambda at: at % 2)), [])
        self.assertEqual(broken(samples(zombies=lambda at: int(40 <= at < 46))), ["seconds"])

    def test_a_run_that_was_cut_short_is_broken(self) -> None:
        self.assertEqual(broken(samples()[:30]), ["samples"])


class Judged(unittest.TestCase):
    def test_what_never_happened_is_broken(self) -> None:
        lines = happened({"a": 1, "b": 0}, ["a", "b", "c"])
        self.assertEqual([line.holds for line in lines], [True, False, False])

    def test_servers_that_share_a_process_or_have_none_are_broken(self) -> None:
        self.assertTrue(apart({"a": 1, "b": 2}).holds)
        for pids in [{"a": 1, "b": 1}, {"a": 1, "b": None}, {}]:
            self.assertFalse(apart(pids).holds, pids)

    def test_what_stays_when_the_load_is_gone_is_broken(self) -> None:
        idle = samples()[0]

        def kept(**values) -> list[str]:
            lines = rested(idle, samples(**values)[0])
            return [line.what.split(" ")[0] for line in lines if not line.holds]

        self.assertEqual(kept(), [])
        self.assertEqual(kept(memory=lambda _: 85 * MEBIBYTE), [])
        self.assertEqual(kept(memory=lambda _: 86 * MEBIBYTE), ["memory"])
        self.assertEqual(kept(descriptors=lambda _: 65), ["descriptors"])
        self.assertEqual(kept(processes=lambda _: 14), ["processes"])


class Log(unittest.TestCase):
    def entry(self, level: str, message: str) -> str:
        return json.dumps({"level": level, "fields": {"message": message}})

    def test_errors_that_are_provoked_are_expected(self) -> None:
        fine = [
            self.entry("INFO", "server ready"),
            self.entry("WARN", "server lost"),
            self.entry("ERROR", "the configuration has changed and can't be used; …"),
            "",
        ]
        self.assertEqual(unexpected(fine), [])

    def test_other_errors_and_panics_are_not(self) -> None:
        for line in [
            self.entry("ERROR", "a call is missing in the audit log"),
            self.entry("WARN", "a request made the gateway panic"),
            "thread 'main' panicked at src/main.rs:1",
        ]:
            self.assertEqual(unexpected([line]), [line])


class Tallied(unittest.TestCase):
    def test_breaches_of_one_kind_are_told_once_and_counted(self) -> None:
        tally = Tally()
        for number in range(200):
            tally.breach(f"steady: status 500 for soak {number}")
        tally.breach("another")
        self.assertEqual(tally.broken, 201)
        self.assertEqual(sorted(tally.kinds.values()), [1, 200])

    def test_only_what_has_to_happen_is_counted(self) -> None:
        tally = Tally()
        for kind in KINDS:
            tally.count(kind)
        self.assertEqual(set(tally.counts), set(KINDS))
        with self.assertRaises(ValueError):
            tally.count("something else")

    def test_the_text_of_a_result_is_that_of_all_its_parts(self) -> None:
        parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
        self.assertEqual(text_of({"content": parts}), "ab")
        self.assertEqual(text_of({"error": {}}), "")
        self.assertEqual(text_of([]), "")

    def test_the_table_says_what_is_broken(self) -> None:
        text = table(flatness(samples(threads=lambda at: at), 20, 100))
        self.assertEqual(text.count("BROKEN"), 1)


class Processes(unittest.TestCase):
    def test_a_child_is_seen_and_so_is_its_zombie(self) -> None:
        parent = subprocess.Popen(
            ["sh", "-c", "true & exec cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        self.addCleanup(parent.wait)
        self.addCleanup(parent.stdin.close)
        self.assertGreater(sample(parent.pid, 0).memory, 0)
        # `cat` never asks how the one before it ended.
        deadline = time.monotonic() + 20
        while (found := below(parent.pid)) != (1, 1):
            self.assertLess(time.monotonic(), deadline, found)


class FirstLines(unittest.TestCase):
    def first_line(self, script: str, patience: float) -> str:
        process = subprocess.Popen(
            ["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        return first_line(process, patience)

    def test_a_line_is_read_however_it_comes(self) -> None:
        self.assertEqual(self.first_line("printf a; printf 'b\\nc\\n'; cat", 20), "ab")
        self.assertEqual(self.first_line("printf a", 20), "a")

    def test_a_line_that_does_not_come_is_not_waited_for_without_an_end(self) -> None:
        began = time.monotonic()
        self.assertEqual(self.first_line("printf a; cat", 0.5), "a")
        self.assertLess(time.monotonic() - began, 15)


class Wire(unittest.TestCase):
    def ask(self, said: bytes):
        async def run():
            async def answer(reader, writer) -> None:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(said)
                await writer.drain()
                writer.close()

            server = await asyncio.start_server(answer, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            connection = Connection(Address("127.0.0.1", port, "token"))
            try:
                return await connection.ask("GET", "/")
            finally:
                connection.close()
                server.close()

        return asyncio.run(run())

    def test_bodies_with_a_length_and_in_chunks_are_read(self) -> None:
        answer = self.ask(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        self.assertEqual((answer.status, answer.json()), (200, {}))
        chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n"
        self.assertEqual(self.ask(chunks).json(), [])

    def test_an_answer_that_is_cut_is_lost(self) -> None:
        for said in [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"]:
            with self.assertRaises(Lost):
                self.ask(said)

    def test_an_answer_that_is_no_json_is_lost(self) -> None:
        with self.assertRaises(Lost):
            self.ask(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{").json()


class OverHttp2(unittest.TestCase):
    def ask(self, said: bytes, count: int = 1):
        """The answers to so many requests of a server that says this, or what is raised."""

        async def run():
            async def answer(reader, writer) -> None:
                await reader.readexactly(len(http2.BEGINNING))
                writer.write(said)
                await writer.drain()
                writer.close()

            server = await asyncio.start_server(answer, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            connection = await http2.Connection.open(Address("127.0.0.1", port, "token"))
            try:
                begun = [connection.begin("/", {}) for _ in range(count)]
                return [await connection.answer(at) for at in begun]
            finally:
                connection.close()
                server.close()

        return asyncio.run(run())

    def answer(self, stream: int, status: int, body: bytes) -> bytes:
        frames = http2.frame(http2.HEADERS, http2.END_OF_HEADERS, stream, bytes([0x80 | status]))
        for at in range(len(body)):
            end = http2.END_OF_STREAM if at + 1 == len(body) else 0
            frames += http2.frame(http2.DATA, end, stream, body[at : at + 1])
        return frames

    def test_answers_are_told_apart_in_whatever_order_they_come(self) -> None:
        said = http2.frame(http2.SETTINGS, 0, 0) + http2.frame(http2.PING, 0, 0, b"12345678")
        said += self.answer(3, 13, b"[3]") + self.answer(1, 8, b"[1]")
        self.assertEqual(self.ask(said, 2), [(200, [1]), (404, [3])])

    def test_what_is_not_answered_is_lost_and_says_why(self) -> None:
        goodbye = http2.frame(http2.GOODBYE, 0, 0, bytes(7) + b"\x0b")
        reset = http2.frame(http2.RESET, 0, 1, bytes(3) + b"\x08")
        for said, why in [
            (goodbye, "goodbye with code 11"),
            (reset, "reset with code 8"),
            (self.answer(1, 8, b"{}")[:-1], "the connection has ended"),
            (self.answer(1, 8, b"{"), "no JSON"),
        ]:
            with self.assertRaisesRegex(Lost, why):
                self.ask(said)

    def test_numbers_are_written_as_they_are_read(self) -> None:
        # RFC 7541, appendix C.1.
        self.assertEqual(http2.number(10, 5, 0), b"\x0a")
        self.assertEqual(http2.number(1337, 5, 0), b"\x1f\x9a\x0a")
        self.assertEqual(http2.status_of(b"\x3f\xe1\x1f\x88"), 200)
        self.assertEqual(http2.status_of(b"\x3e\x3f\x1f\x88"), 200)
        self.assertEqual(http2.status_of(b"\x3f\xe1"), 0)
        self.assertEqual(http2.status_of(b"\x20\x88"), 200)
        self.assertEqual(http2.status_of(b"\x08\x03503"), 0)


class Options(unittest.TestCase):
    def test_a_short_run_warms_up_for_a_third_of_it(self) -> None:
        more = ["--openclaw", "a", "--fake-server", "b", "--keep", "c"]
        self.assertEqual(options.read(["--minutes", "1", *more]).warm_up, 20)
        self.assertEqual(options.read(more).warm_up, 60)

    def test_what_is_wrong_is_a_usage_error(self) -> None:
        for arguments, told in [
            (["--fast"], "unknown option: --fast"),
            (["--minutes"], "--minutes needs a whole number"),
            (["--minutes", "0"], "--minutes needs a whole number"),
            (["--seed", "x"], "--seed needs a whole number"),
        ]:
            command = [str(SCRIPTS / "soak"), *arguments]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"scripts/soak: {told}", result.stderr)

    def test_help_goes_to_standard_output(self) -> None:
        command = [str(SCRIPTS / "soak"), "--help"]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertIn("--minutes N", result.stdout)


if __name__ == "__main__":
    unittest.main()
