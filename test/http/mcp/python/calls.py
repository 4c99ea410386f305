"""Connects with the MCP client for Python and makes calls: calls.py URL MODE [[tool, arguments], ...]. Prints JSON."""

import asyncio
import json
import sys

from mcp import Client


async def main() -> None:
    url, mode, calls = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    async with Client(url, mode=mode) as client:
        tools = (await client.list_tools()).tools
        results = []
        for name, arguments in calls:
            # The client validates it against the tool's output schema.
            result = await client.call_tool(name, arguments)
            results.append({"error": bool(result.is_error), "data": result.structured_content})
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "server": client.server_info.name,
                    "tools": [tool.name for tool in tools],
                    "results": results,
                }
            )
        )


asyncio.run(main())
