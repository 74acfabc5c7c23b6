"""Workarounds applied to a graph, and what a graph says that it was made for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

from openvino import Model

from paddle2ov.errors import ConversionInputError
from paddle2ov.passes import NORMAL_FORM, REWRITES, Counts, Rewrite, run_rewrites
from paddle2ov.workarounds.row import Workaround
from paddle2ov.workarounds.table import WORKAROUNDS
from paddle2ov.workarounds.target import HERE, INSTALLED, Target, version_of

_MADE_FOR = "paddle2ov", "made_for"
_ANY = "any"


def apply(model: Model, target: Target | str | None = None, *, without: Collection[str] = ()) -> dict[str, Counts]:
    """Keeps what OpenVINO computes wrongly out of a graph, in place.

    `convert` does so. Do it again after what changes a graph: `Model.reshape`, `PrePostProcessor`, NNCF, an IR of
    `convert` that was read by another OpenVINO. Where there is nothing left to do it does nothing.

    Args:
        model: any model, from Paddle or not.
        target: the device ("CPU", "GPU", "NPU"), with the OpenVINO that compiles it if that is not the installed one;
            None for any device.
        without: names of workarounds, or of faults, to leave out.

    Returns:
        What was done: name of a workaround -> {"sites": how many}.

    Raises:
        ConversionInputError: the device or one of the names is unknown.
        RewriteError: a workaround failed.
    """
    target = target if isinstance(target, Target) else Target.named(target)
    if made_for(model) is None:
        rewrites = rewrites_for(target, without, rewrite=False)
    else:  # it has its normal form, and may be reshaped again, to sizes for which other nodes change nothing
        rewrites = tuple(row for row in rows_for(target, without) if not row.fits_sizes)
    done = run_rewrites(model, rewrites)
    stamp(model, target)
    return {name: counts for name, counts in done.items() if any(counts.values())}


def rewrites_for(target: Target = HERE, without: Collection[str] = (), *, rewrite: bool = True) -> tuple[Rewrite, ...]:
    """All that is done to a graph for a target, in order: to constants, the rewrites, and the other workarounds.

    Raises:
        ConversionInputError: `without` has a name that is neither a workaround's nor a fault's.
    """
    rows = rows_for(target, without)
    early, late = ([row for row in rows if row.early == is_early] for is_early in (True, False))
    return (*early, *(REWRITES if rewrite else NORMAL_FORM), *late)


@cache
def _serving(target: Target) -> tuple[Workaround, ...]:
    return tuple(row for row in WORKAROUNDS if row.serves(target))


def rows_for(target: Target, without: Collection[str] = ()) -> tuple[Workaround, ...]:
    """The workarounds that a graph for a target needs.

    Raises:
        ConversionInputError: `without` has a name that is neither a workaround's nor a fault's.
    """
    rows = _serving(target)
    listed = [without] if isinstance(without, str) or not isinstance(without, Iterable) else list(without)
    if not listed:
        return rows
    if not all(isinstance(name, str) for name in listed):
        raise ConversionInputError(f"without: names of workarounds are expected, not {without!r:.80}")
    left_out = set(listed)
    names = {name for row in WORKAROUNDS for name in (row.name, *row.faults)}
    for name in sorted(left_out - names):
        import difflib  # which no other conversion needs

        close = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean '{close[0]}'?" if close else "a report (`--report`) names those that changed the model"
        raise ConversionInputError(f"without: there is no workaround, and no fault, of the name {name!r}; {hint}")
    return tuple(row for row in rows if left_out.isdisjoint((row.name, *row.faults)))


def stamp(model: Model, target: Target) -> None:
    """Notes in the model's runtime information what it was made for; IR keeps it."""
    model.set_rt_info(target.device or _ANY, [*_MADE_FOR, "device"])
    model.set_rt_info(".".join(map(str, target.openvino)), [*_MADE_FOR, "openvino"])


def made_for(model: Model) -> Target | None:
    """What a model says that it was made for; None if it says nothing."""
    if not model.has_rt_info([*_MADE_FOR, "device"]):
        return None
    device, release = (str(model.get_rt_info([*_MADE_FOR, key]).astype(str)) for key in ("device", "openvino"))
    return Target(None if device == _ANY else device, version_of(release))


def mismatch(model: Model, device: str) -> str:
    """What is wrong with compiling a model for a device, by its name in OpenVINO, in the installed release; or ""."""
    made, met = made_for(model), Target.of_device(device)
    if made is None:
        return ""
    if made.device not in (None, met.device):
        return f"the model was converted for {made}, and {device} compiles it; convert it with device={met.device!r}"
    if made.openvino > INSTALLED:
        return f"the model was converted for {made}, which is newer than the installed one; convert it again"
    return ""
