"""Types of OpenVINO's nodes by their sensitivity to rounding."""

from __future__ import annotations


def _types(names: str) -> frozenset[str]:
    return frozenset(names.split())


MOVES = _types(
    """
    Parameter Result Constant Reshape Squeeze Unsqueeze Transpose Concat Split VariadicSplit Slice StridedSlice
    Gather GatherElements GatherND Pad Tile Broadcast Reverse ReverseSequence ScatterUpdate
    ScatterElementsUpdate ScatterNDUpdate Select ShuffleChannels SpaceToDepth DepthToSpace SpaceToBatch
    BatchToSpace Relu Maximum Minimum ReduceMax ReduceMin MaxPool AdaptiveMaxPool Abs Negative Clamp ReadValue
    Assign Identity ConvertLike Convert Eye OneHot SliceScatter ExtractImagePatches Roll Col2Im SegmentMax
    """
)
"""Node types that move numbers without changing them."""

SUMS = _types(
    """
    Convolution GroupConvolution ConvolutionBackpropData GroupConvolutionBackpropData DeformableConvolution
    BinaryConvolution MatMul Einsum ReduceSum ReduceMean ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
    ReduceProd AvgPool AdaptiveAvgPool CumSum MVN NormalizeL2 LRN Softmax LogSoftmax GroupNormalization
    BatchNormInference RMS LSTMCell GRUCell RNNCell LSTMSequence GRUSequence RNNSequence
    ScaledDotProductAttention Inverse DFT IDFT RDFT IRDFT STFT ISTFT EmbeddingBagOffsets EmbeddingBagPacked
    EmbeddingBagOffsetsSum EmbeddingBagPackedSum EmbeddingSegmentsSum Interpolate GridSample ROIAlign ROIPooling
    PSROIPooling
    """
)
"""Node types whose outputs are sums of many terms, or of terms that cancel."""

CHOOSES = _types(
    """
    Greater GreaterEqual Less LessEqual Equal NotEqual TopK Floor Ceiling Round Sign Mod FloorMod Bucketize
    NonZero Unique IsNaN IsInf IsFinite NonMaxSuppression NMSRotated MatrixNms MulticlassNms DetectionOutput
    Proposal Range ExperimentalDetectronDetectionOutput ExperimentalDetectronGenerateProposalsSingleImage
    GenerateProposals ExperimentalDetectronTopKROIs CTCGreedyDecoder CTCGreedyDecoderSeqLen SearchSorted
    Multinomial
    """
)
"""Node types that may turn a small error of their inputs into a larger error of their outputs."""

CARRIES_SCORES = _types(
    """
    TopK Mod FloorMod NonMaxSuppression NMSRotated MatrixNms MulticlassNms DetectionOutput Proposal
    GenerateProposals ExperimentalDetectronDetectionOutput ExperimentalDetectronGenerateProposalsSingleImage
    ExperimentalDetectronTopKROIs Unique
    """
)
"""Those that select, and return the selected numbers unchanged."""
