"""The networks of `gen_models` as models; one that is not there is exported."""

from __future__ import annotations

from pathlib import Path


def model_folder(name: str, format: str = "pir") -> Path:
    """The folder of a network in that format."""
    from gen_models import all_networks
    from gen_models.harness.store import generated_network

    return generated_network(all_networks()[name], format).absolute()
