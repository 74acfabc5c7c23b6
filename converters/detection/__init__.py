"""Object detection: priors, box coding, proposals, regions of interest, non-maximum suppression."""
