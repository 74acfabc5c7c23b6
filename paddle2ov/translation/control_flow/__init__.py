"""Operators that own blocks: branches become OpenVINO's If, loops its Loop."""
