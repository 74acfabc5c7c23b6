"""Networks of the kinds that image models are not: small ones, tables, graphs, decoders, voices, spectra, sequences."""

from __future__ import annotations

from functools import partial
from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional

from gen_models.harness.building import as_lod, legacy_op
from gen_models.networks.decoders import decoder
from gen_models.networks.generation import table_decoder


def perceptron(inputs: int, width: int, outputs: int) -> Any:
    """Three linear layers."""
    layers = [nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs)]
    return nn.Sequential(*layers, nn.Softmax())


def chain(length: int) -> Any:
    """The simplest operators, each of which becomes one node; OpenVINO compiles at most 32 of them behind a layer."""
    return nn.Sequential(*(nn.ReLU() for _ in range(length)), nn.Linear(64, 64))


class DeepFM(nn.Layer):
    """A recommender: a large table of embeddings for 26 features, a factorisation machine and a perceptron."""

    def __init__(self, rows: int = 1_000_000, width: int = 16, dense: int = 13) -> None:
        super().__init__()
        self.table, self.first = nn.Embedding(rows, width), nn.Embedding(rows, 1)
        self.enter, self.deep = nn.Linear(dense, width), perceptron(27 * width, 400, 1)[:-1]

    def forward(self, ids: Any, dense: Any) -> Any:
        factors = paddle.concat([self.table(ids), self.enter(dense).unsqueeze(1)], 1)
        second = (factors.sum(1) ** 2 - (factors**2).sum(1)).sum(1, keepdim=True) / 2
        return functional.sigmoid(self.first(ids).sum(1) + second + self.deep(factors.flatten(1)))


class Graph(nn.Layer):
    """Three layers that pass messages over the edges of a graph."""

    def __init__(self, width: int = 64, classes: int = 7) -> None:
        super().__init__()
        self.own = nn.LayerList([nn.Linear(width, width) for _ in range(3)])
        self.sent, self.head = nn.LayerList([nn.Linear(width, width) for _ in range(3)]), nn.Linear(width, classes)

    def forward(self, x: Any, source: Any, target: Any) -> Any:
        for i, own in enumerate(self.own):
            x = functional.relu(own(x) + paddle.geometric.send_u_recv(self.sent[i](x), source, target, "mean"))
        return self.head(x)


class Vocoder(nn.Layer):
    """A generator of HiFi-GAN: frames of a spectrum are enlarged to a wave, between residual blocks."""

    def __init__(self, width: int = 128, rates: tuple[int, ...] = (8, 8, 4)) -> None:
        super().__init__()
        self.enter, self.up, self.blocks = nn.Conv1D(80, width, 7, padding=3), nn.LayerList(), nn.LayerList()
        for rate in rates:
            self.up.append(nn.Conv1DTranspose(width, width // 2, 2 * rate, rate, rate // 2))
            width //= 2
            self.blocks.append(nn.LayerList([nn.Conv1D(width, width, 3, padding=d, dilation=d) for d in (1, 3, 5)]))
        self.leave = nn.Conv1D(width, 1, 7, padding=3)

    def forward(self, x: Any) -> Any:
        x = self.enter(x)
        for i, up in enumerate(self.up):
            x = up(functional.leaky_relu(x, 0.1))
            for conv in self.blocks[i]:
                x = x + conv(functional.leaky_relu(x, 0.1))
        return paddle.tanh(self.leave(functional.leaky_relu(x, 0.1)))


class FourierOperator(nn.Layer):
    """A tensorized Fourier neural operator: weights on the lowest frequencies of an image, beside pointwise layers."""

    def __init__(self, width: int = 32, layers: int = 4, modes: tuple[int, int] = (16, 9)) -> None:
        super().__init__()
        self.modes, self.enter, self.leave = modes, nn.Conv2D(1, width, 1), nn.Conv2D(width, 1, 1)
        self.skips = nn.LayerList([nn.Conv2D(width, width, 1) for _ in range(layers)])
        self.real, self.imag = (
            nn.ParameterList([self.create_parameter([width, width, *modes]) for _ in range(layers)]) for _ in range(2)
        )

    def forward(self, x: Any) -> Any:
        x, (rows, columns) = self.enter(x), self.modes
        height, width = x.shape[2:]
        edge = (height - rows) // 2
        for i, skip in enumerate(self.skips):
            c, d = self.real[i], self.imag[i]
            spectrum = paddle.fft.fftshift(paddle.fft.rfft2(x, norm="forward"), axes=[-2])
            low = spectrum[:, :, edge:-edge, :columns]
            a, b = paddle.real(low), paddle.imag(low)
            pairs = [
                paddle.einsum("bixy,ioxy->boxy", p, c) + sign * paddle.einsum("bixy,ioxy->boxy", q, d)
                for p, q, sign in ((a, b, -1), (b, a, 1))
            ]
            pads = [0, width // 2 + 1 - columns, edge, edge]
            kept = paddle.complex(*(functional.pad(part, pads) for part in pairs))
            y = paddle.fft.irfft2(paddle.fft.fftshift(kept, axes=[-2]), s=(height, width), norm="forward")
            x = functional.gelu(y + skip(x))
        return self.leave(x)


class Formulas(nn.Layer):
    """A decoder of two layers with caches, which writes this many tokens."""

    def __init__(self, tokens: int = 32, width: int = 256) -> None:
        super().__init__()
        self.tokens, self.decoder = tokens, decoder(layers=2, width=width, words=1000, heads=8)

    def forward(self, features: Any) -> Any:
        limit = paddle.full([1], self.tokens, "int64")
        return self.decoder(features, limit, paddle.full([1, 1], self.tokens, "int64"))


class BeamSearch(nn.Layer):
    """Paddle's own beam search (`dynamic_decode`) over a GRU cell."""

    def __init__(self, width: int = 128, words: int = 1000, steps: int = 20) -> None:
        super().__init__()
        self.steps, self.words = steps, nn.Embedding(words, width)
        self.cell, self.scores = nn.GRUCell(width, width), nn.Linear(width, words)

    def forward(self, state: Any) -> Any:
        beam = nn.BeamSearchDecoder(self.cell, 0, 1, 4, embedding_fn=self.words, output_fn=self.scores)
        found, _, lengths = nn.dynamic_decode(beam, inits=state, max_step_num=self.steps, return_length=True)
        return found, lengths


class LoDTagger(nn.Layer):
    """A tagger as Paddle 1 writes them (LAC): two GRUs of both directions over sequences (LoD), and a CRF."""

    def __init__(self, width: int = 128, labels: int = 57) -> None:
        super().__init__()
        self.words = self.create_parameter([20000, width])
        shapes = [[width if i < 2 else 2 * width, 3 * width] for i in range(4)]
        self.enter = nn.ParameterList([self.create_parameter(shape) for shape in shapes])
        self.states = nn.ParameterList([self.create_parameter([width, 3 * width]) for _ in range(4)])
        self.scores, self.tags = (
            self.create_parameter([2 * width, labels]),
            self.create_parameter([labels + 2, labels]),
        )

    def forward(self, ids: Any) -> Any:
        x = legacy_op(
            "lookup_table", {"Ids": as_lod(ids), "W": self.words}, {"Out": self.words.dtype}, {"padding_idx": -1}
        )
        ports = dict.fromkeys(("BatchGate", "BatchResetHiddenPrev", "BatchHidden", "Hidden"), x.dtype)
        for i in (0, 2):
            both = []
            for k, reverse in ((i, False), (i + 1, True)):
                gates = legacy_op("mul", {"X": x, "Y": self.enter[k]}, {"Out": x.dtype}, {})
                attributes = {"is_test": True, "is_reverse": reverse}
                both.append(legacy_op("gru", {"Input": gates, "Weight": self.states[k]}, ports, attributes)[3])
            x = paddle.concat(both, 1)
        scores = legacy_op("mul", {"X": x, "Y": self.scores}, {"Out": x.dtype}, {})
        inputs = {"Emission": scores, "Transition": self.tags}
        return legacy_op("crf_decoding", inputs, {"ViterbiPath": "int64"}, {})


NETWORKS: dict[str, tuple[Any, list[tuple[str, list[int], str]]]] = {
    "linear": (partial(nn.Linear, 8, 1), [("input", [8], "float32")]),
    "mlp": (partial(perceptron, 16, 64, 4), [("input", [16], "float32")]),
    "relu_chain": (partial(chain, 200), [("x", [64], "float32")]),
    "recommender": (DeepFM, [("ids", [26], "int64"), ("dense", [13], "float32")]),
    "graph": (Graph, [("x", [64], "float32"), ("source", [], "int64"), ("target", [], "int64")]),
    "vocoder": (Vocoder, [("x", [80, -1], "float32")]),
    "fourier_operator": (FourierOperator, [("x", [1, 64, 64], "float32")]),
    "table_decoder": (partial(table_decoder, 256, 96, 100, 30), [("x", [96, -1, -1], "float32")]),
    "formula_decoder": (Formulas, [("features", [-1, 256], "float32")]),
    "beam_search": (BeamSearch, [("state", [128], "float32")]),
    "lod_tagger": (LoDTagger, [("ids", [1], "int64")]),
}
"""As those of networks.py; the last two are for Paddle 2, the last one for no other."""
