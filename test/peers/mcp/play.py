"""Plays an episode by the tools of a server, with the client of the official SDK or of FastMCP.

Reads {"client": "mcp" or "fastmcp"}, to try the import, and {"url", "seed", "calls": [[name, arguments], ...]}. Prints
{"tools", "texts"}.
"""

import asyncio
import importlib
import json
import sys


async def play(open_session, url, seed, calls):
    async with open_session(f"{url}/mcp") as session:
        listed = await session.list_tools()
        results = [await session.call_tool(name, arguments) for name, arguments in [["start", {"seed": seed}], *calls]]
    tools = [tool.name for tool in getattr(listed, "tools", listed)]
    return {"tools": tools, "texts": [result.content[0].text for result in results]}


request = json.load(sys.stdin)
open_session = importlib.import_module(request.pop("client")).Client
print(json.dumps(asyncio.run(play(open_session, **request)) if request else None))
