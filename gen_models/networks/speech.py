"""Whole networks for speech: recognition over padded batches, synthesis from predicted durations, speakers."""

from __future__ import annotations

from gen_models.harness.network import Network
from gen_models.harness.spec import TensorSpec, paddle, tensor

_WIDTH, _HEADS, _BANDS = 16, 2, 20


def _present(lengths, longest):
    """True for the frames of each row that are not padding."""
    return paddle.arange(longest).astype("int64").unsqueeze(0) < lengths.unsqueeze(1)


def _conformer():
    """Subsampled frames, half steps, attention with relative positions, a gated depthwise convolution, CTC scores."""
    nn = paddle.nn

    class Conformer(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.sample = nn.Sequential(nn.Conv2D(1, 8, 3, 2), nn.ReLU(), nn.Conv2D(8, 8, 3, 2), nn.ReLU())
            self.enter = nn.Linear(8 * 4, _WIDTH)
            self.norms = nn.LayerList([nn.LayerNorm(_WIDTH) for _ in range(5)])
            self.steps = nn.LayerList(
                [nn.Sequential(nn.Linear(16, 32), nn.Swish(), nn.Linear(32, 16)) for _ in range(2)]
            )
            self.q, self.k, self.v, self.p = (nn.Linear(_WIDTH, _WIDTH) for _ in range(4))
            self.out, self.head = nn.Linear(_WIDTH, _WIDTH), nn.Linear(_WIDTH, 12)
            self.bias_u, self.bias_v = (self.create_parameter([_HEADS, _WIDTH // _HEADS]) for _ in range(2))
            self.wide, self.narrow = nn.Conv1D(_WIDTH, 2 * _WIDTH, 1), nn.Conv1D(_WIDTH, _WIDTH, 1)
            self.deep = nn.Conv1D(_WIDTH, _WIDTH, 5, padding=2, groups=_WIDTH)
            self.batch_norm = nn.BatchNorm1D(_WIDTH)

        def positions(self, length):
            """Sines and cosines of the distances from length - 1 down to 1 - length."""
            apart = paddle.arange(length - 1, -length, -1).astype("float32").unsqueeze(1)
            angle = apart * paddle.exp(paddle.arange(0, _WIDTH, 2).astype("float32") * (-9.21 / _WIDTH))
            return paddle.stack([paddle.sin(angle), paddle.cos(angle)], axis=2).flatten(1).unsqueeze(0)

        def attended(self, x, seen):
            length = paddle.shape(x)[1]
            q, k, v = (
                part.reshape([0, -1, _HEADS, _WIDTH // _HEADS]).transpose([0, 2, 1, 3])
                for part in (self.q(x), self.k(x), self.v(x))
            )
            p = self.p(self.positions(length)).reshape([1, -1, _HEADS, _WIDTH // _HEADS]).transpose([0, 2, 3, 1])
            by_place = paddle.matmul(q + self.bias_v.unsqueeze([0, 2]), p)
            batch = paddle.shape(x)[0]
            # Each row is moved by one place more than the row before it.
            padded = paddle.concat([paddle.zeros([batch, _HEADS, length, 1]), by_place], axis=-1)
            padded = padded.reshape([batch, _HEADS, 2 * length, length])
            by_place = padded[:, :, 1:].reshape([batch, _HEADS, length, 2 * length - 1])[:, :, :, :length]
            scores = (paddle.matmul(q + self.bias_u.unsqueeze([0, 2]), k, transpose_y=True) + by_place) * 0.35
            scores = paddle.where(seen.unsqueeze([1, 2]), scores, paddle.full_like(scores, -1e9))
            context = paddle.matmul(paddle.nn.functional.softmax(scores, axis=-1), v)
            return self.out(context.transpose([0, 2, 1, 3]).reshape([0, -1, _WIDTH]))

        def forward(self, sound, lengths):
            x = self.sample(sound.unsqueeze(1)).transpose([0, 2, 1, 3]).flatten(2)
            x = self.enter(x)
            lengths = ((lengths - 1) // 2 - 1) // 2
            seen = _present(lengths, paddle.shape(x)[1])
            x = x + 0.5 * self.steps[0](self.norms[0](x))
            x = x + self.attended(self.norms[1](x), seen)
            y = self.norms[2](x).transpose([0, 2, 1]) * seen.unsqueeze(1).astype("float32")
            y = paddle.nn.functional.glu(self.wide(y), axis=1)
            y = self.narrow(paddle.nn.functional.swish(self.batch_norm(self.deep(y))))
            x = x + (y * seen.unsqueeze(1).astype("float32")).transpose([0, 2, 1])
            x = self.norms[4](x + 0.5 * self.steps[1](self.norms[3](x)))
            chances = paddle.nn.functional.log_softmax(self.head(x), axis=-1)
            return chances, paddle.argmax(chances, axis=-1), lengths

    return Conformer()


def _sounds(frames: int, *lengths: int) -> dict[str, TensorSpec]:
    return {
        "sound": tensor([len(lengths), frames, _BANDS], dims=[-1, -1, _BANDS]),
        "lengths": tensor([len(lengths)], "int64", values=list(lengths), dims=[-1]),
    }


def _synthesis():
    """Phonemes are repeated as often as predicted, then convolutions of normed weights enlarge frames to a wave."""
    nn = paddle.nn

    class Synthesis(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.sounds, self.durations = nn.Embedding(20, 8), nn.Conv1D(8, 1, 3, padding=1)
            self.pitch, self.voiced = nn.Conv1D(8, 1, 3, padding=1), nn.Conv1D(1, 8, 9, padding=4)
            norm = nn.utils.weight_norm
            self.up = norm(nn.Conv1DTranspose(8, 6, 8, stride=4, padding=2))
            self.branches = nn.LayerList([norm(nn.Conv1D(6, 6, 3, padding=d, dilation=d)) for d in (1, 3)])
            self.last = norm(nn.Conv1D(6, 4, 7, padding=3))
            self.bands = nn.Conv1DTranspose(4, 1, 4, stride=4, bias_attr=False)

        def forward(self, phonemes):
            x = self.sounds(phonemes).transpose([0, 2, 1])
            times = paddle.exp(self.durations(x).squeeze(1)) * 1.5
            times = paddle.clip(paddle.round(times), min=1.0).astype("int64")
            ends = paddle.cumsum(times, axis=-1)
            frames = paddle.arange(paddle.max(ends)).astype("int64").unsqueeze([0, 2])
            inside = paddle.logical_and(frames < ends.unsqueeze(1), frames >= (ends - times).unsqueeze(1))
            x = x + self.voiced(self.pitch(x))
            x = paddle.matmul(inside.astype("float32"), x.transpose([0, 2, 1])).transpose([0, 2, 1])
            x = self.up(paddle.nn.functional.leaky_relu(x, 0.1))
            first, second = (x + branch(paddle.nn.functional.leaky_relu(x, 0.1)) for branch in self.branches)
            wave = self.bands(paddle.tanh(self.last(paddle.nn.functional.leaky_relu((first + second) / 2))))
            return wave.squeeze(1), times

    return Synthesis()


def _speaker():
    """ECAPA: dilated convolutions of parts one after another, channels weighed, statistics by attention over frames."""
    nn = paddle.nn

    class Speaker(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.enter = nn.Sequential(nn.Pad1D(2, mode="reflect"), nn.Conv1D(_BANDS, 16, 5), nn.BatchNorm1D(16))
            self.parts = nn.LayerList([nn.Conv1D(4, 4, 3, padding=2, dilation=2) for _ in range(3)])
            self.squeeze, self.excite = nn.Conv1D(16, 4, 1), nn.Conv1D(4, 16, 1)
            self.inner, self.outer = nn.Conv1D(48, 8, 1), nn.Conv1D(8, 16, 1)
            self.norm, self.head = nn.BatchNorm1D(32), nn.Linear(32, 6)

        def forward(self, sound, lengths):
            x = paddle.nn.functional.relu(self.enter(sound.transpose([0, 2, 1])))
            seen = _present(lengths, paddle.shape(x)[2]).unsqueeze(1)
            whole, carried = [], None
            for i, part in enumerate(paddle.chunk(x, 4, axis=1)):
                if i > 0:
                    carried = paddle.nn.functional.relu(self.parts[i - 1](part if carried is None else part + carried))
                whole.append(part if i == 0 else carried)
            y = paddle.concat(whole, axis=1)
            share = seen.astype("float32")
            mean = (y * share).sum(axis=2, keepdim=True) / share.sum(axis=2, keepdim=True)
            x = x + y * paddle.nn.functional.sigmoid(self.excite(paddle.nn.functional.relu(self.squeeze(mean))))
            share = share / share.sum(axis=2, keepdim=True)
            mean = (x * share).sum(axis=2)
            spread = paddle.sqrt((share * (x - mean.unsqueeze(2)).pow(2)).sum(axis=2).clip(1e-6))
            frames = paddle.shape(x)[2]
            both = [part.unsqueeze(2).expand([-1, -1, frames]) for part in (mean, spread)]
            scores = self.outer(paddle.tanh(self.inner(paddle.concat([x, *both], axis=1))))
            scores = paddle.where(seen, scores, paddle.full_like(scores, float("-inf")))
            share = paddle.nn.functional.softmax(scores, axis=2)
            mean = (x * share).sum(axis=2)
            spread = paddle.sqrt((share * (x - mean.unsqueeze(2)).pow(2)).sum(axis=2).clip(1e-6))
            embedded = self.head(self.norm(paddle.concat([mean, spread], axis=1)))
            return paddle.nn.functional.normalize(embedded, axis=1)

    return Speaker()


def _phonemes(batch: int, length: int) -> dict[str, TensorSpec]:
    return {"phonemes": tensor([batch, length], "int64", low=0, high=20, dims=[-1, -1])}


NETWORKS = [
    Network("speech_conformer", _conformer, _sounds(31, 31, 22), more=[_sounds(43, 43)]),
    Network("speech_speaker", _speaker, _sounds(12, 12, 7, 10), more=[_sounds(19, 19, 4)]),
    Network("speech_synthesis", _synthesis, _phonemes(1, 5), more=[_phonemes(2, 8)]),
]
