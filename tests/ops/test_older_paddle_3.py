"""Programs that Paddle 3.0 to 3.2 wrote, of operators that computed something else then, against what they computed.

`python -m tools.older_paddle PYTHON --filter CASE --record FOLDER` recorded them; a folder has the name that the case
had then.
"""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.program.model import Semantics
from paddle2ov.program.op_versions import PIR_VERSIONS, semantics_of, written_by
from paddle2ov.program.reading import read_program
from paddle2ov.testing import check_model
from tests.support.recorded import DATA, recorded

PROGRAMS = sorted(folder for version in DATA.glob("paddle_3_*") for folder in version.iterdir())


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_recorded_programs(folder):
    check_model(*recorded(folder))


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_each_paddle_writes_a_number_of_its_own(version):
    program = read_program(DATA / f"paddle_{version.replace('.', '_')}" / "grid_sampler_test_14")
    assert written_by(program)[1] == version


@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        ("round", [True, True, False, False, False]),
        ("grid_sampler", [True, True, True, False, False]),
        ("equal", [True, True, False, False, False]),
        ("matrix_rank", [True, True, False, False, False]),
        ("bicubic_interp_v2", [True, True, True, True, False]),
        ("relu", [False] * 5),
    ],
)
def test_which_versions_of_pir_have_older_semantics(operator, wanted):
    assert [semantics_of(operator, version) != Semantics() for version in PIR_VERSIONS] == wanted


def test_verify_says_what_the_paddle_here_computes_otherwise(tmp_path):
    halves = tmp_path / "halves.npz"
    np.savez(halves, x=np.arange(12, dtype=np.float32) / 2)
    report = paddle2ov.verify(DATA / "paddle_3_0" / "round_test_1", inputs=[halves])
    assert report.verdict == "differ"
    assert report.culprit.type == "round"
    assert report.note == (
        "'round' is converted as the Paddle computed it that wrote the program: "
        "before Paddle 3.1 it rounded ties away from zero"
    )
