"""Events on their way to the bot: kept until acknowledged.

An event is stored before it is sent, so neither a missing socket nor a killed server loses it. Without an ack within three seconds it is
sent again, three times at most: about at once, a minute later, five minutes later, by the workspace's clock, always under the same event
id. One task does all sending, in order of due time.
"""

import asyncio
import heapq
from collections import deque
from functools import partial

from bot.workspace.clock import Clock
from bot.workspace.faults import Faults
from bot.workspace.log import WireLog
from bot.workspace.records import Json
from bot.workspace.sockets import ACK_S, Envelope, Sockets
from bot.workspace.state import State

RETRY_AFTER_S = (0.0, 0.0, 60.0, 300.0)  # by attempt: how long after the lost ack of the one before
REMEMBERED = 200  # for redelivery on request


class Delivery:
    """The queue of events and the task that empties it."""

    def __init__(self, *, state: State, clock: Clock, sockets: Sockets, faults: Faults, log: WireLog) -> None:
        self._state, self._clock, self._sockets, self._faults, self._log = state, clock, sockets, faults, log
        self._due: list[tuple[float, int, str, int]] = []  # when, order, event id, attempt
        self._order = 0
        self._recent: deque[Json] = deque(maxlen=REMEMBERED)
        self._unheard: dict[str, Envelope] = {}  # by event id: the envelope whose ack would settle it
        self._bell = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Go on with what the last life of this workspace left unacknowledged."""
        for event_id, record in self._state.table("events").items():
            self._schedule(event_id, attempt=min(record["attempt"] + 1, len(RETRY_AFTER_S) - 1), due=0.0)
        self._clock.on_advance(self._bell.set)
        self._sockets.on_connect(self._bell.set)
        self._task = asyncio.create_task(self._run(), name="workspace delivery")  # noqa: TID251 owned here: stop() ends it

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def publish(self, payload: Json) -> None:
        """Keep this event until the bot has acknowledged it, beginning now."""
        self._state.put("events", payload["event_id"], {"attempt": -1, "payload": payload})
        self._recent.append(payload)
        self._schedule(payload["event_id"], attempt=0, due=self._clock.now())

    async def repeat(self, how_many: int) -> int:
        """Send the newest events again now, as a retry, acknowledged or not; return how many."""
        again = list(self._recent)[-how_many:]
        for payload in again:
            await self._send(payload, attempt=1)
        return len(again)

    def _schedule(self, event_id: str, *, attempt: int, due: float) -> None:
        self._order += 1
        heapq.heappush(self._due, (due, self._order, event_id, attempt))
        self._bell.set()

    async def _run(self) -> None:
        while True:
            self._bell.clear()
            while self._sockets.is_open and self._due and self._due[0][0] <= self._clock.now():
                await self._deliver(*heapq.heappop(self._due)[2:])
            try:
                async with asyncio.timeout(self._pause()):  # not wait_for: that one may swallow the cancellation by which this task ends
                    await self._bell.wait()
            except TimeoutError:
                continue

    def _pause(self) -> float | None:
        """Seconds until something is due; None if only a bell can change that."""
        if not self._due or not self._sockets.is_open:
            return None
        return max(self._due[0][0] - self._clock.now(), 0.0)

    async def _deliver(self, event_id: str, attempt: int) -> None:
        record = self._state.table("events").get(event_id)
        if event_id in self._unheard:
            self._sockets.give_up(self._unheard.pop(event_id))
        if record is None:  # acknowledged meanwhile
            return
        if attempt >= len(RETRY_AFTER_S):
            self._state.drop("events", event_id)
            self._log.add("given_up", at=self._clock.real(), event_id=event_id)
            return
        if attempt > 0:
            self._state.put("events", event_id, {**record, "attempt": attempt})
        sent_at = self._clock.now()
        envelope = await self._send(record["payload"], attempt=attempt)
        if envelope is None:  # the socket went away under it
            self._schedule(event_id, attempt=attempt, due=sent_at)
            return
        self._unheard[event_id] = envelope
        envelope.ack.add_done_callback(partial(self._settle, event_id, sent_at))
        following = attempt + 1
        wait = RETRY_AFTER_S[following] if following < len(RETRY_AFTER_S) else 0.0
        self._schedule(event_id, attempt=following, due=sent_at + ACK_S + wait)
        if attempt == 0 and self._faults.take_socket("duplicate"):
            await self._send(record["payload"], attempt=0)

    async def _send(self, payload: Json, *, attempt: int) -> Envelope | None:
        reason = "timeout" if attempt else ""
        return await self._sockets.send("events_api", payload, accepts_response_payload=False, retry_attempt=attempt, retry_reason=reason)

    def _settle(self, event_id: str, sent_at: float, ack: asyncio.Future[Json]) -> None:
        if not ack.cancelled() and self._clock.now() - sent_at <= ACK_S:
            self._unheard.pop(event_id, None)
            self._state.drop("events", event_id)
