"""Rewrites that avoid what OpenVINO computes wrongly."""
