"""Complex numbers: rules for operators, and converters for their complex forms."""
