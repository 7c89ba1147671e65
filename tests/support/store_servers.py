"""Servers on the loopback interface for ``--store``: one of the plain web, one like S3 that checks
signatures. Both may be told to misbehave."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PASSWORD = "Basic c29tZWJvZHk6c2VjcmV0"  # somebody:secret
KEYS = ("spvlink-test", "not a secret")  # of S3
REGION = "somewhere-1"
SERVICE = f"{REGION}/s3/aws4_request"


class StoreServer(ThreadingHTTPServer):
    """Keeps what is put, by its path. ``trouble``: what goes wrong with requests of a method, by
    that method's name: a status, "hang", "drip" (an answer without end) or "huge" (an answer that
    says so). ``delay``: seconds for each answer. ``last``: the number of the last request that gets
    an answer. ``most``: requests that were under way at once."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, signed: bool) -> None:
        self.signed = signed
        self.objects: dict[str, bytes] = {}
        self.trouble: dict[str, int | str] = {}
        self.delay = 0.0
        self.password = ""
        self.requests = self.refused = self.most = self.now = 0
        self.last = 1 << 60
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Answer)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that left early is no news."""


class _Answer(BaseHTTPRequestHandler):
    server: StoreServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet an answer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        with self._counted():
            if not self._in_order(b""):
                return
            data = self.server.objects.get(self.path)
            self._answer(404 if data is None else 200, data or b"")

    def do_PUT(self) -> None:
        with self._counted():
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self._in_order(body):
                self.server.objects[self.path] = body
                self._answer(201 if not self.server.signed else 200, b"")

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        server = self.server
        with server.lock:
            server.requests += 1
            server.now += 1
            server.most = max(server.most, server.now)
        try:
            time.sleep(server.delay)
            if server.requests > server.last:
                raise ConnectionAbortedError
            yield
        finally:
            with server.lock:
                server.now -= 1

    def _in_order(self, body: bytes) -> bool:
        """Whether nothing is to go wrong; else it has been done."""
        trouble = self.server.trouble.get(self.command)
        if trouble is None:
            given = self.headers.get("Authorization", "")
            if self.server.signed:
                good = hmac.compare_digest(given, self._signature(given, body))
            else:
                good = given == self.server.password
            if good:
                return True
            self.server.refused += 1
            trouble = 403
        if isinstance(trouble, int):
            self._answer(trouble, b"<Error>\n<Code>no</Code>\n</Error>\n")
        elif trouble == "hang":
            time.sleep(600)
        else:
            self.send_response(200)
            self.send_header("Content-Length", "1000000" if trouble == "drip" else "999999999999")
            self.end_headers()
            for _ in range(10000):
                self.wfile.write(b"spvlink-store 1\n")
                self.wfile.flush()
                time.sleep(0.05)
        return False

    def _answer(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{hashlib.md5(data).hexdigest()}"')
        self.send_header("Last-Modified", "Sat, 28 Nov 2026 12:00:00 GMT")
        self.end_headers()
        self.wfile.write(data)

    def _signature(self, given: str, body: bytes) -> str:
        """What "Authorization" has to be, by Amazon's signature, version 4."""
        names = given.partition("SignedHeaders=")[2].partition(",")[0].strip()
        sent = self.headers.get("x-amz-content-sha256", "")
        if sent != "UNSIGNED-PAYLOAD" and sent != hashlib.sha256(body).hexdigest():
            return "the digest of the content is wrong"
        path, _, query = self.path.partition("?")
        lines = [f"{name}:{self.headers.get(name, '').strip()}" for name in names.split(";")]
        request = "\n".join([self.command, path, query, *lines, "", names, sent])
        date = self.headers.get("x-amz-date", "")
        scope = f"{date[:8]}/{SERVICE}"
        digest = hashlib.sha256(request.encode()).hexdigest()
        text = "\n".join(["AWS4-HMAC-SHA256", date, scope, digest])
        key = f"AWS4{KEYS[1]}".encode()
        for part in [date[:8], *SERVICE.split("/"), text]:
            key = hmac.digest(key, part.encode(), "sha256")
        who = f"Credential={KEYS[0]}/{scope}"
        return f"AWS4-HMAC-SHA256 {who}, SignedHeaders={names}, Signature={key.hex()}"


@contextlib.contextmanager
def store_server(signed: bool = False) -> Iterator[StoreServer]:
    """A server that runs until the end. ``signed``: it is like S3."""
    server = StoreServer(signed)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def variables_of_s3(server: StoreServer) -> dict[str, str]:
    """The environment in which a client finds a server that is like S3."""
    return {
        "AWS_ACCESS_KEY_ID": KEYS[0],
        "AWS_SECRET_ACCESS_KEY": KEYS[1],
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": server.address,
        "NO_PROXY": "127.0.0.1",
    }
