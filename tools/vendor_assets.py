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
from pathlib import Path

from tools.written import ROOT

TARGET = ROOT / "paddle2ov" / "reporting" / "assets" / "vendor"
LIBRARIES = {
    "chart.js@4.6.1": (
        "hJyniucsFmq//EvXYvJ6c6mahPoI3kaxdjVH8awTaJ/fDNWeSqqqArixMJWkWNN6fcYvPU3HneSANFNYtRi61g==",
        {"dist/chart.umd.min.js": "chart.umd.min.js", "LICENSE.md": "chart.LICENSE.txt"},
    ),
    "@dagrejs/dagre@3.1.3": (
        "X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg==",
        {"dist/dagre.min.js": "dagre.min.js", "LICENSE": "dagre.LICENSE.txt"},
    ),
    "cytoscape@3.34.4": (
        "msY99tMY8iWTg+sIPGfSqDcPNOt4xcj+v/K/7qUFaCUxxlqnMkUYLBjRUzn9W5CU/R2hrmtJa5+UtovrEM2ctg==",
        {"dist/cytoscape.min.js": "cytoscape.min.js", "LICENSE": "cytoscape.LICENSE.txt"},
    ),
}
"""Package -> its SHA-512, as `npm view PACKAGE dist.integrity` prints it, and what is taken under which name."""


def main() -> None:
    """Download the packages, check them, and take their files out."""
    for package, (digest, files) in LIBRARIES.items():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            (archive,) = Path(folder).glob("*.tgz")
            found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
            if found != digest:
                raise SystemExit(f"{package}: {found} is not what LIBRARIES says")
            with tarfile.open(archive) as tar:
                for source, target in files.items():
                    member = tar.extractfile(f"package/{source}")
                    assert member is not None
                    (TARGET / target).write_bytes(member.read())
        print(package)


if __name__ == "__main__":
    main()
