"""The commands of the command line, one module each.

What they share: `shared` (options, errors), `exit_status`, `precision_options` and `flags` (options that several have),
`families` (which module of converters an operator belongs to).
"""
