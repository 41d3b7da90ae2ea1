"""Wrong use: one line that says what to do, exit code 2, never a trace. And `--help` says what each command is for."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import Caller

COMMANDS = [
    (), ("demo",), ("start",), ("workspace",), ("check",), ("runs",), ("show",), ("audit",), ("audit", "verify"), ("audit", "export"),
    ("plan",), ("plan", "check"), ("policy",), ("policy", "check"), ("db",), ("db", "upgrade"),
]  # fmt: skip
FILE_TAKERS = {
    "plan": ("plan", "check"),
    "policy": ("policy", "check"),
    "manifest": ("workspace", "--port", "0", "--manifest"),
    "people": ("workspace", "--port", "0", "--people"),
}
FOLDER_TAKERS = {
    "runs": ("runs",),
    "show": ("show", "R-1"),
    "verify": ("audit", "verify"),
    "export": ("audit", "export"),
    "upgrade": ("db", "upgrade"),
}
BINARY = bytes(range(256)) * 4


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_says_what_a_command_is_for(call: Caller, command: tuple[str, ...]) -> None:
    told = call(*command, "--help")

    assert (told.code, told.err) == (0, "")
    usage = told.out.index("Usage: ")
    about = told.out[usage:].split("\n", 1)[1].strip().split("\n\n")[0].strip()
    assert len(about) > 10


@pytest.mark.parametrize("takes", FILE_TAKERS)
@pytest.mark.parametrize(
    "put",
    [
        pytest.param(lambda path: path.mkdir(), id="a folder"),
        pytest.param(lambda path: path.write_bytes(BINARY), id="binary"),
        pytest.param(lambda path: path.write_bytes("a: files.read path=café\n".encode("latin-1")), id="not UTF-8"),
        pytest.param(lambda path: None, id="missing"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_in_one_line(call: Caller, tmp_path: Path, takes: str, put: Callable[[Path], object]) -> None:
    file = tmp_path / "given"
    put(file)

    told = call(*FILE_TAKERS[takes], file)

    assert (told.code, told.out) == (2, "")
    assert told.complaint.startswith(f"pullcord: {file}: ")


@pytest.mark.parametrize("takes", ["manifest", "people"])
def test_an_empty_file_is_not_taken_for_a_manifest_or_people(call: Caller, tmp_path: Path, takes: str) -> None:
    (tmp_path / "empty").touch()

    told = call(*FILE_TAKERS[takes], tmp_path / "empty")

    assert told.code == 2
    assert str(tmp_path / "empty") in told.complaint
    assert "NoneType" not in told.complaint


@pytest.mark.parametrize("takes", FOLDER_TAKERS)
@pytest.mark.parametrize(
    "put",
    [
        pytest.param(lambda data: data.write_bytes(BINARY), id="a file as folder"),
        pytest.param(lambda data: (data / "pullcord.db").mkdir(parents=True), id="a folder as database"),
        pytest.param(lambda data: [data.mkdir(), (data / "pullcord.db").write_bytes(BINARY)], id="no database"),
    ],
)
def test_data_that_is_no_installation_is_said_in_one_line(call: Caller, tmp_path: Path, takes: str, put: Callable[[Path], object]) -> None:
    put(tmp_path / "data")

    told = call(*FOLDER_TAKERS[takes], "--data", tmp_path / "data")

    assert (told.code, told.out) == (2, "")
    assert str(tmp_path / "data") in told.complaint


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PULLCORD_POOL", "many", "PULLCORD_POOL: "),
        ("PULLCORD_DATABASE_URL", "nonsense", "PULLCORD_DATABASE_URL: this is no database address; try sqlite:///"),
        ("PULLCORD_DATABASE_URL", "mysql://host/db", "PULLCORD_DATABASE_URL: mysql is not served; give sqlite:///FILE"),
    ],
)
def test_a_wrong_variable_is_named(call: Caller, monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str) -> None:
    monkeypatch.setenv(name, value)

    told = call("runs")

    assert told.code == 2
    assert says in told.complaint


def test_a_settings_file_that_is_no_text_is_named(call: Caller, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(BINARY)

    told = call("runs")

    assert told.code == 2
    assert told.complaint.startswith("pullcord: .env: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nosuch",), ("show",), ("runs", "extra"), ("runs", "--limit", "0"), ("runs", "--limit", "x"), ("workspace", "--port", "65536"),
        ("demo", "--port", "-1"), ("plan", "check"), ("audit", "nosuch"), ("runs", "--nosuch"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_arguments_that_do_not_fit_are_wrong_use(call: Caller, arguments: tuple[str, ...]) -> None:
    told = call(*arguments)

    assert (told.code, told.out) == (2, "")
    assert "Traceback" not in told.err


@pytest.mark.parametrize("run", ["", "R-", "../../etc/passwd", "R-1'; DROP TABLE runs; --", "🚂", "x" * 5000])
def test_any_word_may_be_asked_for_as_a_run(call: Caller, folder: Path, run: str) -> None:
    told = call("show", run, "--data", folder)

    assert (told.code, told.out) == (1, "")
    assert told.complaint.startswith("pullcord: there is no run ")
