"""Whole networks under test."""
