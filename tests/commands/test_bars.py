"""What is told of work that goes on: how long the rest takes, at the mean speed so far, in one digit; or lines."""

import io
import logging
import sys

import pytest
from rich.console import Console

from paddle2ov.commands.bars import Stages, bar_on
from paddle2ov.commands.shared import plain_warnings, progress_bar
from paddle2ov.progress import LoggedStages, rough_time


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1 s"),
        (1.4, "1 s"),
        (17, "20 s"),
        (88, "90 s"),
        (100, "2 min"),
        (1234, "20 min"),
        (5300, "90 min"),
        (7000, "2 h"),
    ],
)
def test_times_have_one_digit(seconds, text):
    assert rough_time(seconds) == text


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def bar(clock):
    with bar_on(Console(file=io.StringIO(), width=200), get_time=clock, auto_refresh=False) as bar:
        yield bar


def shown(bar):
    """The line of the bar."""
    out = io.StringIO()
    Console(file=out, width=200).print(bar.get_renderable())
    return out.getvalue()


def test_a_slow_step_does_not_change_what_is_left(bar, clock):
    """A hundred steps of a second; one takes twenty, as the machine is busy meanwhile."""
    show, told = Stages(bar, "reading"), []
    for done in range(1, 100):
        clock.now += 20 if done == 50 else 1
        show("computing", done, 100)
        told.append(shown(bar))
    assert not any("left" in line for line in told[:4])  # too little is known
    assert all("left" in line for line in told[5:])
    assert [told[k].split("about ")[1].split(" left")[0] for k in (9, 48, 49, 59, 89)] == [
        "80 s",
        "50 s",
        "70 s",
        "50 s",
        "10 s",
    ]


def test_each_stage_has_its_own_clock(bar, clock):
    show = Stages(bar, "reading")
    clock.now = 1000
    show("computing", 0, 10)
    clock.now += 8
    show("computing", 4, 10)
    assert "computing" in shown(bar)
    assert "reading" not in shown(bar)
    assert "about 10 s left" in shown(bar)
    show("looking", 1, 0)  # nobody knows how many
    clock.now += 100
    show("looking", 5, 0)
    assert "looking" in shown(bar)
    assert "left" not in shown(bar)
    assert len(bar.tasks) == 1


def test_what_is_logged_goes_above_the_bar(monkeypatch):
    """rich takes the standard error for as long as a bar is drawn on a terminal."""
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(logging.getLogger("paddle2ov"), "handlers", [])
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with plain_warnings(), bar_on(Console(stderr=True, force_terminal=True, width=80), auto_refresh=False) as bar:
        Stages(bar, "reading")("computing", 1, 2)
        bar.refresh()
        logging.getLogger("paddle2ov").warning("it is so")
    assert "warning: it is so" in [line.rpartition("\x1b[2K")[2].strip() for line in terminal.getvalue().splitlines()]


def test_where_no_bar_can_be_drawn_a_line_tells_now_and_then_how_far_it_is(clock):
    log = io.StringIO()
    tell = LoggedStages(log, clock)
    for done in range(100):
        tell("computing", done, 100)
        clock.now += 1
    tell("looking", 5, 0)
    assert log.getvalue().splitlines() == [f"computing: {done} of 100" for done in (30, 60, 90)]
    clock.now += 30
    tell("looking", 6, 0)
    assert log.getvalue().endswith("of 100\nlooking: 6\n")


def test_a_command_writes_such_lines_to_a_file(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    monkeypatch.setattr("paddle2ov.progress._SECONDS", 0.0)
    with progress_bar("reading") as progress:
        progress("reading", 1, 2)
    with progress_bar("reading", shown=False) as progress:
        assert progress is None
    assert log.getvalue() == "reading: 1 of 2\n"
