"""Damaged files: what was found stays mended, a slice of the campaign, and the tools themselves."""

import json
from random import Random

import pytest

from gen_models.harness.legacy import ROOT, formats_here
from tests.support.command_line import python
from tests.support.formats import FORMATS
from tests.support.models import network
from tools.mutate import table
from tools.mutation import beside
from tools.mutation.corpus import sources
from tools.mutation.formats import FORMATS as PROGRAMS
from tools.mutation.mutant import Mutant, kept

MUTATED = ROOT / "tests" / "data" / "mutated"
FOUND = sorted(path.name for path in MUTATED.iterdir())

# The tools fork: in a process of its own, which has none of this one's threads.
READ = """
import json, sys
from dataclasses import astuple
from pathlib import Path
from tools.mutation import server
from tools.mutation.mutant import kept
server.load()
print(json.dumps([astuple(result) for result in server.read_all([kept(Path(folder)) for folder in sys.argv[1:]])]))
"""


@pytest.fixture(scope="module")
def outcomes():
    """What comes of all that was found, each in a process of its own."""
    printed = python("-c", READ, *(MUTATED / name for name in FOUND)).stdout
    results = json.loads(printed.splitlines()[-1])
    return dict(zip(FOUND, results, strict=True))


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name, outcomes):
    outcome, bucket, detail = outcomes[name]
    assert outcome in ("converted", "refused", "caught"), f"{bucket}\n{detail}"


def export(pattern, formats):
    """Writes the models with the Paddle of this process, which the tools would start anew."""
    for _ in sources(pattern, formats, 1):
        pass


OF_EACH_KIND = "conv2d:greedy_decoder:layer_norm:lstm:masked_select:multiclass_nms3:nested:quantize_linear:slice:while"
"""Operators and networks with weights, blocks, lists, numbers of every type."""


def test_slice(tmp_path, request):
    """Some of the campaign's files; `make mutate` reads any number."""
    files, of = (400, "*") if request.config.getoption("--every-form") else (60, OF_EACH_KIND)
    if of == OF_EACH_KIND:
        export(of, formats_here())
    words = f"-X faulthandler -u -m tools.mutate --files {files} --cases 1 --filter {of} --state"
    assert f"| all | {files} |" in python(*words.split(), tmp_path / "state").stdout


OUTCOMES = """
import json, os, signal, time
from dataclasses import astuple
from tools.mutation import server, trial
from tools.mutation.mutant import Mutant
from paddle2ov.errors import ModelReadError

def reads_on(path, options):
    found = bytearray(900_000_000)
    found[::4096] = b"x" * len(found[::4096])

def computes(path, options):
    while True:
        pass

def refuses(path, options):
    raise ModelReadError("no")

def refuses_another(path, options):
    try:
        {}[1]
    except KeyError as error:
        raise ModelReadError("no") from error

trial.READERS.update(
    good=lambda path, options: None, dies=lambda path, options: os.kill(os.getpid(), signal.SIGSEGV),
    ends=lambda path, options: os._exit(7), raises=lambda path, options: {}[1],
    grows=lambda path, options: bytes(3_000_000_000), waits=lambda path, options: time.sleep(60),
    reads_on=reads_on, computes=computes, refuses=refuses, caught=refuses_another,
)

def results(names, **limits):
    mutants = [Mutant(name, "pir", {"x": b""}) for name in names.split()]
    for mutant, result in zip(mutants, server.read_all(mutants, server.Limits(**limits)), strict=True):
        yield mutant.reader, result.outcome, result.bucket

found = [*results("good refuses caught raises dies good ends grows reads_on good")]
found += [*results("computes", seconds=1), *results("waits", clock=1)]
print(json.dumps(found))
"""


def test_outcomes():
    found = json.loads(python("-c", OUTCOMES).stdout.splitlines()[-1])
    results = {name: (outcome, bucket) for name, outcome, bucket in found}
    assert {name: outcome for name, (outcome, _) in results.items()} == {
        "good": "converted",
        "refuses": "refused",
        "caught": "caught",
        "raises": "exception",
        "dies": "crash",
        "ends": "crash",
        "grows": "memory",
        "reads_on": "memory",
        "computes": "hang",
        "waits": "hang",
    }
    assert results["dies"][1].startswith("SIGSEGV")
    assert results["raises"][1].startswith("KeyError")


MAKE = """
import hashlib, sys
from pathlib import Path
from tools.mutation import plan
from tools.mutation.corpus import load_corpus, save_corpus
path = Path(sys.argv[1])
corpus = load_corpus(str(path)) if path.exists() else save_corpus(path, "conv2d:greedy_decoder", ("pir",), 1)
found = hashlib.sha256()
for number in range(100):
    found.update(repr(plan.mutant(corpus, 5, number)).encode())
print(found.hexdigest())
"""


def test_a_number_is_always_the_same_file(tmp_path):
    export("conv2d:greedy_decoder", ["pir"])
    printed = [python("-c", MAKE, tmp_path / "corpus", PYTHONHASHSEED=seed).stdout for seed in "12"]
    assert len({text.splitlines()[-1] for text in printed}) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_every_mutation_changes_a_program(name):
    format = PROGRAMS[name]
    content = (network("nested", name) / format.file).read_bytes()
    same = format.render(format.parse(content))
    assert format.render(format.parse(same)) == same
    for family, mutations in format.families().items():
        for mutation in mutations:
            assert any(is_changed(format, content, mutation, seed, same) for seed in range(8)), (family, mutation)


def is_changed(format, content, mutation, seed, same):
    tree, other = format.parse(content), format.parse(content)
    try:
        mutation(Random(seed), tree, other)
    except (LookupError, TypeError, AttributeError, ValueError):
        return False
    return format.render(tree) != same


SHRINK = """
import sys
from pathlib import Path
from tools.mutation import server, shrink, trial
from tools.mutation.mutant import Mutant
from tools.mutation.beside import picture_model
from tools.mutation.formats import PIR

def reads(path, options):  # as if a relu that has its operand were a fault, and so were three bytes of the settings
    tree = PIR.parse((path / "inference.json").read_bytes())
    is_there = any(op["#"] == "1.relu" and op.get("I") for op in PIR.blocks(tree)[0])
    if is_there and b"bad" in (path / "inference.yml").read_bytes():
        raise KeyError

trial.READERS["reads"] = reads
settings = b"x" * 100 + b"bad" + b"y" * 33
files = {"inference.json": picture_model(), "inference.yml": settings, "inference.pdiparams": b""}
mutant = Mutant("reads", "pir", files, options={"report": True})
small = shrink.shrink(mutant, server.read(mutant))
small.keep(Path(sys.argv[1]), detail="")
"""


def test_a_finding_shrinks_to_what_matters(tmp_path):
    python("-c", SHRINK, tmp_path / "small")
    small = kept(tmp_path / "small")
    (op,) = json.loads(small.files["inference.json"])["program"]["regions"][0]["blocks"][0]["ops"]
    assert (op["#"], len(op["I"]), op["O"]) == ("1.relu", 1, [])
    assert small.files["inference.yml"] == b"bad"
    assert list(small.files) == ["inference.json", "inference.yml"]
    assert small.options == {}


def test_a_finding_is_kept_with_its_holes(tmp_path):
    mutant = Mutant(
        "convert", "pir", {"inference.pdiparams": b"x" * 5000}, {"inference.pdiparams": 2**33}, {"report": True}
    )
    mutant.keep(tmp_path / "found")
    path = tmp_path / "found" / "inference.pdiparams"
    assert path.stat().st_size == 2**33
    again = kept(tmp_path / "found")
    assert again.files["inference.pdiparams"].rstrip(b"\0") == b"x" * 5000
    assert (again.sizes, again.options, again.reader) == (mutant.sizes, mutant.options, mutant.reader)


def test_table():
    records = {
        "a": {"outcomes": {"pir: bytes": {"refused": 3}, "settings: bytes": {"converted": 1200}}},
        "b": {"outcomes": {"pir: bytes": {"refused": 1, "crash": 1}}},
        "c": {"failure": "died"},
    }
    _, _, row, *_, total = table(records).splitlines()
    assert row == "| pir: bytes | 5 | 0 | 4 | 0 | 0 | 0 | 0 | 1 |"
    assert total == "| all | 1,205 | 1,200 | 4 | 0 | 0 | 0 | 0 | 1 |"


def test_damage_of_a_state_file_leaves_the_record_of_later_ones():
    before = dict(beside.RECORD)
    for seed in range(200):
        beside.state(Random(seed))
    assert before == beside.RECORD
