"""Which addresses are public, and which words make a web address. C063"""

import ipaddress
import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from bot.tools.addresses import AddressRefused, Gate, is_public, web_url

INSIDE = [
    *("127.0.0.1", "127.8.9.1", "0.0.0.0", "10.0.0.5", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200"),
    *("192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::1", "::", "fe80::1", "fec0::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
]
PUBLIC = ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"]


@pytest.mark.parametrize("address", INSIDE)
def test_inside_addresses_of_every_family_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("file:///etc/passwd", "must begin with https:// or http://"),
        ("gopher://x", "must begin with"),
        ("javascript:alert(1)", "must begin with"),
        ("//example.com/x", "must begin with"),
        ("example.com", "must begin with"),
        ("", "must begin with"),
        ("http://user@10.0.0.5", "without a user name"),
        ("http://user:pw@example.com", "without a user name"),
        ("http://:pw@example.com", "without a user name"),
        ("http://2130706433/", "writes its host as a number"),
        ("http://0x7f.1/", "writes its host as a number"),
        ("http://127.1/", "writes its host as a number"),
        ("http://0177.0.0.1/", "writes its host as a number"),
        ("http://0x7f000001/", "writes its host as a number"),
        ("http://1.2.3.4.5/", "writes its host as a number"),
        ("http:///x", "no usable host"),
        ("http://exa mple.com/", "no usable host"),
        ("http://a_b..%00/", ""),
        ("http://example.com:0/", "no usable host"),
        ("http://example.com:99999/", "is not a web address"),
        ("http://[::1/", "is not a web address"),
        ("http://a\\@b/", "is not a web address"),
    ],
)
def test_words_that_are_no_web_address_are_refused(text: str, says: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        web_url(text)

    assert says in str(refused.value)
    assert "pw" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["https://example.com/a?b=c#d", "http://example.com:8080", "http://xn--bcher-kva.example", "http://bücher.example/ä"]
)
def test_web_addresses_are_taken(text: str) -> None:
    assert web_url(text).host


@pytest.mark.parametrize(
    "text",
    [
        *(
            "http://127.0.0.1:5432",
            "http://[::1]/",
            "http://169.254.169.254/latest",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
        ),
        *(
            "http://metadata.google.internal",
            "http://１２７.0.0.1/",
            "http://ⓛocalhost/",
            "http://[fe80::1%25eth0]/",
            "http://[::ffff:7f00:1]/",
        ),
    ],
)
def test_the_gate_refuses_inside_addresses_by_their_words(text: str) -> None:
    with pytest.raises(AddressRefused, match="inside our own network"):
        Gate((), Names({})).check(web_url(text))


def test_the_gate_lets_named_hosts_through_on_their_port_only() -> None:
    gate = Gate(("127.0.0.1:8080", "Wiki.internal", "[::1]:9000"), Names({}))

    gate.check(URL("http://127.0.0.1:8080/x"))
    gate.check(URL("http://wiki.internal:1234/"))
    gate.check(URL("http://[::1]:9000/"))
    for other in ("http://127.0.0.1:8081/", "http://127.0.0.2:8080/", "http://wiki.internal.evil.internal/", "http://[::1]/"):
        with pytest.raises(AddressRefused):
            gate.check(URL(other))


class Names(AbstractResolver):
    """A resolver that knows a few names."""

    def __init__(self, names: dict[str, list[str]]) -> None:
        self.names = names

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        if host not in self.names:
            raise OSError("no such name")
        kinds = {address: socket.AF_INET6 if ":" in address else socket.AF_INET for address in self.names[host]}
        return [ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=0) for address, kind in kinds.items()]

    async def close(self) -> None:
        return None


async def test_a_name_is_judged_by_all_that_it_stands_for() -> None:
    gate = Gate((), Names({"good.example": ["1.1.1.1"], "evil.example": ["127.0.0.1"], "mixed.example": ["1.1.1.1", "10.0.0.1"]}))

    assert len(await gate.resolve("good.example", 80)) == 1
    for name in ("evil.example", "mixed.example"):
        with pytest.raises(OSError, match="inside our own network"):
            await gate.resolve(name, 80)
    assert gate.refusal is not None


async def test_the_socket_itself_is_the_last_look() -> None:
    gate = Gate(("wiki.internal:80",), Names({"wiki.internal": ["10.0.0.1"]}))
    await gate.resolve("wiki.internal", 80)

    gate.open((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("10.0.0.1", 80))).close()
    gate.open((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("1.1.1.1", 80))).close()
    for address in (("10.0.0.1", 81), ("10.0.0.2", 80)):
        with pytest.raises(OSError, match="inside our own network"):
            gate.open((socket.AF_INET, socket.SOCK_STREAM, 0, "", address))
