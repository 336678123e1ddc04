"""Student's t at 97.5 %: standard errors of a mean to each side of its 95 % interval."""

# From one degree of freedom on.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def student(freedom: int) -> float:
    """The quantile; z + (z³ + z) / 4ν + (5z⁵ + 16z³ + 3z) / 96ν² beyond the table, ν ≥ 1."""
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    z = 1.95996
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2
