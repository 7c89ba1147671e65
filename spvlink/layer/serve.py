"""The linker process, ``spvlink serve``: answers layers over a socket until nobody asks any more.

One process waits for everything at once and never links: it reads requests, looks into the cache,
and hands what is new to worker processes, forked from it when all modules are imported. So a link
that crashes, hangs or eats memory costs a worker and nothing else. Two clients that want the same
pipeline wait for one link. Only processes of the same user are answered.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import selectors
import signal
import socket
import struct
import time
from collections import OrderedDict, deque

from spvlink.errors import Usage
from spvlink.layer import places, wire, work
from spvlink.layer.store import LayerCache

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

LINK_LIMIT: Final = 60.0  # seconds for one link
MEMORY_LIMIT: Final = 4 << 30  # bytes of address space of a worker
QUEUE_LIMIT: Final = 256 << 20  # bytes of requests that wait
KEPT_LIMIT: Final = 32 << 20  # bytes of answers in memory, for where the disk takes none
PENDING_EVERY: Final = 1.0  # seconds
LINKS_A_WORKER: Final = 500  # then a new one, so that nothing adds up
NICE: Final = 10  # linking stands behind the application, which compiles and draws meanwhile
TROUBLE_LIMIT: Final = 150  # bytes of what the layer's log is to say about our disk
_SIZE: Final = struct.Struct("<I")
_SIZES: Final = struct.Struct("<2I")


class LinkRequest:
    """A link to be done, and who waits for it."""

    __slots__ = ("data", "key", "waiting")

    def __init__(self, key: bytes, data: bytes) -> None:
        self.key = key
        self.data = data
        self.waiting: list[Client] = []


class Client:
    """A connection: one request in, one answer out."""

    __slots__ = ("asked", "closed", "incoming", "outgoing", "socket")

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.incoming = bytearray()
        self.outgoing = b""
        self.asked = False
        self.closed = False


class Worker:
    """A child process that links one request at a time."""

    __slots__ = ("began", "done", "incoming", "job", "outgoing", "pid", "socket")

    def __init__(self, pid: int, connection: socket.socket) -> None:
        self.pid = pid
        self.socket = connection
        self.job: LinkRequest | None = None
        self.began = 0.0
        self.done = 0
        self.incoming = bytearray()
        self.outgoing = b""


class Server:
    """Everything that the process does. ``idle``: seconds without work until it ends, 0: never."""

    def __init__(
        self, path: str, lock: int, identity: bytes, store: LayerCache, idle: float, workers: int
    ) -> None:
        self.path = path
        self.lock = lock
        self.identity = identity
        self.store = store
        self.idle = idle
        self.most_workers = workers
        self.selector = selectors.DefaultSelector()
        self.clients: set[Client] = set()
        self.workers: list[Worker] = []
        self.jobs: dict[bytes, LinkRequest] = {}  # waiting or being done
        self.queue: deque[LinkRequest] = deque()
        self.later: deque[LinkRequest] = deque()  # of requests that were left behind
        self.queued = 0  # bytes
        self.kept: OrderedDict[bytes, bytes] = OrderedDict()
        self.kept_size = 0
        self.busy_at = time.monotonic()
        self.look_at = 0.0  # for requests that were left behind
        self.ending = False
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    # -- the loop ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until idle or ended by a signal."""
        fresh = f"{os.path.splitext(self.path)[0]}.new"
        _remove(fresh)  # of a process that was killed: we hold the lock
        self.listener.bind(fresh)
        self.listener.listen(128)
        os.replace(fresh, self.path)  # a client that finds it there is not refused
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        while not self.finished():
            self.look_for_pending()
            for key, mask in self.selector.select(self.timeout()):
                key.data(mask)
            self.watch_time()
            self.give_work()
        _remove(self.path)
        for worker in self.workers:
            worker.socket.close()  # it ends when it reads that

    def finished(self) -> bool:
        if self.clients or self.jobs:
            self.busy_at = time.monotonic()
            return self.ending
        return self.ending or (self.idle > 0 and time.monotonic() - self.busy_at > self.idle)

    def timeout(self) -> float:
        if any(worker.job for worker in self.workers):
            return 0.5  # for `watch_time`
        return PENDING_EVERY if self.idle <= 0 else min(PENDING_EVERY, max(0.01, self.idle / 4))

    def look_for_pending(self) -> None:
        """Now and then: who could not reach us yet may leave a request while we are starting."""
        now = time.monotonic()
        if now < self.look_at:
            return
        self.look_at = now + PENDING_EVERY
        for data in self.store.pending():
            with contextlib.suppress(wire.ProtocolError):
                self.take(data, None)

    def end(self, *_: object) -> None:
        self.ending = True

    # -- clients -----------------------------------------------------------------------------------

    def accept(self, _: int) -> None:
        try:
            connection, _address = self.listener.accept()
        except OSError:
            return
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", raw)[1] != os.geteuid():
            connection.close()
            return
        connection.setblocking(False)
        client = Client(connection)
        self.clients.add(client)
        self.selector.register(
            connection, selectors.EVENT_READ, lambda mask: self.talk(client, mask)
        )

    def talk(self, client: Client, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self.send(client)
        if not mask & selectors.EVENT_READ or client.closed:
            return
        try:
            data = client.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.drop(client)  # its link goes on: the answer is for the next time
            return
        client.incoming += data
        try:
            if len(client.incoming) < 8 or client.asked:
                return
            if len(client.incoming) >= wire.request_size(bytes(client.incoming[:8])):
                client.asked = True
                self.take(bytes(client.incoming), client)
                client.incoming.clear()
        except wire.ProtocolError:
            self.drop(client)

    def take(self, data: bytes, client: Client | None) -> None:
        """A whole request; ``client`` waits for the answer. Raises ProtocolError."""
        if len(data) < 12 or len(data) != wire.request_size(data):
            raise wire.ProtocolError("more than a request")
        key, identity = wire.read_key(data)
        answer = self.store.get(key)
        if answer is None and key in self.kept:
            answer = self.kept[key]
            self.store.put(key, answer)  # it was damaged or pruned, or the disk was full
        if identity != self.identity:
            answer = wire.write_answer(key, wire.NOT_NOW, "asked for another version of spvlink")
        if answer is None and key not in self.jobs:
            if self.queued + len(data) > QUEUE_LIMIT:
                answer = wire.write_answer(key, wire.NOT_NOW, "the linker process is busy")
            else:
                self.jobs[key] = LinkRequest(key, data)
                (self.queue if client is not None else self.later).append(self.jobs[key])
                self.queued += len(data)
        if client is None:
            return
        if answer is not None:
            self.reply(client, answer)
        else:
            self.jobs[key].waiting.append(client)

    def reply(self, client: Client, answer: bytes) -> None:
        if client.closed:
            return
        trouble = self.store.trouble.encode("utf-8", "replace")[:TROUBLE_LIMIT]
        client.outgoing = _SIZES.pack(len(answer), len(trouble)) + answer + trouble
        self.send(client)

    def send(self, client: Client) -> None:
        try:
            sent = client.socket.send(client.outgoing)
        except BlockingIOError:
            sent = 0
        except OSError:
            self.drop(client)
            return
        client.outgoing = client.outgoing[sent:]
        if not client.outgoing:
            self.drop(client)
            return
        both = selectors.EVENT_READ | selectors.EVENT_WRITE
        self.selector.modify(client.socket, both, lambda mask: self.talk(client, mask))

    def drop(self, client: Client) -> None:
        if not client.closed:
            client.closed = True
            self.selector.unregister(client.socket)
            client.socket.close()
            self.clients.discard(client)

    # -- workers -----------------------------------------------------------------------------------

    def give_work(self) -> None:
        while self.queue or self.later:
            free = next((w for w in self.workers if w.job is None), None)
            if free is None:
                if len(self.workers) >= self.most_workers:
                    return
                free = self.fork()
            job = (self.queue or self.later).popleft()
            self.queued -= len(job.data)
            free.job, free.began = job, time.monotonic()
            free.outgoing = _SIZE.pack(len(job.data)) + job.data
            self.feed(free)

    def feed(self, worker: Worker) -> None:
        try:
            sent = worker.socket.send(worker.outgoing)
            worker.outgoing = worker.outgoing[sent:]
        except BlockingIOError:
            pass
        except OSError:
            worker.outgoing = b""  # it died: reading will tell
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outgoing else 0)
        self.selector.modify(worker.socket, mask, lambda m: self.hear(worker, m))

    def hear(self, worker: Worker, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self.feed(worker)
        if not mask & selectors.EVENT_READ:
            return
        try:
            data = worker.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.bury(worker, "the linker process died at it")
            return
        worker.incoming += data
        if len(worker.incoming) < 4:
            return
        size = _SIZE.unpack(bytes(worker.incoming[:4]))[0]
        if len(worker.incoming) < size + 4:
            return
        answer = bytes(worker.incoming[4:])
        worker.incoming.clear()
        job, worker.job = worker.job, None
        worker.done += 1
        if job is not None:
            if wire.status_of(answer) != wire.NOT_NOW:
                self.store.put(job.key, answer)
            self.finish(job, answer)
        if worker.done >= LINKS_A_WORKER:
            self.bury(worker, "")

    def finish(self, job: LinkRequest, answer: bytes) -> None:
        self.jobs.pop(job.key, None)
        if wire.status_of(answer) != wire.NOT_NOW:
            self.kept[job.key] = answer
            self.kept_size += len(answer)
            while self.kept_size > KEPT_LIMIT:
                self.kept_size -= len(self.kept.popitem(last=False)[1])
        for client in job.waiting:
            self.reply(client, answer)

    def bury(self, worker: Worker, reason: str) -> None:
        """End a worker; the job it had is answered with the reason, which is not kept on disk."""
        self.workers.remove(worker)
        self.selector.unregister(worker.socket)
        worker.socket.close()
        with contextlib.suppress(OSError):
            os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
        if worker.job is not None:
            answer = wire.write_answer(worker.job.key, wire.PASSED_THROUGH, reason)
            self.finish(worker.job, answer)

    def watch_time(self) -> None:
        late = time.monotonic() - LINK_LIMIT
        for worker in [w for w in self.workers if w.job is not None and w.began < late]:
            self.bury(worker, f"linking took more than {LINK_LIMIT:g} s")

    def fork(self) -> Worker:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            ours.close()
            self.selector.close()
            self.listener.close()
            os.close(self.lock)  # it must not outlive the server
            for client in self.clients:
                client.socket.close()
            for other in self.workers:
                other.socket.close()
            _work(theirs)
        theirs.close()
        ours.setblocking(False)
        worker = Worker(pid, ours)
        self.workers.append(worker)
        self.selector.register(ours, selectors.EVENT_READ, lambda mask: self.hear(worker, mask))
        return worker


def _work(connection: socket.socket) -> None:
    """The life of a worker; does not return."""
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.nice(max(0, NICE - os.nice(0)))  # the layer starts all of us so
        _limit_memory()
        with connection.makefile("rwb") as stream:
            while len(head := stream.read(4)) == 4:
                answer = work.answer(stream.read(_SIZE.unpack(head)[0]))
                stream.write(_SIZE.pack(len(answer)) + answer)
                stream.flush()
        status = 0
    finally:
        os._exit(status)


def _limit_memory() -> None:
    """The application that started us may have set a lower limit, which nobody may raise."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_LIMIT if hard == resource.RLIM_INFINITY else min(MEMORY_LIMIT, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def serve(cache: str, cache_mb: int, idle: float, workers: int) -> bool:
    """Be the linker process for this cache folder. False if there is one already; then nothing is
    done. Raises Usage if the socket cannot be made."""
    identity = places.identity(cache)
    path = places.socket(identity, cache)
    lock = os.open(path.removesuffix(".socket") + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        os.umask(0o077)
        os.truncate(lock, 0)
        os.write(lock, b"%d" % os.getpid())
        store = LayerCache(cache, cache_mb << 20)
        store.note(places.NOTE, places.validator(cache))
        server = Server(path, lock, identity, store, idle, workers)
        signal.signal(signal.SIGTERM, server.end)
        signal.signal(signal.SIGINT, server.end)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        if places.identity(cache) != identity:  # it was being upgraded while we imported it
            raise Usage("spvlink changed while it started")
        server.run()
    except OSError as error:
        raise Usage(f"{path}: {error.strerror}") from None
    finally:
        os.close(lock)
    return True
