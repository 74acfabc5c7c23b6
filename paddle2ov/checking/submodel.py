"""Parts of a model: cut at values that become inputs, up to values that become results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from openvino import Model, Node, Tensor
from openvino.op import Constant, Parameter

from paddle2ov.comparison.evaluator import NUMBER, ValueKey, keys_read, node_number, nodes_by_number
from paddle2ov.comparison.tensors import copied, is_float
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.opset import ops
from paddle2ov.graph.upstream import reached

_FIRST_NEW = 10**7
_SOURCES = ("Parameter", "Constant")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a numbered model.

    Attributes:
        results: the values to compute.
        cuts: the nodes whose values are given.
        constants: those of them whose values are constants of the part, the same in each run.
    """

    results: tuple[ValueKey, ...]
    cuts: frozenset[int] = frozenset()
    constants: frozenset[int] = frozenset()


class Structure:
    """The edges between the nodes of a numbered model, which stand in the order in which they are computed."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sources: dict[int, list[ValueKey]] = {}
        self.readers: dict[ValueKey, list[int]] = {}
        self.kinds: dict[int, str] = {}
        self.is_integer: dict[int, bool] = {}
        for node in model.get_ordered_ops():
            number = node_number(node)
            self.kinds[number] = node.get_type_name()
            self.is_integer[number] = not any(is_float(port.get_element_type()) for port in node.outputs())
            self.sources[number] = keys_read(node)
            for key in self.sources[number]:
                self.readers.setdefault(key, []).append(number)
        self.results: tuple[ValueKey, ...] = tuple(self.sources[node_number(node)][0] for node in model.get_results())

    def computed(self, part: Part) -> list[int]:
        """The nodes of a part that compute something, in order."""

        def computing(keys: Iterable[ValueKey]) -> list[int]:
            return [item for item, _ in keys if item not in part.cuts and self.kinds[item] not in _SOURCES]

        needed = reached(computing(part.results), lambda number: computing(self.sources[number]))
        return [number for number in self.sources if number in needed]

    def given(self, part: Part) -> list[ValueKey]:
        """The values that are given to a part, but for inputs of the model: those of the cuts."""
        computed = set(self.computed(part))
        keys = (key for number, read in self.sources.items() if number in computed for key in read)
        return list(dict.fromkeys(key for key in (*keys, *part.results) if key[0] in part.cuts))


def build(structure: Structure, part: Part, constants: Mapping[ValueKey, Tensor]) -> tuple[Model, list[ValueKey]]:
    """The part as a model, and the values that its inputs take: of cuts, or of the whole model's inputs.

    `constants` are the values of the cuts that are its constants.
    """
    model = structure.model.clone()
    nodes = nodes_by_number(model)
    parameters: dict[ValueKey, Parameter] = {}
    computed = set(structure.computed(part))
    for i, key in enumerate(structure.given(part)):
        number, port = key
        output = nodes[number].output(port)
        if key in constants:
            source: Node = Constant(copied(constants[key]))
        else:
            source = parameters[key] = ops.parameter(output.get_partial_shape(), output.get_element_type())
            source.set_friendly_name(f"cut_{number}_{port}")
            source.get_rt_info()[NUMBER] = str(_FIRST_NEW + i)
        for target in consumers(output):
            target.replace_source_output(source.output(0))
    read = {key for number in computed for key in structure.sources[number]} | set(part.results)
    for node in model.get_parameters():
        key = (node_number(node), 0)
        if key in read:
            parameters[key] = node
    outputs = [parameters[key].output(0) if key in parameters else nodes[key[0]].output(key[1]) for key in part.results]
    sinks = [node for node in model.get_sinks() if node_number(node) in computed]
    results = [ops.result(output) for output in outputs]
    return Model(results, sinks, list(parameters.values()), "part"), list(parameters)
