#!/usr/bin/env python3
"""An MCP server that lets coding agents search the mirrored repositories: `server.py REPOS --host ADDRESS`."""

from __future__ import annotations

import argparse
import contextlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

try:
    import uvicorn
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.transport_security import TransportSecuritySettings
    from pydantic import Field
    from repositories import MAX_CONTEXT, MAX_LINES, MAX_MATCHES, Repositories, RequestError, SetupError
except ModuleNotFoundError as error:
    print(f"this Python lacks {error.name}: pip install -e '.[example]' in the checkout", file=sys.stderr)
    raise SystemExit(2) from None

NAME = "code-search"
PATH = "/mcp"
HOST_NAMES = ("localhost", "127.0.0.1", "host.docker.internal")
"""Names by which the server may be called besides the address it listens on."""

AT_HAND = {"anthropic/alwaysLoad": True}
"""Claude Code otherwise shows a model the names of MCP tools only, which it must look up before it can call them."""

Glob = Annotated[str, Field(description="Glob for file paths, such as *.py or src/; empty for all files")]


def build(repositories: Repositories) -> MCPServer:
    """Return the server with its three tools."""
    server: MCPServer = MCPServer(
        NAME,
        instructions="Search and read source code repositories. list_repos names them; the others take its names.",
        log_level="WARNING",
    )

    @server.tool(structured_output=False, meta=AT_HAND)
    def list_repos(path: Glob = "") -> str:
        """List the repositories, with language and number of files. With a path, only those that have such a file."""
        with _told():
            return repositories.list_repos(path)

    @server.tool(structured_output=False, meta=AT_HAND)
    def search(
        pattern: Annotated[str, Field(description="Regular expression (RE2 syntax), matched within lines")],
        repo: Annotated[str, Field(description="Name of the only repository to search; empty for all")] = "",
        path: Glob = "",
        literal: Annotated[bool, Field(description="Take the pattern as plain text")] = False,
        ignore_case: Annotated[bool, Field(description="Take upper and lower case as the same")] = False,
        context: Annotated[int, Field(description=f"Lines before and after a match, up to {MAX_CONTEXT}")] = 0,
        limit: Annotated[int, Field(description=f"Matching lines at most, up to {MAX_MATCHES}")] = 50,
    ) -> str:
        """Search file contents, like ripgrep. Matches come as repository/path:line:text."""
        with _told():
            return repositories.search(
                pattern,
                repo=repo,
                path=path,
                literal=literal,
                ignore_case=ignore_case,
                context=context,
                limit=limit,
            )

    @server.tool(structured_output=False, meta=AT_HAND)
    def read_file(
        repo: Annotated[str, Field(description="Name of the repository")],
        path: Annotated[str, Field(description="Path of the file in the repository")],
        first: Annotated[int, Field(description="First line, from 1")] = 1,
        last: Annotated[int | None, Field(description=f"Last line; at most {MAX_LINES} lines are returned")] = None,
    ) -> str:
        """Read lines of a file, with their numbers."""
        with _told():
            return repositories.read_file(repo, path, first, last)

    return server


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Hand the reason of a refusal to the agent; of any other exception it would be told nothing."""
    try:
        yield
    except RequestError as error:
        raise ToolError(str(error)) from None


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("repos", type=Path, help="folder that run_adapter.py --mirror_repos wrote")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8765, help="port (default: 8765; 0 for any free one)")
    options = parser.parse_args(argv)
    if not options.host:
        print("--host is empty, which means every interface: name an address (README.md here)", file=sys.stderr)
        return 2
    try:
        repositories = Repositories.load(options.repos)
        listening = socket.create_server((options.host, options.port))
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, OverflowError) as error:
        print(f"{options.host}:{options.port}: cannot listen there: {error}; see --host and --port", file=sys.stderr)
        return 2
    app = build(repositories).streamable_http_app(
        streamable_http_path=PATH,
        # No sessions: a server that is started again serves the agents that it served before.
        stateless_http=True,
        json_response=True,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:*" for name in {options.host, *HOST_NAMES}]
        ),
    )
    port = listening.getsockname()[1]
    print(
        f"{NAME}: {len(repositories)} repositories, {repositories.files_count} files at http://{options.host}:{port}{PATH}",
        flush=True,
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn passes it on once it has ended
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
    return 0


if __name__ == "__main__":
    sys.exit(main())
