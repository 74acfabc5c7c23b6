"""Runs one function over many jobs: on this machine or on a Ray cluster, surviving jobs that crash, resumable."""
