"""What benchmarks write, and the page that is rendered from it."""

import json
import re

import pytest

from benchmarks import __main__ as everything
from benchmarks.page import FOLDER, ORDER, page
from benchmarks.record import ROOT, Record, about, command, table


@pytest.fixture
def folder(tmp_path):
    for name, title in (("zoo", "Zoo"), ("latency", "Inference")):
        record = Record(name, title, "What.\n\n    python -m benchmarks.zoo\n\nHow it is\nmeasured.\n")
        record.write(tmp_path / "figures" / f"{name}.json", table(["", "ms"], [["one | two", 1.5]]))
    return tmp_path / "figures"


def test_a_section_has_the_command_the_text_the_table_and_the_machine(folder):
    text = page(folder)
    record = json.loads((folder / "zoo.json").read_text())
    assert text.index("## Inference") < text.index("## Zoo")  # known ones first, whatever their names
    section = text.partition("## Zoo")[2]
    assert "python -m benchmarks.zoo" in section
    assert "What.\n\nHow it is\nmeasured." in section
    assert "| one / two | 1.5 |" in section
    assert record["machine"]["processor"] in section
    assert f"load {record['load']['before']} before" in section


def test_a_text_beside_the_figures_is_shown(folder):
    (folder / "zoo.txt").write_text("Why it is so.\n")
    text = page(folder)
    assert text.index("1.5 |") < text.index("\nWhy it is so.\n")


def test_the_page_is_what_the_records_say():
    assert FOLDER.with_suffix(".md").read_text(encoding="utf-8") == page(FOLDER)


def test_all_benchmarks_that_record_something_are_run():
    folder = ROOT / "benchmarks"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py") if path.stem != "record"}
    recording = [name for text in texts.values() for name in re.findall(r'= Record\("(\w+)", ', text)]
    assert sorted(recording) == sorted(ORDER)
    for name in ORDER:
        module, *options = everything.OPTIONS.get(name, (name,))
        assert "options(__doc__)" in texts[module]
        assert all(f'"{option}"' in texts[module] for option in options)


def test_the_command_says_what_was_measured_and_not_where_it_was_written():
    arguments = ["db", "--json", "a/b.json", "--rounds", "3"]
    assert command("cold_start", arguments) == "python -m benchmarks.cold_start db --rounds 3"
    assert about("First.\n\n    a command\n    another\n\nSecond.") == "First.\n\nSecond."
