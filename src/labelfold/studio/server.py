"""The server of the labeling page: HTTP on this machine, for whoever has the token.

The token is the first part of every path, so all that the page loads or sends carries it, and no
cookie has to. Host and Origin are checked as well: a site that points its own name at this machine
(DNS rebinding), or that sends requests from its pages, gets nothing. The content security policy
lets pages run the scripts of this server only.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelfold.exceptions import InputError
from labelfold.plotting.interactive_map import page_file, viewer_markup
from labelfold.studio import exports
from labelfold.studio.journal import NotSavedError
from labelfold.studio.session import Session

__all__ = ["Server", "make_app"]

LARGEST_BODY = 8_000_000  # bytes: a million rows
LONGEST_SEARCH = 1_000  # characters
MOST_CARDS = 500
TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html"}
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Server:
    """A server of one session on a port of its own."""

    def __init__(self, session: Session, host: str = "127.0.0.1", port: int = 0) -> None:
        self.session, self.token = session, secrets.token_urlsafe(24)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        self.port = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}/{self.token}/"
        hosts = {f"{name}:{self.port}" for name in (shown, "localhost", "127.0.0.1", "[::1]")}
        config = uvicorn.Config(
            make_app(session, self.token, hosts, lambda: self._server.should_exit),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=5,
            lifespan="off",
            ws="none",
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until Ctrl-C, or until :meth:`stop` is called."""
        self.session.start()
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass  # the usual end
        finally:
            self.session.stop()

    def stop(self) -> None:
        """End :meth:`run` from another thread."""
        self._server.should_exit = True


def make_app(
    session: Session, token: str, hosts: set[str], is_ending: Callable[[], bool]
) -> ASGIApp:
    """Return the application, which answers requests to these hosts with this token."""
    page = _Page(session, is_ending)
    routes = [
        Route("/", page.index),
        Route("/{name}.{ending}", page.file),
        Route("/api/state", page.state),
        Route("/api/changes", page.changes),
        Route("/api/map", page.map),
        Route("/api/label", page.label, methods=["POST"]),
        Route("/api/undo", page.step, methods=["POST"]),
        Route("/api/redo", page.step, methods=["POST"]),
        Route("/api/freeze", page.freeze, methods=["POST"]),
        Route("/api/cards", page.cards, methods=["POST"]),
        Route("/api/queue", page.queue),
        Route("/api/suspects", page.suspects),
        Route("/api/search", page.search),
        Route("/api/image/{row:int}", page.image),
        Route("/api/export/{name}", page.export),
    ]
    handlers: dict[Any, Callable[[Request, Any], Response]] = {
        InputError: lambda request, error: _refusal(400, str(error)),
        NotSavedError: lambda request, error: _refusal(507, str(error)),
    }
    return _Guard(Starlette(routes=routes, exception_handlers=handlers), token, hosts)


class _Guard:
    """Lets requests through that have the token, and come from pages of this server."""

    def __init__(self, app: ASGIApp, token: str, hosts: set[str]) -> None:
        self.app, self.token, self.hosts = app, token.encode(), hosts
        self.origins = {f"http://{host}" for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._check(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        _, _, rest = scope["path"][1:].partition("/")
        inner = {**scope, "path": f"/{rest}", "raw_path": None}
        await self.app(inner, receive, _with_headers(send))

    def _check(self, scope: Scope) -> Response | None:
        given: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name, []).append(value.decode("latin-1"))
        first, slash, _ = scope["path"][1:].partition("/")
        # Encoded, since a comparison of text takes ASCII only.
        has_token = hmac.compare_digest(first.encode("utf-8", "surrogatepass"), self.token)
        hosts, origins = given.get(b"host", []), given.get(b"origin", [])
        site = given.get(b"sec-fetch-site", ["none"])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _refusal(403, "This server answers under its own name only.")
        if any(one not in self.origins for one in origins):
            return _refusal(403, "This server answers its own pages only.")
        if any(one not in ("none", "same-origin") for one in site):
            return _refusal(403, "This server answers its own pages only.")
        if not has_token or not slash:
            return _refusal(403, "Open the address that labelfold printed: it has a token.")
        length = given.get(b"content-length", ["0"])[-1]
        if length.isascii() and length.isdigit() and int(length) > LARGEST_BODY:
            return _refusal(413, f"A request has at most {LARGEST_BODY:,} bytes.")
        return None


def _with_headers(send: Send) -> Send:
    """Return a send that adds the headers of every answer."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] += [one for one in more if one[0] not in names]
        await send(message)

    return send_with_headers


def _refusal(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status)


class _Page:
    """What requests are answered with."""

    def __init__(self, session: Session, is_ending: Callable[[], bool]) -> None:
        self.session, self.is_ending = session, is_ending

    async def index(self, request: Request) -> Response:
        page = _own_file("studio.html").replace("<!-- viewer -->", viewer_markup(self.session.title, ""))
        return Response(page, media_type="text/html; charset=utf-8")

    async def file(self, request: Request) -> Response:
        """Return a script or style of this page or of the viewer."""
        name, ending = request.path_params["name"], request.path_params["ending"]
        if not name.isalpha() or not name.isascii() or ending not in ("js", "css"):
            return _refusal(404, "There is no such file.")
        for read in (_own_file, page_file):
            try:
                text = read(f"{name}.{ending}")
            except FileNotFoundError:
                continue
            return Response(text, media_type=f"{TYPES[ending]}; charset=utf-8")
        return _refusal(404, "There is no such file.")

    async def state(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.session.state))

    async def changes(self, request: Request) -> Response:
        """Stream the state, at once and whenever it changes."""
        return StreamingResponse(self._follow(), media_type="text/event-stream")

    async def _follow(self) -> AsyncIterator[str]:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def listener() -> None:
            loop.call_soon_threadsafe(changed.set)

        self.session.listeners.append(listener)
        try:
            while not self.is_ending():
                changed.clear()
                yield f"data: {json.dumps(await run_in_threadpool(self.session.state))}\n\n"
                while not changed.is_set() and not self.is_ending():
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.5)
        finally:
            self.session.listeners.remove(listener)

    async def map(self, request: Request) -> Response:
        with_details = request.query_params.get("details") == "1"
        block = await run_in_threadpool(self.session.map_block, with_details=with_details)
        return Response(block, media_type="application/octet-stream")

    async def label(self, request: Request) -> Response:
        given = await _read_json(request)
        rows = _check_rows(given.get("rows"), self.session.n_rows)
        action, source = given.get("action", "label"), given.get("source", "map")
        await run_in_threadpool(self.session.act, action, rows, given.get("label"), source)
        return await self.state(request)

    async def step(self, request: Request) -> Response:
        action = request.url.path.rpartition("/")[2]
        await run_in_threadpool(self.session.step, action)
        return await self.state(request)

    async def freeze(self, request: Request) -> Response:
        is_frozen = (await _read_json(request)).get("isFrozen")
        if not isinstance(is_frozen, bool):
            raise InputError("isFrozen must be true or false.")
        await run_in_threadpool(self.session.freeze, is_frozen)
        return await self.state(request)

    async def cards(self, request: Request) -> Response:
        rows = _check_rows((await _read_json(request)).get("rows"), self.session.n_rows)
        if len(rows) > MOST_CARDS:
            raise InputError(f"At most {MOST_CARDS} cards are shown at a time.")
        return JSONResponse(await run_in_threadpool(self.session.cards, rows))

    async def queue(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.session.queue))

    async def suspects(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.session.suspects))

    async def search(self, request: Request) -> Response:
        text = request.query_params.get("text", "")
        if len(text) > LONGEST_SEARCH:
            raise InputError(f"A search has at most {LONGEST_SEARCH:,} characters.")
        found = await run_in_threadpool(self.session.find, text)
        return Response(found.tobytes(), media_type="application/octet-stream")

    async def image(self, request: Request) -> Response:
        row, images = request.path_params["row"], self.session.rows.images
        found = None
        if images is not None and row < self.session.n_rows:
            found = await run_in_threadpool(images.get, row)
        if found is None:
            return _refusal(404, "There is no image of this row.")
        content, kind = found
        # The image of a row does not change while the server runs.
        headers = {"cache-control": "private, max-age=86400, immutable"}
        return Response(content, media_type=kind, headers=headers)

    async def export(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in exports.EXPORTS:
            return _refusal(404, "There is no such export.")
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            await run_in_threadpool(exports.write, self.session, path)
            content = await run_in_threadpool(path.read_bytes)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)


def _own_file(name: str) -> str:
    source = resources.files("labelfold.studio").joinpath("page", name)
    return source.read_text(encoding="utf-8")


async def _read_json(request: Request) -> dict[str, Any]:
    """Return the body as an object, of limited size however it was sent."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise InputError(f"A request has at most {LARGEST_BODY:,} bytes.")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InputError("The request must be a JSON object.")
    return given


def _check_rows(given: Any, n_rows: int) -> list[int]:
    if not isinstance(given, list):
        raise InputError("rows must be a list of row numbers from 0.")
    for one in given:
        if type(one) is not int or not 0 <= one < n_rows:
            raise InputError(f"rows must be whole numbers from 0 to {n_rows - 1:,}.")
    return given
