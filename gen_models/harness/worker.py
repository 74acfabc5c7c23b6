"""Generates models on request, in the interpreter of another Paddle: one JSON request per line in, one reply out.

Request: `{"op": name, "module": module, "source": its path, "case": {...}, "folder": path}`; a list of cases is written
as one model; without a case (null) `op` names a network. `{"program": {...}, "folder": path}`: a random program. Reply:
`{"ok": true}` or `{"error": text}`. `{"code": text}` is run; reply: `{"printed": text}`, or an error.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any


def serve() -> None:
    """Answers requests until standard input ends."""
    # Paddle prints: replies go to a copy of standard output, everything else to standard error.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    from gen_models.harness.generate import GenerationError, generate, generate_together, short_stacks, writes
    from gen_models.harness.network import generate_network
    from gen_models.harness.spec import Case
    from gen_models.programs.program import Program
    from gen_models.programs.source import network

    short_stacks().start()
    for line in sys.stdin:
        request = json.loads(line)
        reply: dict[str, object]
        try:
            if "program" in request:
                generate_network(network(Program.from_json(request["program"])), writes(), Path(request["folder"]))
                replies.write(json.dumps({"ok": True}) + "\n")
                continue
            if "code" in request:
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(request["code"], {})
                replies.write(json.dumps({"printed": printed.getvalue()}) + "\n")
                continue
            module = _module(request["module"], request["source"])
            case, folder = request["case"], Path(request["folder"])
            if case is None:
                requested = next(network for network in module.NETWORKS if network.name == request["op"])
                generate_network(requested, writes(), folder)
            else:
                ops = (*getattr(module, "OPS", ()), *getattr(module, "CHAINS", ()))
                op = next(op for op in ops if op.name == request["op"])
                if isinstance(case, list):
                    generate_together(op, [Case.from_json(item) for item in case], writes(), folder)
                else:
                    generate(op, Case.from_json(case), writes(), folder)
            reply = {"ok": True}
        except StopIteration:
            reply = {"error": f"module {request['module']} has no {request['op']} in its OPS, CHAINS or NETWORKS"}
        except GenerationError as error:
            reply = {"error": str(error)}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        replies.write(json.dumps(reply) + "\n")


def _module(name: str, source: str | None) -> Any:
    """A module by its name or, if it stands outside the repository, by its path."""
    if name in sys.modules or source is None or importlib.util.find_spec(name.partition(".")[0]):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    serve()
