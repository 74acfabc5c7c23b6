"""What a program can spell in several ways gets the form that OpenVINO gives it when it compiles the model.

These passes run before all that look for what OpenVINO fuses or computes wrongly. They match what OpenVINO's own
fusions match, so that results stay as they are.
"""
