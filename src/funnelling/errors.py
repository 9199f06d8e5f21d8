"""Errors in what a user gives: one line that names the place and the cure."""


class InputError(ValueError):
    """Bad input: a file, a document, a model folder or a parameter that cannot be used.

    The message is one line, names the place and says what to do. The command line prints it and
    exits with status 2.
    """
