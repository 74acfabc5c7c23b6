"""Headers of parameters, of which those that Paddle writes are read without protobuf."""

from random import Random

from paddle2ov.program import parameters
from paddle2ov.program.framework_proto import TensorDesc


def test_headers_are_read_as_protobuf_reads_them():
    rng = Random(0)
    for _ in range(3000):
        dims = [rng.randrange(1 << rng.choice((1, 7, 8, 14, 31))) for _ in range(rng.randrange(6))]
        fields = [rng.randrange(31), *dims]
        text = TensorDesc(data_type=fields[0], dims=dims).SerializeToString()
        assert parameters._plain_fields(text) == fields == parameters._decoded(text)
        damaged = bytearray(text + rng.randbytes(rng.randrange(3)))
        damaged[rng.randrange(len(damaged))] = rng.choice((0, 8, 16, 18, 128, 255, rng.randrange(256)))
        plain = parameters._plain_fields(bytes(damaged))
        assert not plain or plain == parameters._decoded(bytes(damaged))
    long = b"\x80\x80\x80\x80\x00"
    for text in (b"\x08", b"\x10\x01", b"\x88" + long + b"\x01", b"\x08\x81" + 2 * long, b"\x08\xff\xff\xff\xff\x7f"):
        assert not parameters._plain_fields(text)
