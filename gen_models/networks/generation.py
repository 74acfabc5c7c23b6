"""Whole networks that write sequences: decoders in loops with growing caches, the best path of a tagger."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import layer_of
from gen_models.harness.marks import legacy
from gen_models.harness.network import Network
from gen_models.harness.spec import TensorSpec, paddle, tensor

_WIDTH, _HEADS, _WORDS = 16, 2, 30


def _heads(x):
    return x.reshape([0, -1, _HEADS, _WIDTH // _HEADS]).transpose([0, 2, 1, 3])


def _merged(x):
    return x.transpose([0, 2, 1, 3]).reshape([0, -1, _WIDTH])


def _translator():
    """An encoder, and a decoder in a loop: keys and values grow, relative positions in buckets, an early end."""
    nn = paddle.nn

    class Translator(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(_WORDS, _WIDTH, padding_idx=0)
            layer = nn.TransformerEncoderLayer(
                _WIDTH, _HEADS, 32, dropout=0.0, activation="gelu", normalize_before=True
            )
            self.encoder = nn.TransformerEncoder(layer, 1, nn.LayerNorm(_WIDTH))
            self.own = nn.Linear(_WIDTH, 3 * _WIDTH)
            self.query, self.memory = nn.Linear(_WIDTH, _WIDTH), nn.Linear(_WIDTH, 2 * _WIDTH)
            self.norm = nn.LayerNorm(_WIDTH)
            self.positions = nn.Embedding(8, _HEADS)
            self.head = nn.Linear(_WIDTH, _WORDS)

        def bias(self, length):
            """T5's: near distances have a bucket each, far ones share them by their logarithm."""
            apart = paddle.arange(length - 1, -1, -1, dtype="int64")
            far = 4 + (paddle.log(apart.astype("float32") / 4.0 + 1e-6) / 1.5 * 4.0).astype("int64")
            far = paddle.minimum(far, paddle.full_like(far, 7))
            return self.positions(paddle.where(apart < 4, apart, far)).transpose([1, 0]).unsqueeze([0, 2])

        def forward(self, source, limit):
            padding = (source == 0).unsqueeze([1, 2]).astype("float32") * -1e9
            encoded = self.encoder(self.words(source), padding)
            key, value = paddle.split(self.memory(encoded), 2, axis=-1)
            key, value = _heads(key), _heads(value)
            token = paddle.ones_like(source[:, :1])
            written = token
            own_key = paddle.zeros_like(key[:, :, :1])[:, :, 1:]
            own_value = own_key
            score = paddle.zeros_like(padding[:, 0, 0, 0])
            ended = paddle.zeros_like(token).astype("bool")
            step = paddle.zeros([1], "int64")
            while step < limit and not ended.all():
                x = self.words(token)
                q, k, v = paddle.split(self.own(self.norm(x)), 3, axis=-1)
                own_key = paddle.concat([own_key, _heads(k)], axis=2)
                own_value = paddle.concat([own_value, _heads(v)], axis=2)
                scores = paddle.matmul(_heads(q), own_key, transpose_y=True) + self.bias(paddle.shape(own_key)[2])
                x = x + _merged(paddle.matmul(paddle.nn.functional.softmax(scores), own_value))
                scores = paddle.matmul(_heads(self.query(x)) * 0.35, key, transpose_y=True) + padding
                x = x + _merged(paddle.matmul(paddle.nn.functional.softmax(scores), value))
                chances = paddle.nn.functional.log_softmax(self.head(x)[:, -1])
                token = paddle.argmax(chances, axis=-1, keepdim=True)
                token = paddle.where(ended, paddle.zeros_like(token), token)
                gained = paddle.take_along_axis(chances, token, 1)
                score = score + paddle.where(ended, paddle.zeros_like(gained), gained).squeeze(1)
                ended = paddle.logical_or(ended, token == 2)
                written = paddle.concat([written, token], axis=1)
                step = step + 1
            return written, score, own_key

    return Translator()


def _source(batch: int, length: int, limit: int) -> dict[str, TensorSpec]:
    words = [[(7 * i + 3 * j) % (_WORDS - 1) + 1 for j in range(length)] for i in range(batch)]
    words[-1][length - 1] = 0
    return {
        "source": tensor([batch, length], "int64", values=words, dims=[-1, -1]),
        "limit": tensor([1], "int64", values=[limit]),
    }


def _causal():
    """One pass of a decoder-only model: rotary positions, shared keys, RMS norms, a gated layer, caches in and out."""
    nn = paddle.nn

    class Causal(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(_WORDS, _WIDTH)
            self.q, self.out = nn.Linear(_WIDTH, _WIDTH, bias_attr=False), nn.Linear(_WIDTH, _WIDTH, bias_attr=False)
            self.kv = nn.Linear(_WIDTH, 2 * _WIDTH // _HEADS, bias_attr=False)
            self.gate, self.up = nn.Linear(_WIDTH, 24, bias_attr=False), nn.Linear(_WIDTH, 24, bias_attr=False)
            self.down = nn.Linear(24, _WIDTH, bias_attr=False)
            self.norm_a = self.create_parameter([_WIDTH], default_initializer=nn.initializer.Constant(1.0))
            self.norm_b = self.create_parameter([_WIDTH], default_initializer=nn.initializer.Constant(0.5))

        def normal(self, x, weight):
            return x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight

        def rotated(self, x, start):
            size = _WIDTH // _HEADS
            steps = (start + paddle.arange(paddle.shape(x)[2])).astype("float32")
            speed = 1.0 / paddle.pow(paddle.to_tensor(10000.0), paddle.arange(0, size, 2).astype("float32") / size)
            angle = paddle.einsum("i,j->ij", steps, speed)
            angle = paddle.concat([angle, angle], axis=-1).unsqueeze([0, 1])
            first, second = paddle.chunk(x, 2, axis=-1)
            return x * paddle.cos(angle) + paddle.concat([-second, first], axis=-1) * paddle.sin(angle)

        def forward(self, ids, keys, values):
            past = paddle.shape(keys)[2]
            x = self.words(ids)
            y = self.normal(x, self.norm_a)
            key, value = paddle.chunk(self.kv(y).unsqueeze(1), 2, axis=-1)
            key = paddle.concat([keys, self.rotated(key, past)], axis=2)
            value = paddle.concat([values, value], axis=2)
            query = self.rotated(_heads(self.q(y)), past)
            total = paddle.shape(key)[2]
            seen = paddle.arange(total).unsqueeze(0) <= past + paddle.arange(total - past).unsqueeze(1)
            scores = paddle.matmul(query, key.expand([-1, _HEADS, -1, -1]), transpose_y=True) / 2.8284271
            scores = paddle.where(seen.unsqueeze([0, 1]), scores, paddle.full_like(scores, -3.4e38))
            attended = paddle.matmul(paddle.nn.functional.softmax(scores), value.tile([1, _HEADS, 1, 1]))
            x = x + self.out(_merged(attended))
            y = self.normal(x, self.norm_b)
            x = x + self.down(paddle.nn.functional.silu(self.gate(y)) * self.up(y))
            return paddle.matmul(x, self.words.weight, transpose_y=True), key, value

    return Causal()


def _step(batch: int, length: int, past: int) -> dict[str, TensorSpec]:
    size = _WIDTH // _HEADS
    return {
        "ids": tensor([batch, length], "int64", low=0, high=_WORDS, dims=[-1, -1]),
        "keys": tensor([batch, 1, past, size], dims=[-1, 1, -1, size]),
        "values": tensor([batch, 1, past, size], dims=[-1, 1, -1, size]),
    }


def _tagger():
    """A bidirectional LSTM over padded sentences, and the best path through the tags' transitions."""
    nn = paddle.nn

    class Tagger(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(_WORDS, 8)
            self.lstm = nn.LSTM(8, 6, direction="bidirect")
            self.tags = nn.Linear(12, 5)
            self.transitions = self.create_parameter([5, 5])
            self.decoder = paddle.text.ViterbiDecoder(self.transitions, include_bos_eos_tag=False)

        def forward(self, words, lengths):
            states, _ = self.lstm(self.words(words), sequence_length=lengths)
            return self.decoder(self.tags(states), lengths)

    return Tagger()


def _sentences(length: int, *lengths: int) -> dict[str, TensorSpec]:
    return {
        "words": tensor([len(lengths), length], "int64", low=0, high=_WORDS, dims=[-1, -1]),
        "lengths": tensor([len(lengths)], "int64", values=list(lengths), dims=[-1]),
    }


def _attended(self, x):
    """Two ways to attend without a mask, to a sentence of one word or of many."""
    q, k, v = (_heads(part) for part in paddle.split(self.parts(x), 3, axis=-1))
    scores = paddle.matmul(q, k, transpose_y=True) * 0.35
    x = x + _merged(paddle.matmul(paddle.nn.functional.softmax(scores), v))
    q, k, v = paddle.split(self.more(x), 3, axis=-1)
    return x + paddle.bmm(paddle.nn.functional.softmax(paddle.bmm(q, k.transpose([0, 2, 1]))), v)


def _attended_parts():
    return {name: paddle.nn.Linear(_WIDTH, 3 * _WIDTH) for name in ("parts", "more")}


def _words(*lengths: int) -> list[dict[str, TensorSpec]]:
    return [{"x": tensor([1, length, _WIDTH], dims=[-1, -1, _WIDTH])} for length in lengths]


def _decoder():
    """Paddle's own beam search (`dynamic_decode`): arrays of states that a loop reads, writes and lets grow."""
    nn = paddle.nn

    class Decoder(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(_WORDS, 8)
            self.cell = nn.GRUCell(8, 8)
            self.scores = nn.Linear(8, _WORDS)

        def forward(self, state):
            search = paddle.nn.BeamSearchDecoder
            decoder = search(self.cell, 0, 1, 3, embedding_fn=self.words, output_fn=self.scores)
            words, _, lengths = paddle.nn.dynamic_decode(decoder, inits=state, max_step_num=6, return_length=True)
            return words, lengths

    return Decoder()


def _state(batch: int, dims: Any = None) -> dict[str, TensorSpec]:
    return {"state": tensor([batch, 8], low=-3.0, high=3.0, dims=dims)}


def table_decoder(width: int, channels: int, steps: int, words: int) -> Any:
    """SLANet's head: a GRU cell with attention to an image's features that writes each step's results in place."""
    nn = paddle.nn

    class TableDecoder(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.sizes = width, steps, words  # Paddle 2 does not see variables around a method
            self.features, self.hidden = nn.Linear(channels, width, bias_attr=False), nn.Linear(width, width)
            self.score = nn.Linear(width, 1, bias_attr=False)
            self.cell = nn.GRUCell(channels + words, width)
            self.structure = nn.Sequential(nn.Linear(width, width), nn.Linear(width, words))
            self.place = nn.Sequential(nn.Linear(width, width), nn.Linear(width, 8))

        def forward(self, x):
            x = paddle.reshape(x, [x.shape[0], x.shape[1], -1]).transpose([0, 2, 1])
            batch, (width, steps, words) = x.shape[0], self.sizes
            hidden = paddle.zeros((batch, width))
            structures, places = paddle.zeros((batch, steps, words)), paddle.zeros((batch, steps, 8))
            ids, token = paddle.zeros((batch, steps), dtype="int64"), paddle.zeros([batch], dtype="int32")
            last = paddle.to_tensor(steps - 1)
            structure, place = None, None
            for i in range(last + 1):
                shown = paddle.nn.functional.one_hot(token, words)
                scores = self.score(paddle.tanh(self.features(x) + self.hidden(hidden).unsqueeze(1)))
                context = paddle.mm(paddle.nn.functional.softmax(scores, axis=1).transpose([0, 2, 1]), x).squeeze(1)
                output, hidden = self.cell(paddle.concat([context, shown], 1), hidden)
                structure, place = self.structure(output), paddle.nn.functional.sigmoid(self.place(output))
                token = structure.argmax(axis=1, dtype="int32")
                structures[:, i, :] = structure
                places[:, i, :] = place
                ids[:, i] = token
                if (ids == words - 1).any(-1).all():
                    break
            return paddle.nn.functional.softmax(structures[:, 0 : i + 1]), places[:, 0 : i + 1]

    return TableDecoder()


def _feature_map(batch: int, height: int, width: int) -> dict[str, TensorSpec]:
    return {"x": tensor([batch, 6, height, width], low=-3.0, high=3.0, dims=[-1, 6, -1, -1])}


_LEGACY = legacy("Paddle 3 cannot export it: its shapes are lost")

NETWORKS = [
    Network("attention_unmasked", layer_of(_attended, _attended_parts), _words(1)[0], more=_words(16, 21)),
    Network("beam_decoder", _decoder, _state(2), **_LEGACY),
    Network("beam_decoder_batches", _decoder, _state(2, [-1, 8]), more=[_state(1), _state(4)], **_LEGACY),
    Network("causal_step", _causal, _step(2, 5, 0), more=[_step(1, 1, 6), _step(3, 2, 3)]),
    Network(
        "table_decoder",
        lambda: table_decoder(8, 6, 9, 7),
        _feature_map(1, 2, 3),
        more=[_feature_map(2, 3, 1), _feature_map(4, 1, 1)],
    ),
    Network("tagger", _tagger, _sentences(7, 7, 4), more=[_sentences(9, 9, 1, 5)]),
    Network("translator", _translator, _source(2, 6, 5), more=[_source(1, 4, 8), _source(3, 5, 0)]),
]
