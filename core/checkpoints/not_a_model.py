"""What cannot be opened as a model."""


class NotAModel(ValueError):  # noqa: N818 - it is said, not raised for programmers
    """What cannot be opened, and why, in one sentence."""
