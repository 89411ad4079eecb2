"""Talks to an MCP server with FastMCP's client, as a plan in JSON on standard input says.

The plan has `server`, an entry of `mcpServers`; `mode`, the era of the protocol; and `calls`, each
with the `arguments` of `order_openclaw`. A call with `giveUpWhen` is given up as soon as that file
has that text. What came of it is one JSON document on standard output.
"""

import asyncio
import json
import sys
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

# How long something may take that takes no time, in seconds.
SOON = 60


async def appears(file: Path, text: str) -> None:
    while not file.exists() or text not in file.read_text():
        await asyncio.sleep(0.02)


async def call(client: Client, plan: dict) -> dict:
    heard = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append({"progress": progress, "total": total, "message": message})

    request = asyncio.create_task(
        client.call_tool_mcp("order_openclaw", plan["arguments"], progress_handler=hear)
    )
    sign = plan.get("giveUpWhen")
    if sign:
        await asyncio.wait_for(appears(Path(sign["file"]), sign["has"]), SOON)
        request.cancel()
    try:
        result = await request
    except asyncio.CancelledError:
        return {"givenUp": True, "progress": heard}
    except Exception as error:
        return {"error": str(error), "progress": heard}
    made = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return made | {"progress": heard}


async def main() -> None:
    plan = json.load(sys.stdin)
    server = plan["server"]
    transport = StdioTransport(
        server["command"], server["args"], env=server["env"], keep_alive=False
    )
    async with Client(transport, mode=plan["mode"], init_timeout=SOON) as client:
        tools = await client.list_tools_mcp()
        report = {
            "protocolVersion": client.protocol_version,
            "tools": [tool.model_dump(mode="json", by_alias=True) for tool in tools.tools],
            "calls": [await call(client, each) for each in plan["calls"]],
        }
    print(json.dumps(report))


asyncio.run(main())
