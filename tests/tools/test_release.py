"""The parts of `make release` that need no build; `make release` itself is the test of the rest."""

import pytest

import paddle2ov
from tools.release import ROOT, check_tag, notes, oldest

CHANGELOG = """# Changelog

## Unreleased

- New.

## 1.1.0 - 2026-01-02

### Fixed

- Old.

## 1.0.0 - 2025-01-02

- First.
"""


def test_notes_are_the_section_of_the_version():
    assert notes(CHANGELOG, "1.1.0", released=True) == "### Fixed\n\n- Old.\n"
    assert notes(CHANGELOG, "1.0.0", released=True) == "- First.\n"


def test_a_rehearsal_takes_what_is_unreleased():
    assert notes(CHANGELOG, "1.2.0", released=False) == "- New.\n"


def test_a_release_without_its_section_is_refused():
    with pytest.raises(SystemExit, match=r"no section '## 1\.2\.0"):
        notes(CHANGELOG, "1.2.0", released=True)


def test_the_tag_is_that_of_the_version():
    check_tag("v1.2.0", "1.2.0")
    with pytest.raises(SystemExit, match=r"expected v1\.2\.0"):
        check_tag("v1.1.0", "1.2.0")


def test_a_release_is_tried_with_the_oldest_that_it_allows():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert {"click==8.2.*", "openvino==2026.4.*"} <= set(oldest(project))
    needed = project.partition("dependencies = [")[2].partition("\n]")[0]
    assert len(oldest(project)) == needed.count("\n")


def test_the_changelog_has_notes_for_the_next_release():
    assert notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), paddle2ov.__version__, released=False)
