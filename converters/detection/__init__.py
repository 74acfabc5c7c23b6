"""Boxes: priors, coding, proposals, regions of interest, suppression."""
