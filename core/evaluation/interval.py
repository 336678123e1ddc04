"""How sure a share is."""


def wilson_interval(correct: int, total: int, *, z: float = 1.96) -> tuple[float, float]:
    """Wilson score interval of a share (95 % by default); sound near 0 and 1."""
    if not 0 <= correct <= total or total < 1:
        raise ValueError(f"{correct} of {total}: needs 0 <= correct <= total and total >= 1")
    share, n = correct / total, total
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, center - half), min(1.0, center + half)
