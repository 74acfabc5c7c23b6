"""The operator signature table against the installed Paddle: its operator headers and its legacy protos."""

import re
from collections import defaultdict
from functools import cache
from itertools import chain

import pytest

from paddle2ov.program.signatures import ROWS, Signature, key_of_pir, parse_signature, signature, snake_case
from paddle2ov.program.traits import TRAITS
from paddle2ov.translation.unsupported import LEFT_OUT, left_out
from tests.support.paddle_defaults import builders, pir_classes

# PIR programs use other operators in their place: embedding, array_length, array_write_.
ONLY_IN_HEADERS = {"lookup_table", "lod_array_length", "write_to_array"}

# Operands that the headers give no accessor for: variadic ones, and two array operators.
WITHOUT_ACCESSOR = {
    "if": ((), ("out",)),
    "select_input": (("x",), ()),
    "select_output": ((), ("out",)),
    "slice_array": (("starts", "ends"), ()),
    "slice_array_dense": (("starts",), ()),
    "while": (("cond", "x"), ("out",)),
}

# Ports of legacy operators that no operand, result or attribute of the row stands for.
LEGACY_ONLY_PORTS = {
    "conv2d_transpose": {"Bias"},  # oneDNN's
    "depthwise_conv2d_transpose": {"Bias"},
    "feed": {"X"},
    "flatten2": {"XShape"},  # the shape of x, for gradients
    "flatten_contiguous_range": {"XShape"},
    "read_from_array": {"X_W"},
    "reshape2": {"XShape"},
    "squeeze2": {"XShape"},
    "transpose2": {"XShape"},
    "unsqueeze2": {"XShape"},
    "while": {"StepScopes"},
}

# Operands that legacy programs have no name for.
PIR_ONLY_OPERANDS = {
    "assign_value": {"output"},  # the tensor that assign_value_ writes to
    "fill_constant": {"output"},
    "rnn": {"dropout_state_in"},
    "write_to_array": {"array"},  # in legacy programs the variable that the result replaces
}

# Attributes of PIR operators that the legacy protos do not declare: programs carry them all the same, or they are new.
PIR_ONLY_ATTRIBUTES = {
    "dropout": {"seed", "fix_seed"},
    "fetch": {"name"},
    "hash": {"runtime_shape"},
    "lookup_table_v2": {"sparse"},
    "nce": {"custom_neg_classes"},
    "range": {"dtype"},
    "range_v2": {"dtype"},
    "seed": {"deterministic", "rng_name", "force_cpu"},
    "while": {"construct_body", "inputs"},  # arguments of a builder
}

# Spellings that only older programs have.
VALUES = {"bool_values", "fp32_values", "fp64_values", "int32_values", "int64_values"}
OLDER_SPELLINGS = {
    "assign_value": VALUES,
    "expand_as_v2": {"target_tensor"},
    "flip": {"dims"},
    "lookup_table_v2": {"is_sparse"},
    "memory_efficient_attention": {"MaxSeqlenQTensor", "MaxSeqlenKTensor"},
    "roll": {"dims"},
    "set_value": VALUES | {"fp16_values"},
    "trace": {"dim1", "dim2"},
}

Names = tuple[str, ...]


@cache
def headers() -> dict[str, tuple[Names, Names, Names]]:
    """PIR operator, with its in-place `_` -> operands, results, attributes."""
    return {
        name: (_accessors(text, "operand_source"), _accessors(text, "result"), _attributes(text))
        for name, text in pir_classes()
    }


def _accessors(text: str, kind: str) -> Names:
    numbered = {int(n): name for name, n in re.findall(rf"pir::Value (\w+)\(\) \{{ return {kind}\((\d+)\)", text)}
    assert sorted(numbered) == list(range(len(numbered)))
    return tuple(snake_case(numbered[n]) for n in sorted(numbered))


def _attributes(text: str) -> Names:
    """The arguments of all `Build` methods that are not values, as far as they are named like attributes."""
    names: dict[str, None] = {}
    for arguments in builders(text):
        for argument in re.sub(r"<[^>]*>|\{[^}]*\}", "", arguments).split(","):
            name = re.search(r"(\w+)$", argument.partition("=")[0].strip())
            if name and "pir::" not in argument:
                names[name[1]] = None
    return tuple(names)


@cache
def protos() -> dict[str, tuple[Names, Names, Names]]:
    """Legacy operator -> input ports, output ports, attributes."""
    framework = pytest.importorskip("paddle.base.framework")
    bookkeeping = {"op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr"}
    return {
        name: (
            tuple(port.name for port in proto.inputs),
            tuple(port.name for port in proto.outputs),
            tuple(attribute.name for attribute in proto.attrs if attribute.name not in bookkeeping),
        )
        for name, proto in framework.OpProtoHolder.instance().op_proto_map.items()
    }


def rows() -> list[Signature]:
    return [parse_signature(key, row) for key, row in ROWS.items()]


def pir_rows():
    """Every row that PIR has: its signature and the headers' forms of the operator, plain and in place."""
    for row in rows():
        if row.pir_name is not None:
            names = (row.pir_name, row.pir_name.removesuffix("_"), row.pir_name + "_")
            yield row, [headers()[name] for name in dict.fromkeys(names) if name in headers()]


def legacy_rows():
    """Every row with a legacy operator of the installed Paddle, and that operator's proto."""
    for row in rows():
        if row.key in protos():
            yield row, protos()[row.key]


def unexpected(names, known=()):
    """Of names by rows those that are not what is known of the row, or nothing."""
    return {key: left for key, left in names.items() if left != dict(known).get(key, set())}


def test_rows_are_sorted():
    assert list(ROWS) == sorted(ROWS)


def test_rows_keep_to_the_grammar():
    item = r"\w+(=[\w@-]+(\|[\w@-]+)*)?"
    items = rf"({item}(, {item})*)?"
    trait = "|".join(map(re.escape, TRAITS)).join(("(", ")"))
    row = re.compile(rf"(-|\w+)\({items}\) -> \({items}\)(; {item}(, {item})*)?( \[{trait}(, {trait})*\])?")
    assert [key for key, text in ROWS.items() if not row.fullmatch(text)] == []


def test_rows_list_spellings_only_where_the_default_fails():
    idle = {
        (row.key, name)
        for row in rows()
        for name, spellings in row.legacy.items()
        if all(snake_case(spelling) == name for spelling in spellings)
    }
    assert idle == set()


def test_names_are_unique_within_a_row():
    for row in rows():
        spellings = [spelling for group in row.legacy.values() for spelling in group]
        for names in (row.operands, row.results, spellings):
            assert len(set(names)) == len(names), row.key


def test_each_pir_operator_belongs_to_one_row():
    owners = defaultdict(list)
    for row in rows():
        if row.pir_name is not None:
            owners[row.pir_name].append(row.key)
    assert {name: keys for name, keys in owners.items() if keys != [key_of_pir(name)]} == {}
    assert key_of_pir("no_such_op") is None


def test_operands_and_results_are_those_of_the_headers():
    wrong = {}
    for row, forms in pir_rows():
        operands, results = WITHOUT_ACCESSOR.get(row.pir_name, ((), ()))
        expected = (
            max((form[0] for form in forms), key=len, default=()) + operands,
            max((form[1] for form in forms), key=len, default=()) + results,
        )
        if not forms or (row.operands, row.results) != expected:
            wrong[row.key] = expected
        for form in forms:  # a form with fewer operands has the first ones
            assert row.operands[: len(form[0])] == form[0], row.key
    assert wrong == {}, "rows whose operands and results should be these, in this order"


def test_every_pir_operator_has_a_row_or_a_reason():
    known = {name for name in headers() if key_of_pir(name) or left_out(name)}
    assert {name.removesuffix("_") for name in headers().keys() - known} == ONLY_IN_HEADERS


def test_every_legacy_operator_has_a_row_or_a_reason():
    missing = [name for name in protos() if name not in ROWS and not left_out(name)]
    assert missing == [], "write a row, or the reason in LEFT_OUT of paddle2ov/translation/unsupported.py"


def test_rows_are_not_left_out():
    pir_names = {row.pir_name for row in rows()} - {None}
    names = {name for name in pir_names | ROWS.keys() if "_grad" not in name}  # gradients with a row are not left out
    assert {name: left_out(name) for name in names if left_out(name)} == {}, (
        "take them out of LEFT_OUT in paddle2ov/translation/unsupported.py"
    )


def test_what_is_left_out_is_not_stale():
    assert LEFT_OUT.keys() - {left_out(name) for name in (*headers(), *protos())} == set()


def test_in_place_operators_resolve_to_the_same_row():
    wrong = [name for name in headers() if key_of_pir(name.removesuffix("_")) != key_of_pir(name)]
    assert wrong == []


def test_legacy_ports_resolve():
    left = {
        row.key: {port for port in inputs if row.canonical(port) not in (*row.operands, *row.legacy)}
        | {port for port in outputs if row.canonical(port) not in row.results}
        for row, (inputs, outputs, _) in legacy_rows()
    }
    assert unexpected(left, LEGACY_ONLY_PORTS) == {}, (
        "ports of Paddle's proto that the row has no name for: write them as spellings, `x=Input`; a port that no "
        "operand or result stands for belongs in LEGACY_ONLY_PORTS"
    )


def test_legacy_names_of_one_meaning_are_listed_together():
    """Two ports or attributes stand for the same operand only if the row says so, or if they are spelled alike."""
    wrong = {}
    for row, (inputs, outputs, attributes) in legacy_rows():
        for names in ((*inputs, *attributes), outputs):
            meanings = defaultdict(set)
            for name in names:
                meanings[row.canonical(name)].add(name)
            for meaning, spellings in meanings.items():
                alike = len({snake_case(spelling) for spelling in spellings}) == 1
                if not alike and not spellings <= {*row.spellings(meaning)}:
                    wrong[row.key, meaning] = spellings
    assert wrong == {}


def test_listed_spellings_exist():
    left = {row.key: {*chain(*row.legacy.values())} - {*chain(*proto)} for row, proto in legacy_rows()}
    message = "spellings of rows that Paddle's proto does not have; those of older programs: OLDER_SPELLINGS"
    assert unexpected(left, OLDER_SPELLINGS) == {}, message


def test_listed_attributes_are_pir_attributes():
    left = {
        row.key: {*row.legacy} - {*row.operands, *row.results, *chain(*(form[2] for form in forms))}
        for row, forms in pir_rows()
    }
    message = "attributes of rows that no `Build` of Paddle's headers has: write PIR's name before the `=`"
    assert unexpected(left) == {}, message


def test_operands_have_a_legacy_name():
    left = {
        row.key: {*row.operands, *row.results} - {row.canonical(name) for name in chain(*proto)}
        for row, proto in legacy_rows()
    }
    assert unexpected(left, PIR_ONLY_OPERANDS) == {}, (
        "operands and results that no port or attribute of Paddle's proto stands for: write its spelling, `x=Input`; "
        "where legacy programs have none, PIR_ONLY_OPERANDS"
    )


def test_attributes_have_a_legacy_name():
    wrong = {}
    for row, forms in pir_rows():
        if row.key in protos():
            inputs, _, attributes = protos()[row.key]
            left = {*chain.from_iterable(form[2] for form in forms)} - {*row.operands, "place"}
            left -= {row.canonical(name) for name in (*inputs, *attributes)}
            if left != PIR_ONLY_ATTRIBUTES.get(row.key, set()):
                wrong[row.key] = left, "the proto has", {*attributes} - {*row.legacy, *chain(*row.legacy.values())}
    assert wrong == {}, (
        "attributes of PIR's operator that Paddle's proto does not have under that name: write its spelling behind the "
        "semicolon of the row, `; threshold=lambda`; where legacy programs have none, PIR_ONLY_ATTRIBUTES"
    )


def test_rows_are_read():
    row = parse_signature("op", "pir_op_(x=Input, axis=AxisTensor|dim) -> (out, indices); keepdim=keep_dim")
    assert (row.pir_name, row.operands, row.results) == ("pir_op_", ("x", "axis"), ("out", "indices"))
    assert row.legacy == {"x": ("Input",), "axis": ("AxisTensor", "dim"), "keepdim": ("keep_dim",)}
    assert [row.canonical(name) for name in ("Input", "dim", "keep_dim", "Indices")] == [
        "x",
        "axis",
        "keepdim",
        "indices",
    ]
    assert parse_signature("op", "-() -> ()").pir_name is None
    assert signature("no_such_op") is None
