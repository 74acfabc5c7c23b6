"""Programs made by hand, with a row for each operator."""

from paddle2ov.program.model import Block, Operator, Output, Parameter, Program, Variable

VERSIONS = {"pir": 1, "legacy": 2_006_002}


def block(index, *rows, inputs="", outputs=""):
    """A block of operators.

    Args:
        index: its number.
        rows: for each operator its type, what it reads and writes (`x=a y=b,c`: values by their ports), and, where it
            has them, its attributes and its blocks.
        inputs: names of the block's arguments.
        outputs: names of what it yields.
    """
    operators = [_operator(index, number, *row) for number, row in enumerate(rows)]
    return Block(index, operators, inputs.split(), outputs.split())


def _operator(index, number, kind, reads, writes, attributes=(), blocks=()):
    return Operator(kind, _ports(reads), _ports(writes), dict(attributes), kind, index, number, tuple(blocks))


def _ports(text):
    return {port: names.split(",") for port, _, names in (item.partition("=") for item in text.split())}


def program(rows, inputs, outputs, variables=(), parameters=(), format="pir"):
    """A program of operators (see `block`); what they write is declared where `variables` do not declare it.

    Args:
        rows: the operators.
        inputs: the variables that are fed.
        outputs: names of the results.
        variables: further variables.
        parameters: arrays by their names, or parameters.
        format: of which it says that it is.
    """
    main = block(0, *rows, inputs=" ".join(variable.name for variable in inputs), outputs=outputs)
    weights = [
        item if isinstance(item, Parameter) else Parameter(item, str(parameters[item].dtype), parameters[item])
        for item in parameters
    ]
    declared = {name: Variable(name) for operator in main.walk() for name in operator.output_names()}
    declared |= {weight.name: Variable(weight.name, weight.dtype, weight.data.shape) for weight in weights}
    declared |= {variable.name: variable for variable in (*inputs, *variables)}
    results = [Output(name, name) for name in main.outputs]
    named = {weight.name: weight for weight in weights}
    return Program(format, VERSIONS[format], main, list(inputs), results, declared, named)
