"""The HTTP server: on this machine only, behind a random token, for requests that name it as their host."""

from __future__ import annotations

import hmac
import secrets
import select
import socket
import sys
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from paraloom.core.errors import ConfigError
from paraloom.web import limits
from paraloom.web.app import Answer, Pages
from paraloom.web.layout import POLICY
from paraloom.web.limits import AbandonedError, limited
from paraloom.web.parameters import whole_number
from paraloom.web.state import Query
from paraloom.web.templates import draw

ADDRESS = "127.0.0.1"

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MAX_BODY = 65_536
_MAX_FIELDS = 500


class ExploreServer(ThreadingHTTPServer):
    """Serves the pages of one app to the browser of this machine."""

    daemon_threads = True
    # A second server on the same port would get a part of the requests.
    allow_reuse_port = False

    def __init__(self, app: Pages, port: int = 0) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.app = app
        self.token = secrets.token_urlsafe(24)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address to open first, with the token."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Name of the cookie; cookies do not tell ports apart."""
        return f"paraloom_explore_{self.port}"

    def hosts(self) -> frozenset[str]:
        """Values of `Host` that are answered: a name that an attacker points to this machine is not."""
        return frozenset({f"{ADDRESS}:{self.port}", f"localhost:{self.port}"})

    def handle_error(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: tuple[str, int]
    ) -> None:
        """A browser that closes a connection early is not worth a message."""
        if not isinstance(sys.exc_info()[1], (BrokenPipeError, ConnectionResetError)):
            super().handle_error(request, client_address)


def start_server(app: Pages, port: int = 0) -> ExploreServer:
    """Start to listen; `serve_forever` answers."""
    try:
        return ExploreServer(app, port)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"port {port} cannot be used ({error})", remedy="Give another --port.") from None


class _Handler(BaseHTTPRequestHandler):
    server: ExploreServer
    server_version = "paraloom"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        self._respond()

    def do_HEAD(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        form = self._form()
        if isinstance(form, Answer):
            self._send(form)
        else:
            self._respond(form)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is not valid HTTP, or has another method, without repeating it."""
        status = HTTPStatus(code)
        self.close_connection = True
        self._send(_plain(f"{status.phrase}. Send GET, HEAD or POST and an address of the page.", status))

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""

    def _respond(self, form: Query | None = None) -> None:
        target = self._target()
        if isinstance(target, Answer):
            return self._send(target)
        path, query = target
        try:
            with limited(limits.SECONDS, self._has_left):
                answer = self._refusal(query, form is not None) or self._answer(path, query, form)
        except AbandonedError:
            self.close_connection = True
            return None
        except Exception:
            traceback.print_exc(file=sys.stderr)
            answer = _plain("The page failed; the terminal shows why.", HTTPStatus.INTERNAL_SERVER_ERROR)
        return self._send(answer)

    def _target(self) -> tuple[str, Query] | Answer:
        try:
            parts = urlsplit(self.path)
            return parts.path, parse_qs(parts.query, max_num_fields=_MAX_FIELDS)
        except ValueError:
            return _plain(
                f"The address cannot be read. Give a path with up to {_MAX_FIELDS} parameters.", HTTPStatus.BAD_REQUEST
            )

    def _has_left(self) -> bool:
        """True if the browser has closed the connection."""
        poll = select.poll()
        try:
            poll.register(self.connection, select.POLLIN)
            return any(
                event & ~select.POLLIN or not self.connection.recv(1, socket.MSG_PEEK) for _, event in poll.poll(0)
            )
        except (OSError, ValueError):  # ValueError: closed here, too, while the thread that watches looked
            return True

    def _answer(self, path: str, query: Query, form: Query | None) -> Answer:
        if form is not None:
            return self.server.app.post(path, form)
        if "token" in query:
            # The token leaves the address, so that it does not end up in bookmarks and screenshots.  A redirect would
            # not do: after a link from elsewhere, browsers send strict cookies with the next request of the page only.
            rest = [(key, value) for key, values in query.items() if key != "token" for value in values]
            # A browser takes // and /\\ for the start of another host.
            target = "/" + path.lstrip("/\\") + ("?" + urlencode(rest) if rest else "")
            return Answer(draw("redirect", target).encode(), sets_cookie=True)
        return self.server.app.get(path, query)

    def _refusal(self, query: Query, changes: bool) -> Answer | None:
        """Why the request is refused, None if it is not."""
        if self.headers.get("Host", "").lower() not in self.server.hosts():
            return _plain("This page is served to this machine only.", HTTPStatus.FORBIDDEN)
        origin = self.headers.get("Origin")
        if changes and origin not in {f"http://{host}" for host in self.server.hosts()}:
            return _plain("Forms of other pages are not accepted.", HTTPStatus.FORBIDDEN)
        if not self._knows_token(query):
            return _plain(
                "Open the address that `paraloom explore` printed: it has a token that this one lacks.",
                HTTPStatus.FORBIDDEN,
            )
        return None

    def _knows_token(self, query: Query) -> bool:
        given = [*query.get("token", ())][:1]
        # Not by http.cookies: it gives up at cookies of other servers of this machine that it finds odd.
        cookies = (cookie.strip().partition("=") for cookie in self.headers.get("Cookie", "").split(";"))
        given += [value for name, _, value in cookies if name == self.server.cookie]
        expected = self.server.token.encode()
        return any(hmac.compare_digest(value.encode(), expected) for value in given)

    def _form(self) -> Query | Answer:
        # Where the body is not read to its end, its rest would be taken for the next request.
        closes, self.close_connection = self.close_connection, True
        length = self.headers.get("Content-Length")
        if length is None or "Transfer-Encoding" in self.headers:
            return _plain("The form has no Content-Length.", HTTPStatus.LENGTH_REQUIRED)
        size = whole_number(length, 0, _MAX_BODY)
        if size is None:
            return _plain(f"The form has more than {_MAX_BODY:,} bytes.", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        body = self.rfile.read(size)
        try:
            if len(body) < size:
                raise ValueError("the connection was closed")
            form = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            return _plain(f"The form cannot be read. Give up to {_MAX_FIELDS} fields in UTF-8.", HTTPStatus.BAD_REQUEST)
        self.close_connection = closes
        return form

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if answer.location:
            self.send_header("Location", answer.location)
        if answer.sets_cookie:
            cookie = f"{self.server.cookie}={self.server.token}; Path=/; HttpOnly; SameSite=Strict"
            self.send_header("Set-Cookie", cookie)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


def _plain(text: str, status: HTTPStatus) -> Answer:
    return Answer(text.encode(), int(status), "text/plain; charset=utf-8")
