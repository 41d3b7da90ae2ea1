"""Socket Mode's connections: tickets, sockets, envelopes out, acks in.

`apps.connections.open` hands out a ticket that opens one socket once. Each envelope goes to one of the open sockets, in turn, and counts as
acknowledged when its id comes back, on whichever socket, within three seconds. What an unheard event means is `delivery`'s business.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import WSMsgType, web

from bot.workspace.clock import Clock
from bot.workspace.faults import Faults
from bot.workspace.log import WireLog
from bot.workspace.records import APP_ID, Json

ACK_S = 3.0
MOST_SOCKETS = 10
LIFETIME_S = 18_060
CLOSE_S = 0.2  # a client that does not answer the closing handshake is not waited for
LARGEST_FRAME = 16 * 2**20


@dataclass(frozen=True)
class Envelope:
    """One frame that was sent, and the ack that it waits for."""

    id: str
    ack: asyncio.Future[Json]


@dataclass(frozen=True)
class Reply:
    """What became of a command, a click or a submission."""

    acked: bool
    ack_ms: float | None
    payload: Json | None
    trouble: str | None = None  # dispatch_failed (no socket), operation_timeout (no ack in time)


class Sockets:
    """The bot's open connections."""

    def __init__(self, *, clock: Clock, log: WireLog, faults: Faults, new_id: Callable[[str], str]) -> None:
        self._clock, self._log, self._faults, self._new_id = clock, log, faults, new_id
        self._tickets: set[str] = set()
        self._open: list[web.WebSocketResponse] = []
        self._turn = 0
        self._waiting: dict[str, tuple[Envelope, Json]] = {}
        self._connect_listeners: list[Callable[[], None]] = []
        self.connected = asyncio.Event()  # a socket has had its hello

    @property
    def is_open(self) -> bool:
        return bool(self._open)

    def on_connect(self, listener: Callable[[], None]) -> None:
        self._connect_listeners.append(listener)

    def issue_ticket(self) -> str:
        ticket = self._new_id("tk")
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One socket from its ticket to its end."""
        if self._faults.take_socket("refuse"):
            return web.Response(status=409, text="refused on purpose")  # the ticket stays good: the client knows no other address
        if request.query.get("ticket", "") not in self._tickets:
            return web.Response(status=404, text="this ticket is unknown or used; ask apps.connections.open for another")
        self._tickets.discard(request.query["ticket"])
        socket = web.WebSocketResponse(timeout=CLOSE_S, max_msg_size=LARGEST_FRAME)
        await socket.prepare(request)
        await self._greet(socket)
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._hear(message.data)
        finally:
            self._forget(socket)
        return socket

    async def _greet(self, socket: web.WebSocketResponse) -> None:
        if len(self._open) >= MOST_SOCKETS:
            await socket.send_json(_disconnect("too_many_websockets"))
            await socket.close()
            return
        hello = {
            "type": "hello",
            "num_connections": len(self._open) + 1,
            "connection_info": {"app_id": APP_ID},
            "debug_info": {"host": "applink-local", "build_number": 1, "approximate_connection_time": LIFETIME_S},
        }
        await socket.send_json(hello)
        self._open.append(socket)
        self._log.add("socket", at=self._clock.real(), state="connected", open=len(self._open))
        self.connected.set()
        for listener in self._connect_listeners:
            listener()

    def _forget(self, socket: web.WebSocketResponse) -> None:
        if socket in self._open:
            self._open.remove(socket)
            self._log.add("socket", at=self._clock.real(), state="closed", open=len(self._open))
        if not self._open:
            self.connected.clear()

    def _hear(self, text: str) -> None:
        try:
            frame = json.loads(text)
            envelope_id, payload = frame["envelope_id"], frame.get("payload") or {}
        except (ValueError, TypeError, KeyError):
            self._log.add("junk", at=self._clock.real(), text=text[:200])
            return
        found = self._waiting.pop(envelope_id, None)
        if found is None:
            self._log.add("ack", at=self._clock.real(), envelope_id=envelope_id, heard=False, why="unknown or late")
        elif self._faults.take_socket("deaf"):
            found[1]["deaf"] = True
            self._waiting[envelope_id] = found
        else:
            envelope, entry = found
            now = self._clock.real()
            entry |= {"acked": True, "acked_at": now, "ack_ms": round((now - entry["at"]) * 1000, 3)}
            if not envelope.ack.done():
                envelope.ack.set_result(payload)

    async def send(self, kind: str, payload: Json, **fields: object) -> Envelope | None:
        """Send one envelope to the next socket; None if none is open. Its ack may come later, or never."""
        envelope = Envelope(id=self._new_id("e-"), ack=asyncio.get_running_loop().create_future())
        frame = {"envelope_id": envelope.id, "type": kind, "payload": payload, **fields}
        facts = {"envelope_id": envelope.id, "type": kind, "acked": False, **_facts(payload), **fields}
        entry = self._log.add("envelope", at=self._clock.real(), **facts)
        self._waiting[envelope.id] = (envelope, entry)
        if await self._push(json.dumps(frame)):
            return envelope
        self.give_up(envelope)
        entry["trouble"] = "no socket"
        return None

    async def _push(self, text: str) -> bool:
        while self._open:
            self._turn += 1
            socket = self._open[self._turn % len(self._open)]
            try:
                await socket.send_str(text)
                return True
            except (ConnectionError, RuntimeError):  # it broke, or is closing: another one takes it
                self._forget(socket)
        return False

    def give_up(self, envelope: Envelope) -> None:
        """Hear this envelope's ack no more."""
        self._waiting.pop(envelope.id, None)

    async def ask(self, kind: str, payload: Json) -> Reply:
        """Send a command, click or submission and wait for its ack, three seconds at most."""
        started = self._clock.real()
        envelope = await self.send(kind, payload, accepts_response_payload=True)
        if envelope is None:
            return Reply(acked=False, ack_ms=None, payload=None, trouble="dispatch_failed")
        try:
            async with asyncio.timeout(ACK_S):
                answer = await envelope.ack
        except TimeoutError:
            return Reply(acked=False, ack_ms=None, payload=None, trouble="operation_timeout")
        finally:
            self.give_up(envelope)
        return Reply(acked=True, ack_ms=round((self._clock.real() - started) * 1000, 3), payload=answer or None)

    async def drop(self, how_many: int, *, reason: str | None = None) -> int:
        """Close sockets, after a disconnect frame where a reason is given; return how many."""
        leaving = self._open[:how_many]
        for socket in leaving:
            self._forget(socket)
            if reason is not None and not socket.closed:
                await socket.send_json(_disconnect(reason))
            await socket.close()
        return len(leaving)

    async def close(self) -> None:
        for envelope, _ in list(self._waiting.values()):
            envelope.ack.cancel()
        await asyncio.gather(*(socket.close() for socket in list(self._open)))


def _disconnect(reason: str) -> Json:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-local"}}


def _facts(payload: Json) -> Json:
    """What the log says about a payload."""
    event = payload.get("event", {})
    user = payload.get("user")
    named = {
        "event_id": payload.get("event_id"),
        "event": event.get("type"),
        "subtype": event.get("subtype"),
        "command": payload.get("command"),
        "interaction": None if event else payload.get("type"),
        "user": user["id"] if isinstance(user, dict) else None,
    }
    return {name: value for name, value in named.items() if value}
