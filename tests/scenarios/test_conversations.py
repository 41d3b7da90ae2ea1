"""Conversations in, transcripts out: everything that people can read afterwards is as its golden file has it, and as the store has it.

`--regenerate` writes the transcripts anew; the difference is then read by a person, like prose.
"""

from pathlib import Path

import pytest

from bot.cli.demo import DOCUMENTS
from tests.doubles import script, truth
from tests.scenarios.conftest import MakeTown

HERE = Path(__file__).parent / "conversations"


@pytest.mark.parametrize("name", sorted(path.stem for path in HERE.glob("*.txt")))
async def test_a_conversation_reads_as_its_transcript_has_it(name: str, make_town: MakeTown, regenerate: bool) -> None:
    given, lines = script.setup(script.read((HERE / f"{name}.txt").read_text()))
    golden = HERE / f"{name}.transcript"
    town = await make_town(files=DOCUMENTS, **given)
    play = script.Play(town)

    said = await play.run(lines)

    if regenerate:
        golden.write_text(said)
    assert golden.exists(), "no transcript yet: --regenerate writes it"
    assert said == golden.read_text()
    untrue = [] if play.is_down else await truth.untrue(town, script.CHANNELS)
    assert not untrue, "\n\n".join(untrue)


def test_every_transcript_has_its_conversation() -> None:
    assert {path.stem for path in HERE.glob("*.transcript")} == {path.stem for path in HERE.glob("*.txt")}
