"""Where the bot may connect to: public addresses, and inside hosts that the admin has named. Nothing else, by whatever name it is called.

A name proves nothing, so what counts is the address at the moment of connecting: the gate checks the words of the address, what the name
resolves to, and once more the socket's own target, so that neither a literal number nor a name that changes its mind gets through.
"""

import ipaddress
import re
import socket
from collections.abc import Collection

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from bot.errors import ToolFailed
from bot.tools.sanitize import line

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAME = re.compile(r"^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,250}[A-Za-z0-9_])?\.?$")
_NUMBER = re.compile(r"^(?:\d+|0[xX][0-9a-fA-F]*)$")
_INSIDE_NAMES = ("localhost", "internal", "local", "home.arpa", "lan")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_METADATA = frozenset({ipaddress.ip_address("168.63.129.16")})  # public by number, a cloud's own by use


class AddressRefused(ToolFailed):
    """The address is not one that the bot may connect to."""


def is_public(address: Address) -> bool:
    """Could anybody on the internet mean the same machine by this address? Addresses that wrap another are judged by that one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved and address not in _METADATA


def web_url(text: str) -> URL:
    """The address, if its words are in order: http or https, a host, no user name. Raises `AddressRefused` with a sentence."""
    shown = f"'{line(text, 100)}'"
    try:
        url = URL(text.strip())
        host, port = url.raw_host or "", url.port
    except ValueError as fault:
        raise AddressRefused(f"{shown} is not a web address: {line(str(fault))}") from fault
    if url.scheme not in ("http", "https"):
        raise AddressRefused(f"{shown} is not a web address; it must begin with https:// or http://.")
    if url.raw_user is not None or url.raw_password is not None:
        raise AddressRefused(f"{url.host} must be given without a user name or password in the address.")
    if not port or not (literal(host) or _NAME.match(host)):
        raise AddressRefused(f"{shown} has no usable host.")
    if literal(host) is None and _NUMBER.match(host.rstrip(".").rpartition(".")[2]):
        raise AddressRefused(f"{shown} writes its host as a number; use its name.")
    return url


def literal(host: str) -> Address | None:
    """The address that the host is written as, if it is one."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


class Gate(AbstractResolver):
    """Lets one request, redirects included, through to where it may go. `allowed` holds "host" or "host:port" of inside services."""

    def __init__(self, allowed: Collection[str], resolver: AbstractResolver) -> None:
        self._allowed = frozenset(entry.lower() for entry in allowed)
        self._resolver = resolver
        self._admitted: set[tuple[Address, int]] = set()
        self.refusal: AddressRefused | None = None  # set where the refusal itself cannot travel through the client

    def check(self, url: URL) -> None:
        """Judge by the words alone. Raises `AddressRefused`."""
        host, port = (url.raw_host or "").lower().rstrip("."), url.port or 0
        address = literal(host)
        if host in self._allowed or f"{host}:{port}" in self._allowed or f"[{host}]:{port}" in self._allowed:
            if address:
                self._admitted.add((address, port))
            return
        inside = any(host == name or host.endswith(f".{name}") for name in _INSIDE_NAMES)
        if inside or (address is not None and not is_public(address)):
            raise refused(url.host or host)

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        """What the name stands for, if all of it is allowed: one inside address among public ones is a trick."""
        results = await self._resolver.resolve(host, port, family)
        name = host.lower().rstrip(".")
        named = name in self._allowed or f"{name}:{port}" in self._allowed
        for result in results:
            address = literal(result["host"])
            if address is None or not (named or is_public(address)):
                self.refusal = refused(host)
                raise OSError(str(self.refusal))
            if named:
                self._admitted.add((address, port))
        return results

    def open(self, target: AddrInfoType) -> socket.socket:
        """A socket for this very address, if it is allowed: the last look, which no name can get around."""
        family, kind, protocol, _, where = target
        address, port = literal(str(where[0])), int(where[1])
        if address is None or not (is_public(address) or (address, port) in self._admitted):
            self.refusal = refused(str(where[0]))
            raise OSError(str(self.refusal))
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """The resolver belongs to the request, so it ends with it."""
        await self._resolver.close()


def refused(host: str) -> AddressRefused:
    """The refusal in words."""
    return AddressRefused(f"{line(host, 80)} is inside our own network or not a public address; an admin can allow such a host by name.")
