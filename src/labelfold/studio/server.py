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
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelfold.exceptions import InputError
from labelfold.plotting.interactive_map import page_file, viewer_markup
from labelfold.studio.exports import EXPORTS
from labelfold.studio.journal import NotSavedError
from labelfold.studio.session import Session

__all__ = ["Server"]

LARGEST_BODY = 8_000_000  # bytes: a million rows
LONGEST_SEARCH = 1_000  # characters
MOST_CARDS = 500
TYPES = {"js": "text/javascript", "css": "text/css"}
BINARY = "application/octet-stream"
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
    """A server of one session, on a free port."""

    def __init__(self, session: Session, host: str = "127.0.0.1") -> None:
        self.session, token = session, secrets.token_urlsafe(24)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, 0), family=family)
        port = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{port}/{token}/"
        hosts = {f"{name}:{port}" for name in (shown, "localhost", "127.0.0.1", "[::1]")}
        page = _Page(session, lambda: self._server.should_exit)
        config = uvicorn.Config(
            _Guard(page.app(), token, hosts),
            log_level="error",
            proxy_headers=False,
            access_log=False,  # it would hold the token
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
            with suppress(KeyboardInterrupt):  # the usual end
                self._server.run(sockets=[self._socket])
        finally:
            self.session.stop()

    def stop(self) -> None:
        """End :meth:`run` from another thread."""
        self._server.should_exit = True


class _Guard:
    """Lets requests through that have the token, and come from pages of this server."""

    def __init__(self, app: ASGIApp, token: str, hosts: set[str]) -> None:
        self.app, self.token, self.hosts = app, token.encode(), hosts
        self.origins = {f"http://{host}" for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] += [one for one in more if one[0] not in names]
            await send(message)

        refusal = self._check(scope)
        rest = scope["path"][1:].partition("/")[2]
        app = refusal or self.app
        await app({**scope, "path": f"/{rest}", "raw_path": None}, receive, send_with_headers)

    def _check(self, scope: Scope) -> Response | None:
        given: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name, []).append(value.decode("latin-1"))
        first, slash, _ = scope["path"][1:].partition("/")
        # Encoded, since a comparison of text takes ASCII only.
        has_token = hmac.compare_digest(first.encode("utf-8", "surrogatepass"), self.token)
        host = given.get(b"host", [])
        is_foreign = any(one not in self.origins for one in given.get(b"origin", []))
        sites = given.get(b"sec-fetch-site", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return _refuse(403, "This server answers under its own name only.")
        if is_foreign or any(one not in ("none", "same-origin") for one in sites):
            return _refuse(403, "This server answers its own pages only.")
        if not has_token or not slash:
            return _refuse(403, "Open the address that labelfold printed: it has a token.")
        length = given.get(b"content-length", ["0"])[-1]
        if length.isascii() and length.isdigit() and int(length) > LARGEST_BODY:
            return _refuse(413, f"A request has at most {LARGEST_BODY:,} bytes.")
        return None


def _refuse(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status)


class _Page:
    """What requests are answered with. Methods that are not async run in threads."""

    def __init__(self, session: Session, is_ending: Callable[[], bool]) -> None:
        self.session, self.is_ending = session, is_ending

    def app(self) -> ASGIApp:
        session, routes = self.session, [Route("/", self.index), Route("/{name}", self.file)]
        for name, get in (
            ("state", lambda request: JSONResponse(session.state())),
            ("queue", lambda request: JSONResponse(session.queue())),
            ("suspects", lambda request: JSONResponse(session.suspects())),
            ("changes", self.changes),
            ("map", self.map),
            ("search", self.search),
            ("image/{row:int}", self.image),
            ("export/{name}", self.export),
        ):
            routes.append(Route(f"/api/{name}", get))
        for name, post in (
            ("label", self.label),
            ("undo", lambda given: session.step("undo")),
            ("redo", lambda given: session.step("redo")),
            ("freeze", lambda given: session.freeze(given.get("isFrozen") is True)),
            ("cards", self.cards),
        ):
            routes.append(Route(f"/api/{name}", self.answering(post), methods=["POST"]))
        handlers: dict[Any, Callable[[Request, Any], Response]] = {
            InputError: lambda request, error: _refuse(400, str(error)),
            NotSavedError: lambda request, error: _refuse(507, str(error)),
            ClientDisconnect: lambda request, error: _refuse(400, "The request was cut short."),
        }
        return Starlette(routes=routes, exception_handlers=handlers)

    def answering(self, act: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
        """Return a handler that answers with what a function of the body returns, or the state."""

        async def answer(request: Request) -> Response:
            given = await _read_json(request)
            found = await run_in_threadpool(lambda: act(given) or self.session.state())
            return JSONResponse(found)

        return answer

    def index(self, request: Request) -> Response:
        markup = viewer_markup(self.session.title, "")
        page = _own_file("studio.html").replace("<!-- viewer -->", markup)
        return Response(page, media_type="text/html; charset=utf-8")

    def file(self, request: Request) -> Response:
        """Return a script or style of this page or of the viewer."""
        name, _, ending = request.path_params["name"].rpartition(".")
        for read in (_own_file, page_file) if name.isalnum() and ending in TYPES else ():
            with suppress(FileNotFoundError):
                text = read(f"{name}.{ending}")
                return Response(text, media_type=f"{TYPES[ending]}; charset=utf-8")
        return _refuse(404, "There is no such file.")

    async def changes(self, request: Request) -> Response:
        """Stream the state, at once and whenever it changes."""
        return StreamingResponse(self.follow(), media_type="text/event-stream")

    async def follow(self) -> AsyncIterator[str]:
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

    def map(self, request: Request) -> Response:
        with_details = request.query_params.get("details") == "1"
        return Response(self.session.map_block(with_details=with_details), media_type=BINARY)

    def label(self, given: dict[str, Any]) -> None:
        rows = _check_rows(given, self.session.n_rows)
        action, source = given.get("action", "label"), given.get("source", "map")
        self.session.act(action, rows, given.get("label"), source)

    def cards(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        rows = _check_rows(given, self.session.n_rows)
        if not 0 < len(rows) <= MOST_CARDS:
            raise InputError(f"Ask for 1 to {MOST_CARDS} cards.")
        return self.session.cards(rows)

    def search(self, request: Request) -> Response:
        text = request.query_params.get("text", "")
        if len(text) > LONGEST_SEARCH:
            raise InputError(f"A search has at most {LONGEST_SEARCH:,} characters.")
        return Response(self.session.find(text).tobytes(), media_type=BINARY)

    def image(self, request: Request) -> Response:
        row, images = request.path_params["row"], self.session.rows.images
        found = images.get(row) if images is not None and row < self.session.n_rows else None
        if found is None:
            return _refuse(404, "There is no image of this row.")
        # The image of a row does not change while the server runs.
        headers = {"cache-control": "private, max-age=86400, immutable"}
        return Response(found[0], media_type=found[1], headers=headers)

    def export(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in EXPORTS:
            return _refuse(404, "There is no such export.")
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            EXPORTS[name](self.session, path)
            headers = {"content-disposition": f'attachment; filename="{name}"'}
            return Response(path.read_bytes(), media_type=BINARY, headers=headers)


def _own_file(name: str) -> str:
    return resources.files("labelfold.studio").joinpath("page", name).read_text(encoding="utf-8")


async def _read_json(request: Request) -> dict[str, Any]:
    """Return the body as an object, of limited size however it was sent."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise InputError(f"A request has at most {LARGEST_BODY:,} bytes.")
    given: Any = None
    with suppress(ValueError, RecursionError):
        given = json.loads(body)
    if not isinstance(given, dict):
        raise InputError("The request must be a JSON object.")
    return given


def _check_rows(given: dict[str, Any], n_rows: int) -> list[int]:
    rows = given.get("rows")
    if not isinstance(rows, list) or any(type(one) is not int for one in rows):
        raise InputError("rows must be a list of row numbers from 0.")
    if rows and not 0 <= min(rows) <= max(rows) < n_rows:
        raise InputError(f"rows must be from 0 to {n_rows - 1:,}.")
    return rows
