"""Rewrites that keep graphs from what OpenVINO computes wrongly."""
