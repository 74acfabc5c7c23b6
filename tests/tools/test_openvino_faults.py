"""The faults of OpenVINO that the project works around are still there, and those places are known."""

import subprocess
import sys
from pathlib import Path

import pytest

from paddle2ov import check
from paddle2ov.errors import OpenVINORunError
from paddle2ov.graph.core import shared_core
from tools.faults import FAULTS, places
from tools.faults.remarks import REASONS, passes_without_marks, unmarked, unmarked_in

WORKER = """
import sys
for line in sys.stdin:
    path = line.strip()
    try:
        exec(compile(open(path).read(), path, "exec"), {"__name__": path})
        print("right", flush=True)
    except Exception as error:
        import traceback
        in_check = any(frame.name == "check" for frame in traceback.extract_tb(error.__traceback__))
        print("wrong" if in_check else f"not built: {error!r}".replace(chr(10), " "), flush=True)
"""
"""Runs scripts, one for each line that it reads; ends where a script ends the process."""


class Scripts:
    """Runs scripts in another process, and in a new one after a crash."""

    def __init__(self):
        self.process = None

    def run(self, path: Path) -> str:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-c", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline().strip()
        if not said:
            self.process.wait()
        return said or "crashed"

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


@pytest.fixture(scope="module")
def scripts():
    found = Scripts()
    yield found
    found.close()


def processor_has(feature):
    """Whether this processor has what a fault needs."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    in_bfloat16 = "BF16" in shared_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    for one in feature.split(", ") if feature else ():
        if (one.removeprefix("not ") in flags) == one.startswith("not "):
            return False
    return in_bfloat16 or "amx" not in feature


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_the_fault_is_there(name, scripts, tmp_path):
    """Remove what works around it, and the fault from the register, if OpenVINO computes its graph right."""
    if not processor_has(FAULTS[name].processor):
        pytest.skip(f"shows on processors with {FAULTS[name].processor}")
    path = tmp_path / f"{name}.py"
    path.write_text(FAULTS[name].script())
    assert scripts.run(path) in ("wrong", "crashed")


def test_places_and_register_agree():
    """What says that it works around a fault names one, and each one is worked around somewhere."""
    assert sorted(places()) == sorted(FAULTS)


def test_remarks_are_marked():
    """What is said of OpenVINO says which fault it is, or why it is none: register it, or add the reason."""
    assert unmarked() == set(REASONS)
    assert passes_without_marks() == []


ENDING_THE_PROCESS = {
    "average_pool_without_dilations",
    "broadcast_to_number",
    "factors_behind_an_integer_convolution",
    "gather_by_empty_constant",
    "gather_nd_out_of_range",
    "group_normalization_in_residual_block",
    "irdft_to_nothing",
    "reshape_of_matmul_to_number",
    "slice_scatter_between_computed_bounds",
    "unique_of_no_elements",
}
UNSEEN = {
    "division_by_inverse": "it is as small as rounding",
    "fake_quantize_of_odd_levels": "it is less than a step of the levels",
    "hard_sigmoid_of_alpha_zero": "OpenVINO computes the node alone as wrongly",
    "integers_reversed_in_float32": "OpenVINO computes the node alone as wrongly",
    "is_finite_of_denormals": "OpenVINO computes the node alone as wrongly",
    "layer_of_odd_levels": "it is less than a step of the levels",
    "layers_of_one_weight": "it shows on one thread",
    "resize_of_kept_size": "OpenVINO computes the node alone as wrongly",
    "selu_of_alpha_zero": "OpenVINO computes the node alone as wrongly",
    "slice_backwards_before_first": "OpenVINO computes the node alone as wrongly",
    "split_beyond_the_tensor": "OpenVINO computes the node alone as wrongly",
    "tile_of_no_rows": "it shows in three runs of one order",
    "topk_of_no_rows": "it shows in three runs of one order",
    "unique_of_nothing": "OpenVINO computes the node alone as wrongly",
}
"""What `check` does not find, and why."""


@pytest.mark.parametrize("name", sorted(FAULTS.keys() - ENDING_THE_PROCESS))
def test_check_finds_the_fault(name):
    """In a graph that nothing works around; those that OpenVINO does not compute at all are errors."""
    fault = FAULTS[name]
    if not processor_has(fault.processor):
        pytest.skip(f"shows on processors with {fault.processor}")
    model, runs = fault.build()
    for i, port in enumerate(model.inputs):
        port.get_tensor().set_names({f"input_{i}"})
    inputs = [{f"input_{i}": array for i, array in enumerate(arrays)} for arrays in runs]
    try:
        found = check(model, inputs=inputs, precision="f32" if fault.precision == "f32" else "bf16", timeout=0)
    except (OpenVINORunError, RuntimeError):
        return
    assert found.verdict == ("agree" if name in UNSEEN else "differ")


REMARK = "    # In OpenVINO\n    # 2026.4 this is garbage.\n    return 0\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"def f():\n{REMARK}", ["m.f"]),
        (f'@works_around("one")\ndef f():\n{REMARK}', []),
        (f'@works_around("one")\nclass A:\n  def f():\n{REMARK}', []),
        (f'@works_around("one")\ndef g():\n    return 0\n\n\ndef f():\n{REMARK}', ["m.f"]),
        ('"""OpenVINO\'s CPU plugin\nis wrong."""\n', ["m"]),
        ('"""OpenVINO\'s CPU plugin\nis wrong."""\n\n@works_around("one")\ndef g():\n    return 0\n', []),
    ],
)
def test_a_remark_without_a_mark_is_found(text, found):
    assert list(unmarked_in(text, "m")) == found
