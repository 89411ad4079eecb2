"""A collector of traces that reads them with OpenTelemetry's own Python classes.

Listens on a free port of loopback, says which on the first line of standard output, and writes what
each export holds as JSON on a line of its own.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Collector(BaseHTTPRequestHandler):
    """Takes exports, and nothing else."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Reads an export; one that can't be read ends everything."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path != "/v1/traces" or self.headers["content-type"] != "application/x-protobuf":
            sys.exit(f"{self.path} {self.headers['content-type']}")
        request = ExportTraceServiceRequest.FromString(body)
        print(MessageToJson(request, indent=None), flush=True)
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Says nothing of its own."""


server = HTTPServer(("127.0.0.1", 0), Collector)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
