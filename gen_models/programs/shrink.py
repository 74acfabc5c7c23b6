"""Random programs that differ, made smaller as long as they still do, and kept."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from gen_models.harness.generate import GenerationError
from gen_models.programs.compare import Mismatch, differences, write_program
from gen_models.programs.program import Call, Program, is_fixed, resolve
from gen_models.programs.source import layer

MAX_TRIALS = 150
"""The most programs that shrinking tries."""


def shrink(found: Mismatch, format: str, folder: Path) -> Mismatch:
    """A smaller program that differs in the same way."""
    trials = 0

    def still(candidate: Program) -> Mismatch | None:
        nonlocal trials
        trials += 1
        try:
            write_program(candidate, format, folder / "trial")
            made = list(differences(candidate, folder / "trial", [found.variant]))
        except GenerationError:
            return None
        return made[0] if made and made[0].kind == found.kind else None

    is_smaller = True
    while is_smaller and trials < MAX_TRIALS:
        is_smaller = False
        for candidate in _smaller(found.program):
            if trials >= MAX_TRIALS:
                break
            better = still(candidate)
            if better is not None:
                found, is_smaller = better, True
                break
    shutil.rmtree(folder / "trial", ignore_errors=True)
    return found


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with fewer results, calls, inputs or arguments, the smallest first; no result becomes an input."""
    handed_on = len(set(program.results) & set(program.inputs))
    seen = {program.digest()}
    for changed in (*_fewer_results(program), *_cut(program), *_without_calls(program), *_simplified(program)):
        kept = changed.kept()
        is_new = kept.digest() not in seen
        if kept.inputs and kept.results and is_new and len(set(kept.results) & set(kept.inputs)) <= handed_on:
            seen.add(kept.digest())
            yield kept


def _fewer_results(program: Program) -> Iterator[Program]:
    if len(program.results) > 1:
        for result in program.results:
            yield dataclasses.replace(program, results=(result,))
        for result in program.results:
            yield dataclasses.replace(program, results=tuple(item for item in program.results if item != result))


def _cut(program: Program) -> Iterator[Program]:
    """Makes the results of a call of the main block inputs, so that what computes them may go; late calls first."""
    for index in reversed(range(len(program.calls))):
        call = program.calls[index]
        values = [program.values[number] for number in call.gives]
        if not call.gives or any(value.dtype != "float32" or not value.dims for value in values):
            continue
        if re.fullmatch(r"self\.m\d+", call.code):
            continue
        declared = {value.number: tuple(dim[0] if is_fixed(dim) else -1 for dim in value.dims) for value in values}
        rest = (*program.calls[:index], *program.calls[index + 1 :])
        if set(call.gives) & set(program.results):
            continue
        yield dataclasses.replace(program, calls=rest, inputs={**program.inputs, **declared})


def _without_calls(program: Program) -> Iterator[Program]:
    """Leaves out a call: an earlier value of the same dimensions replaces its result."""
    for calls, renamed in _without_one_call(program.calls, program, list(program.inputs)):
        yield _renamed(dataclasses.replace(program, calls=calls), renamed)


def _without_one_call(
    calls: tuple[Call, ...], program: Program, before: list[int]
) -> Iterator[tuple[tuple[Call, ...], dict[int, int]]]:
    """The calls without one of them, and the names that are replaced by others."""
    there = list(before)
    for index, call in enumerate(calls):
        rest = (*calls[:index], *calls[index + 1 :])
        if not call.gives:
            yield rest, {}
        elif len(call.gives) == 1:
            value = program.values[call.gives[0]]
            for other in reversed(there):
                same = program.values[other]
                if same.dims == value.dims and same.dtype == value.dtype:
                    yield rest, {value.number: other}
                    if other not in call.reads():
                        break
        if call.bodies:
            if len(call.bodies) == 2:
                for body, numbers in zip(call.bodies, call.yields, strict=True):
                    yield (*calls[:index], *body, *calls[index + 1 :]), dict(zip(call.gives, numbers, strict=True))
            else:
                yield _unroll_once(calls, index)
            inside = [*there, *(call.gives if len(call.bodies) == 1 else ())]
            for which, body in enumerate(call.bodies):
                for smaller, renamed in _without_one_call(body, program, inside):
                    bodies = tuple(smaller if i == which else body for i, body in enumerate(call.bodies))
                    changed = dataclasses.replace(call, bodies=bodies)
                    yield (*calls[:index], changed, *calls[index + 1 :]), renamed
        there += call.gives


def _unroll_once(calls: tuple[Call, ...], index: int) -> tuple[tuple[Call, ...], dict[int, int]]:
    """One iteration in place of a loop."""
    loop = calls[index]
    names = dict(zip(loop.gives, loop.starts, strict=True))
    body = tuple(call.renamed(names) for call in loop.bodies[0])
    after = {name: names.get(number, number) for name, number in zip(loop.gives, loop.yields[0], strict=True)}
    counter = re.search(r"v(\d+)", loop.code)
    assert counter is not None
    zero = Call("paddle.full([], 0, 'int64')", (int(counter[1]),))
    return (*calls[:index], zero, *body, *calls[index + 1 :]), after


def _renamed(program: Program, names: dict[int, int]) -> Program:
    calls = tuple(call.renamed(names) for call in program.calls)
    results = tuple(dict.fromkeys(resolve(names, number) for number in program.results))
    return dataclasses.replace(program, calls=calls, results=results)


_KEYWORD = re.compile(r", \w+=(?:'[^']*'|\[[^\]]*\]|[^,()\[\]]+)")
_SIMPLER = (
    (re.compile(r"\bpaddle\.shape\((v\d+)\)\[(\d)\]"), r"\1.shape[\2]"),
    (re.compile(r" [*+] 0\.\d+$"), ""),
    (_KEYWORD, ""),
)


def _simplified(program: Program) -> Iterator[Program]:
    """With an argument left out, and with inputs of known dimensions."""
    for index, call in enumerate(program.calls):
        for pattern, plain in _SIMPLER:
            for match in pattern.finditer(call.code):
                code = call.code[: match.start()] + match.expand(plain) + call.code[match.end() :]
                changed = dataclasses.replace(call, code=code)
                yield dataclasses.replace(program, calls=(*program.calls[:index], changed, *program.calls[index + 1 :]))
    for number, declared in program.inputs.items():
        dims = tuple(dim[0] if is_fixed(dim) else -1 for dim in program.values[number].dims)
        if dims != declared:
            yield dataclasses.replace(program, inputs={**program.inputs, number: dims})


def keep(found: Mismatch, name: str, format: str, folder: Path) -> dict[str, str]:
    """Keeps the program of a difference as data, for `--replay`; returns what is printed of it."""
    path = folder / f"{name.replace('/', '-')}-{found.variant.name.replace(' ', '-')}-{found.step}.json"
    path.write_text(json.dumps(found.program.to_json()))
    return {
        "program": name,
        "format": format,
        "variant": found.variant.name,
        "step": found.step,
        "text": found.text[:1000],
        "layer": layer(found.program),
        "kept": str(path),
    }


def shown(kept: Mapping[str, str]) -> str:
    """What is printed of a difference that was kept: what differs, the program, and what compares it again."""
    return (
        f"{kept['program']}, {kept['variant']}, {kept['step']}: {kept['text']}\n{kept['layer']}\n"
        f"python -m tools.fuzz_programs --format {kept['format']} --replay {kept['kept']}"
    )
