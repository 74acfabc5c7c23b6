"""Fetch the JavaScript libraries of the HTML report from npm, as they are, into paddle2ov/reporting/assets/vendor.

Run `python -m tools.vendor_assets` after a change of LIBRARIES; it needs npm. Each library is one minified file and its
licence.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "paddle2ov" / "reporting" / "assets" / "vendor"


@dataclass(frozen=True)
class Library:
    name: str
    version: str
    integrity: str  # as `npm view NAME@VERSION dist.integrity` prints it
    file: str
    licence: str


LIBRARIES = (
    Library(
        "chart.js",
        "4.6.1",
        "sha512-hJyniucsFmq//EvXYvJ6c6mahPoI3kaxdjVH8awTaJ/fDNWeSqqqArixMJWkWNN6fcYvPU3HneSANFNYtRi61g==",
        "dist/chart.umd.min.js",
        "LICENSE.md",
    ),
    Library(
        "@dagrejs/dagre",
        "3.1.3",
        "sha512-X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg==",
        "dist/dagre.min.js",
        "LICENSE",
    ),
    Library(
        "cytoscape",
        "3.34.4",
        "sha512-msY99tMY8iWTg+sIPGfSqDcPNOt4xcj+v/K/7qUFaCUxxlqnMkUYLBjRUzn9W5CU/R2hrmtJa5+UtovrEM2ctg==",
        "dist/cytoscape.min.js",
        "LICENSE",
    ),
)


def fetch(library: Library) -> None:
    """Download one package, check it, and take its file and licence out."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", f"{library.name}@{library.version}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (archive,) = Path(folder).glob("*.tgz")
        digest = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != library.integrity:
            raise SystemExit(f"{archive.name}: {digest} is not what LIBRARIES says")
        licence = f"{library.name.rpartition('/')[2].removesuffix('.js')}.LICENSE.txt"
        with tarfile.open(archive) as tar:
            for source, target in ((library.file, Path(library.file).name), (library.licence, licence)):
                member = tar.extractfile(f"package/{source}")
                assert member is not None
                (TARGET / target).write_bytes(member.read())


def main() -> None:
    """Fetch all of them."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for library in LIBRARIES:
        fetch(library)
        print(f"{library.name} {library.version}")


if __name__ == "__main__":
    main()
