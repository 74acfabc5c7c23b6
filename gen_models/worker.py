"""Generates models on request, in the interpreter of another Paddle: one JSON request per line in, one reply out.

Request: `{"op": name, "module": module, "case": {...}, "folder": path}`, for a network with null as case; reply: `{"ok": true}` or `{"error": text}`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path


def serve() -> None:
    """Answers requests until standard input ends."""
    # Paddle prints: replies go to a copy of standard output, everything else to standard error.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    from gen_models.generate import generate
    from gen_models.network import generate_network
    from gen_models.spec import Case

    for line in sys.stdin:
        request = json.loads(line)
        try:
            module = importlib.import_module(request["module"])
            if request["case"] is None:
                network = next(one for one in module.NETWORKS if one.name == request["op"])
                generate_network(network, "legacy", Path(request["folder"]))
                replies.write('{"ok": true}\n')
                continue
            op = next(op for op in module.OPS if op.name == request["op"])
            generate(op, Case.from_json(request["case"]), "legacy", Path(request["folder"]))
            reply: dict[str, object] = {"ok": True}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        replies.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    serve()
