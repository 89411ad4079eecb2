"""FastMCP's server with its own authorization server, on a free port of loopback.

The first argument is how many seconds access tokens live. The first line of the output is JSON and
says where everything is. It ends with its input.
"""

import json
import os
import socket
import sys
import threading

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions, RevocationOptions
from fastmcp.server.auth.providers import in_memory
from starlette.requests import Request
from starlette.responses import JSONResponse

SCOPES = ["tools"]


def end_with_input() -> None:
    sys.stdin.buffer.read()
    # There may be streams that nobody ends.
    os._exit(0)


def main() -> None:
    # It has no other way of being told.
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = int(sys.argv[1])
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    provider = in_memory.InMemoryOAuthProvider(
        base_url=origin,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=SCOPES,
    )
    server = FastMCP("login", auth=provider)

    @server.tool
    def echo(message: str) -> str:
        """Gives its message back."""
        return message

    @server.custom_route("/control/counters", methods=["GET"])
    async def counters(_request: Request) -> JSONResponse:
        kept = {
            "clients": len(provider.clients),
            "access_tokens": len(provider.access_tokens),
            "refresh_tokens": len(provider.refresh_tokens),
        }
        return JSONResponse(kept)

    app = server.http_app(path="/mcp")
    threading.Thread(target=end_with_input, daemon=True).start()
    places = {"url": f"{origin}/mcp", "control": f"{origin}/control"}
    # The socket listens already: who comes early waits.
    print(json.dumps(places), flush=True)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
