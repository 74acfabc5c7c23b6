"""Whole networks that read sequences: encoders with masks, text recognisers, windowed attention."""

from __future__ import annotations

from gen_models.harness.building import make_layer
from gen_models.harness.network import Network, network_of
from gen_models.harness.spec import TensorSpec, paddle, tensor

# --- BERT: embeddings, a padding mask, two encoder layers, a pooler --------------------------------------------------

_WIDTH, _HEADS, _WORDS = 32, 4, 60


def _bert_parts():
    nn = paddle.nn
    layer = nn.TransformerEncoderLayer(_WIDTH, _HEADS, 64, dropout=0.1, activation="gelu")
    return {
        "words": nn.Embedding(_WORDS, _WIDTH, padding_idx=0),
        "places": nn.Embedding(40, _WIDTH),
        "kinds": nn.Embedding(2, _WIDTH),
        "norm": nn.LayerNorm(_WIDTH),
        "dropout": nn.Dropout(0.1),
        "encoder": nn.TransformerEncoder(layer, 2),
        "pooler": nn.Linear(_WIDTH, _WIDTH),
        "classifier": nn.Linear(_WIDTH, 3),
    }


def _bert(self, input_ids, token_type_ids):
    padding = (input_ids == 0).astype("float32").unsqueeze([1, 2]) * -1e4
    ones = paddle.ones_like(input_ids)
    places = paddle.cumsum(ones, axis=1) - ones
    embedded = self.words(input_ids) + self.places(places) + self.kinds(token_type_ids)
    states = self.encoder(self.dropout(self.norm(embedded)), padding)
    return states, self.classifier(paddle.tanh(self.pooler(states[:, 0])))


def _ids(batch: int, length: int, padded: int = 0) -> dict[str, TensorSpec]:
    words = [[(7 * i + 3 * j) % (_WORDS - 1) + 1 for j in range(length)] for i in range(batch)]
    for row in words[1:]:
        row[length - padded :] = [0] * padded
    kinds = tensor([batch, length], "int64", low=0, high=2, dims=[-1, -1])
    return {"input_ids": tensor([batch, length], "int64", values=words, dims=[-1, -1]), "token_type_ids": kinds}


# --- an encoder with attention written by hand, pre-norm and with a fused projection ---------------------------------


def _mixer_parts(i):
    """The i-th block of attention and two dense layers."""
    nn = paddle.nn
    return {
        f"norm_a{i}": nn.LayerNorm(_WIDTH, epsilon=1e-6),
        f"qkv{i}": nn.Linear(_WIDTH, 3 * _WIDTH),
        f"out{i}": nn.Linear(_WIDTH, _WIDTH),
        f"norm_b{i}": nn.LayerNorm(_WIDTH, epsilon=1e-6),
        f"up{i}": nn.Linear(_WIDTH, 2 * _WIDTH),
        f"down{i}": nn.Linear(2 * _WIDTH, _WIDTH),
    }


def _attention_parts():
    nn = paddle.nn
    parts = {"norm": nn.LayerNorm(_WIDTH, epsilon=1e-6)}
    for i in range(2):
        parts |= _mixer_parts(i)
    return parts


def _attend(x, qkv, heads, bias=None):
    """Attention over the last axis but one of [batch, tokens, width], with the projection fused as in ViT and Swin."""
    length, width = x.shape[1], x.shape[2]
    length = paddle.shape(x)[1] if length == -1 else length
    split = qkv.reshape([-1, length, 3, heads, width // heads]).transpose([2, 0, 3, 1, 4])
    q, k, v = split[0], split[1], split[2]
    scores = paddle.matmul(q * (width // heads) ** -0.5, k, transpose_y=True)
    scores = scores if bias is None else bias(scores)
    context = paddle.matmul(paddle.nn.functional.softmax(scores), v)
    return context.transpose([0, 2, 1, 3]).reshape([-1, length, width])


def _encoder_by_hand(self, x, lengths):
    steps = paddle.arange(paddle.shape(x)[1]).unsqueeze(0)
    mask = (steps.astype("int64") < lengths.unsqueeze(1)).unsqueeze([1, 2])
    for i in range(2):
        y = getattr(self, f"norm_a{i}")(x)
        attended = _attend(
            y,
            getattr(self, f"qkv{i}")(y),
            _HEADS,
            lambda scores: paddle.where(mask, scores, paddle.full_like(scores, -1e9)),
        )
        x = x + getattr(self, f"out{i}")(attended)
        y = getattr(self, f"up{i}")(getattr(self, f"norm_b{i}")(x))
        x = x + getattr(self, f"down{i}")(paddle.nn.functional.gelu(y, approximate=i == 1))
    return self.norm(x)


def _states(batch: int, length: int, *lengths: int) -> dict[str, TensorSpec]:
    return {
        "x": tensor([batch, length, _WIDTH], dims=[-1, -1, _WIDTH]),
        "lengths": tensor([batch], "int64", values=list(lengths), dims=[-1]),
    }


# --- CRNN: convolutions, a bidirectional LSTM over a dynamic width, class scores per step ----------------------------


def _crnn_parts():
    nn = paddle.nn
    return {
        "features": nn.Sequential(
            nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.BatchNorm2D(8), nn.Hardswish(),
            nn.Conv2D(8, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D([2, 1], [2, 1]),
            nn.Conv2D(16, 16, 3, stride=[2, 1], padding=1), nn.BatchNorm2D(16), nn.ReLU(),
            nn.AvgPool2D([4, 1], [4, 1]),
        ),
        "lstm": nn.LSTM(16, 12, direction="bidirect", num_layers=2),
        "head": nn.Linear(24, 20),
    }  # fmt: skip


def _crnn(self, x):
    steps = self.features(x).squeeze(2).transpose([0, 2, 1])
    return paddle.nn.functional.softmax(self.head(self.lstm(steps)[0]), axis=2)


def _line(batch: int, width: int) -> dict[str, TensorSpec]:
    return {"x": tensor([batch, 3, 32, width], dims=[-1, 3, 32, -1])}


# --- a Swin stage: windows, shifted windows with a mask, relative position bias, patch merging -----------------------

_SIDE, _WINDOW = 8, 4
_TOKENS = _WINDOW * _WINDOW


def _swin_parts():
    nn = paddle.nn
    parts = {
        "patches": nn.Conv2D(3, _WIDTH, 4, stride=4),
        "merge_norm": nn.LayerNorm(4 * _WIDTH),
        "merge": nn.Linear(4 * _WIDTH, 2 * _WIDTH, bias_attr=False),
    }
    for i in range(2):
        table = paddle.create_parameter([(2 * _WINDOW - 1) ** 2, _HEADS], "float32")
        parts |= {
            f"norm_a{i}": nn.LayerNorm(_WIDTH),
            f"qkv{i}": nn.Linear(_WIDTH, 3 * _WIDTH),
            f"table{i}": table,
            f"out{i}": nn.Linear(_WIDTH, _WIDTH),
            f"norm_b{i}": nn.LayerNorm(_WIDTH),
            f"up{i}": nn.Linear(_WIDTH, 2 * _WIDTH),
            f"down{i}": nn.Linear(2 * _WIDTH, _WIDTH),
        }
    return parts


def _windows(x):
    n = _SIDE // _WINDOW
    x = x.reshape([-1, n, _WINDOW, n, _WINDOW, x.shape[-1]]).transpose([0, 1, 3, 2, 4, 5])
    return x.reshape([-1, _TOKENS, x.shape[-1]])


def _whole(windows):
    n, width = _SIDE // _WINDOW, windows.shape[-1]
    x = windows.reshape([-1, n, n, _WINDOW, _WINDOW, width]).transpose([0, 1, 3, 2, 4, 5])
    return x.reshape([-1, _SIDE, _SIDE, width])


def _relative_places():
    steps = paddle.arange(_WINDOW)
    grid = paddle.stack(paddle.meshgrid(steps, steps)).flatten(1)
    relative = (grid.unsqueeze(2) - grid.unsqueeze(1)).transpose([1, 2, 0]) + (_WINDOW - 1)
    return (relative[:, :, 0] * (2 * _WINDOW - 1) + relative[:, :, 1]).reshape([-1])


def _shift_mask(shift):
    region = paddle.zeros([1, _SIDE, _SIDE, 1])
    bounds = (slice(0, -_WINDOW), slice(-_WINDOW, -shift), slice(-shift, None))
    for i, rows in enumerate(bounds):
        for j, columns in enumerate(bounds):
            region[:, rows, columns, :] = float(3 * i + j)
    windows = _windows(region).squeeze(-1)
    apart = windows.unsqueeze(1) - windows.unsqueeze(2)
    return paddle.where(apart != 0, paddle.full_like(apart, -100.0), paddle.zeros_like(apart))


def _swin_stage(self, x):
    x = self.patches(x).flatten(2).transpose([0, 2, 1])
    for i, shift in enumerate((0, _WINDOW // 2)):
        grid = getattr(self, f"norm_a{i}")(x).reshape([-1, _SIDE, _SIDE, _WIDTH])
        grid = paddle.roll(grid, [-shift, -shift], axis=[1, 2]) if shift else grid
        windows = _windows(grid)
        bias = paddle.index_select(getattr(self, f"table{i}"), _relative_places())
        bias = bias.reshape([_TOKENS, _TOKENS, _HEADS]).transpose([2, 0, 1]).unsqueeze(0)

        def biased(scores, bias=bias, shift=shift):
            scores = scores + bias
            if not shift:
                return scores
            mask = _shift_mask(shift).unsqueeze([0, 2])
            scores = scores.reshape([-1, mask.shape[1], _HEADS, _TOKENS, _TOKENS]) + mask
            return scores.reshape([-1, _HEADS, _TOKENS, _TOKENS])

        attended = getattr(self, f"out{i}")(_attend(windows, getattr(self, f"qkv{i}")(windows), _HEADS, biased))
        grid = _whole(attended)
        grid = paddle.roll(grid, [shift, shift], axis=[1, 2]) if shift else grid
        x = x + grid.reshape([-1, _SIDE * _SIDE, _WIDTH])
        y = paddle.nn.functional.gelu(getattr(self, f"up{i}")(getattr(self, f"norm_b{i}")(x)))
        x = x + getattr(self, f"down{i}")(y)
    grid = x.reshape([-1, _SIDE, _SIDE, _WIDTH])
    corners = [grid[:, i::2, j::2, :] for j in (0, 1) for i in (0, 1)]
    merged = paddle.concat(corners, -1).reshape([-1, _SIDE * _SIDE // 4, 4 * _WIDTH])
    return self.merge(self.merge_norm(merged))


def _picture(batch: int) -> dict[str, TensorSpec]:
    return {"x": tensor([batch, 3, 4 * _SIDE, 4 * _SIDE], dims=[-1, 3, 4 * _SIDE, 4 * _SIDE])}


# --- SVTR: local and global mixing of a text line, with the height merged between stages -----------------------------

_HEIGHT, _COLUMNS = 4, 12


def _svtr_parts():
    nn = paddle.nn
    stem = [
        nn.Conv2D(3, _WIDTH // 2, 3, 2, 1), nn.BatchNorm2D(_WIDTH // 2), nn.GELU(),
        nn.Conv2D(_WIDTH // 2, _WIDTH, 3, 2, 1), nn.BatchNorm2D(_WIDTH), nn.GELU(),
    ]  # fmt: skip
    parts = {
        "stem": nn.Sequential(*stem),
        "merge": nn.Conv2D(_WIDTH, _WIDTH, 3, stride=[2, 1], padding=1),
        "merge_norm": nn.LayerNorm(_WIDTH),
        "pool": nn.AdaptiveAvgPool2D([1, _COLUMNS]),
        "last": nn.Conv2D(_WIDTH, 24, 1, bias_attr=False),
        "head": nn.Linear(24, 20),
    }
    for i in range(2):
        parts |= _mixer_parts(i)
    return parts


def _near(height, width, rows, columns):
    """0 between tokens within `rows` and `columns` of each other, -inf elsewhere."""
    mask = paddle.ones([height * width, height + rows - 1, width + columns - 1], dtype="float32")
    for h in range(height):
        for w in range(width):
            mask[h * width + w, h : h + rows, w : w + columns] = 0.0
    inner = mask[:, rows // 2 : height + rows // 2, columns // 2 : width + columns // 2].flatten(1)
    far = paddle.full([height * width, height * width], float("-inf"), dtype="float32")
    return paddle.where(inner < 1, inner, far).unsqueeze([0, 1])


def _svtr_forward(self, x):
    x = self.stem(x)
    height = _HEIGHT
    x = x.flatten(2).transpose([0, 2, 1])
    for i in range(2):
        local = i == 0
        near = self.near if local else None
        y = getattr(self, f"qkv{i}")(getattr(self, f"norm_a{i}")(x))
        bias = (lambda scores, near=near: scores + near) if local else None
        x = x + getattr(self, f"out{i}")(_attend(x, y, _HEADS, bias))
        y = paddle.nn.functional.gelu(getattr(self, f"up{i}")(getattr(self, f"norm_b{i}")(x)))
        x = x + getattr(self, f"down{i}")(y)
        if local:
            grid = self.merge(x.transpose([0, 2, 1]).reshape([-1, _WIDTH, height, _COLUMNS]))
            height //= 2
            x = self.merge_norm(grid.flatten(2).transpose([0, 2, 1]))
    grid = self.pool(x.transpose([0, 2, 1]).reshape([-1, _WIDTH, height, _COLUMNS]))
    y = paddle.nn.functional.hardswish(self.last(grid)).squeeze(2).transpose([0, 2, 1])
    return paddle.nn.functional.softmax(self.head(y), axis=2)


def _svtr():
    layer = make_layer(_svtr_parts, _svtr_forward)
    layer.near = _near(_HEIGHT, _COLUMNS, 3, 5)
    return layer


def _text_line(batch: int) -> dict[str, TensorSpec]:
    shape = [3, 4 * _HEIGHT, 4 * _COLUMNS]
    return {"x": tensor([batch, *shape], dims=[-1, *shape])}


# --- attention of padded frames, masked before softmax and after it ---------------------------------------------------


def _masked_twice_parts():
    nn = paddle.nn
    return {
        "norm": nn.LayerNorm(16),
        "q": nn.Linear(16, 16),
        "k": nn.Linear(16, 16),
        "v": nn.Linear(16, 16),
        "joined": nn.Linear(32, 16),
    }


def _masked_twice(self, x, lengths):
    size = paddle.shape(x)
    y = self.norm(x)
    q, k, v = (value(y).reshape([size[0], -1, 2, 8]).transpose([0, 2, 1, 3]) for value in (self.q, self.k, self.v))
    seen = paddle.arange(size[1], dtype="int64").unsqueeze(0) < lengths.unsqueeze(1)
    padded = (seen.unsqueeze([1, 2]).astype("float32") == 0)[:, :, :, : paddle.shape(k)[2]]
    scores = paddle.matmul(q * 0.35, k, transpose_y=True)
    scores = paddle.where(padded, paddle.full_like(scores, -float("inf")), scores)
    chances = paddle.nn.functional.softmax(scores, axis=-1)
    chances = paddle.where(padded, paddle.zeros_like(chances), chances)
    attended = paddle.matmul(chances, v).transpose([0, 2, 1, 3]).reshape([size[0], -1, 16])
    return x + self.joined(paddle.concat([y, attended], axis=-1))


def _frames(frames: int, *lengths: int) -> dict[str, TensorSpec]:
    return {
        "x": tensor([len(lengths), frames, 16], dims=[-1, -1, 16]),
        "lengths": tensor([len(lengths)], "int64", values=list(lengths), dims=[-1]),
    }


# --- a recurrent layer over sequences in the reverse order -----------------------------------------------------------


def _recurrent_reversed(self, x):
    return self.gru(x[:, ::-1])


def _steps(length: int, batch: int) -> dict[str, TensorSpec]:
    return {"x": tensor([length, batch, 4], dims=[-1, -1, 4])}


# --- an encoder and a decoder: cross attention, a causal mask, GRU state ---------------------------------------------


def _seq2seq_parts():
    nn = paddle.nn
    return {
        "transformer": nn.Transformer(_WIDTH, _HEADS, 1, 1, 64, dropout=0.0, normalize_before=True),
        "gru": nn.GRU(_WIDTH, _WIDTH),
        "head": nn.Linear(_WIDTH, 20),
    }


def _seq2seq(self, source, target):
    steps = paddle.shape(target)[1]
    causal = paddle.triu(paddle.full([steps, steps], -1e9), 1)
    memory, state = self.gru(source)
    decoded = self.transformer(memory, target, tgt_mask=causal)
    return paddle.nn.functional.log_softmax(self.head(decoded)), state


def _pair(batch: int, source: int, target: int) -> dict[str, TensorSpec]:
    return {
        "source": tensor([batch, source, _WIDTH], dims=[-1, -1, _WIDTH]),
        "target": tensor([batch, target, _WIDTH], dims=[-1, -1, _WIDTH]),
    }


NETWORKS = [
    network_of(_bert, _ids(2, 9, 3), _ids(1, 5), _ids(3, 12, 5), parts=_bert_parts),
    network_of(
        _encoder_by_hand, _states(2, 7, 7, 4), _states(1, 3, 2), _states(3, 11, 5, 11, 1), parts=_attention_parts
    ),
    network_of(_masked_twice, _frames(7, 7, 4), _frames(5, 5), _frames(9, 3, 9, 6), parts=_masked_twice_parts),
    network_of(
        _recurrent_reversed, _steps(3, 2), _steps(1, 4), parts=lambda: {"gru": paddle.nn.GRU(4, 4, time_major=True)}
    ),
    network_of(_crnn, _line(1, 64), _line(2, 96), _line(3, 33), parts=_crnn_parts),
    network_of(_swin_stage, _picture(1), _picture(3), parts=_swin_parts),
    Network("svtr_mixer", _svtr, _text_line(1), more=[_text_line(2)]),
    network_of(_seq2seq, _pair(2, 6, 4), _pair(1, 3, 5), parts=_seq2seq_parts),
]
