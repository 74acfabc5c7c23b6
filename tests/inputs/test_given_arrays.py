"""Files of arrays: what is none, or says that it holds more than it does, is refused before it is read."""

import io
import re
import zipfile

import numpy as np
import pytest

import paddle2ov
from paddle2ov.inputs.given_arrays import load


def zipped(text, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("x.npy", text)
    return file.getvalue()


def headed(shape, descr="<f4", data=b"\0" * 24):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data


SAVED = io.BytesIO()
np.savez(SAVED, x=np.zeros(100))
NO_ARRAYS = [
    (b"", ""),
    (b"hello", ""),
    (b"PK\x03\x04nonsense", ""),
    (b"\x93NUMPY", ""),
    (SAVED.getvalue()[:-30], ""),
    (SAVED.getvalue()[:80] + bytes(40) + SAVED.getvalue()[120:], ""),
    (zipped(headed((2**40,))), "the header does not fit the data"),  # 4 TB, before any data is read
    (zipped(headed((2, 3), "|O", b"\x80\x04.")), "arrays of Python objects"),
    (zipped(headed((2, 3), "<f3")), "not a valid dtype|f3"),
    (zipped(b"\x93NUMPY\1\0\x05\0{1: ("), "EOF|header"),
    (zipped(bytes(2**20 + 1)), "more than 1048576 bytes"),
    (zipped(b"x").replace(b"\x08\0", b"\x63\0"), "compression"),
]


@pytest.mark.parametrize(("content", "message"), NO_ARRAYS)
def test_files_that_hold_no_arrays(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr("paddle2ov.inputs.given_arrays._MAX_BYTES", 2**20)
    path = tmp_path / "inputs.npz"
    path.write_bytes(content)
    wanted = rf"{re.escape(str(path))} is not an \.npz file of arrays: .*({message})"
    with pytest.raises(paddle2ov.ConversionInputError, match=wanted):
        load(path)
