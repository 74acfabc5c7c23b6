"""What the system refuses is said in words: no numbers of errors, no Python."""

import ast
from pathlib import Path

import paddle2ov
from paddle2ov.errors import system_message, system_reason

ROOT = Path(paddle2ov.__file__).parent


def handlers(tree):
    """The clauses that catch errors of the system under a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            caught = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
            if caught & {"OSError", "PermissionError", "FileNotFoundError"}:
                yield node


def said_as_python_does(handler):
    """Places where the exception's own text, which begins with its number, is said, not only looked at."""
    looked_at = set()
    for node in ast.walk(handler):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Compare) or getattr(called, "attr", "") == "search":
            looked_at.update(map(id, ast.walk(node)))
        if id(node) in looked_at:
            continue
        parts = [node.value] if isinstance(node, ast.FormattedValue) else []
        if getattr(called, "id", "") == "str" or getattr(called, "attr", "") == "warning":
            parts = getattr(node, "args", [])
        yield from (part.lineno for part in parts if getattr(part, "id", "") == handler.name)


def test_no_message_is_that_of_python():
    seen, found = 0, []
    for path in sorted(ROOT.rglob("*.py")):
        for handler in handlers(ast.parse(path.read_text(encoding="utf-8"))):
            seen += 1
            found += [f"{path.relative_to(ROOT)}:{line}" for line in said_as_python_does(handler)]
    assert seen > 20
    assert found == []


def test_messages():
    refused = PermissionError(13, "Permission denied", "model/inference.json")
    assert system_message(refused) == "model/inference.json: Permission denied"
    assert system_reason(refused) == "Permission denied"
    assert system_message(OSError("is the disk full?")) == "is the disk full?"
    assert system_reason(MemoryError()) == "MemoryError: no message"
