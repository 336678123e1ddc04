"""Nyström attention: softmax through m landmarks, the means of m stretches of the text.

    output = softmax(Q K̃ᵀ/√d) · pinv(softmax(Q̃ K̃ᵀ/√d)) · softmax(Q̃ Kᵀ/√d) V   (Xiong et al. 2021)

Q̃ and K̃ (m, d) are means of m stretches of equal length; the pseudo-inverse is iterated,

    Z ← ¼ Z (13 I − A Z (15 I − A Z (7 I − A Z))),   Z₀ = Aᵀ / (‖A‖₁ ‖A‖∞)

each matrix with its own norms, so that no text depends on the others of its batch. With too few
iterations the inverse is not reached; in float32 many of them add up rounding where A is nearly
singular, so that more can be worse. The weights of a row sum to 1 only as nearly as the inverse is
reached. There is no causal form: every landmark is a mean that reaches into the future.

Padding is left out of the means and of the last softmax. Stretches are counted over what is not
padding: appended padding changes nothing. Where queries and keys are the same tokens, the padding
is left out of Q̃ too.

Shapes: query, key, value (batch, head, position, head_dim). Cost: 12·L·m·d operations (4 of the 12
for the means, as matrix products), 4·m²·d, and 8·m³ an iteration; 2·L·m numbers.
"""

import torch
from torch import Tensor

from core.attention import softmax
from core.attention.masks import NoCausalFormError, check_padding


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    n_landmarks: int,
    n_iterations: int = 6,
    causal: bool = False,
    padding: Tensor | None = None,
) -> Tensor:
    """Output (B, H, L_q, d) in the value's dtype. Raises NoCausalFormError if causal."""
    refuse(causal=causal)
    left, inverse, right = factors(query, key, n_landmarks, n_iterations, padding)
    return (left @ (inverse @ (right @ softmax.widened(value)))).to(value.dtype)


def weights(
    query: Tensor,
    key: Tensor,
    *,
    n_landmarks: int,
    n_iterations: int = 6,
    causal: bool = False,
    padding: Tensor | None = None,
) -> Tensor:
    """Effective weights (B, H, L_q, L_k); some can be negative."""
    refuse(causal=causal)
    left, inverse, right = factors(query, key, n_landmarks, n_iterations, padding)
    return left @ inverse @ right


def factors(
    query: Tensor, key: Tensor, n_landmarks: int, n_iterations: int, padding: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries to landmarks (B, H, L_q, m), the inverse (…, m, m), landmarks to keys (…, m, L_k)."""
    if n_landmarks < 1:
        raise ValueError(f"{n_landmarks} landmarks; at least 1 is needed")
    check_padding(padding, key)
    nothing = torch.zeros(key.shape[0], 1, dtype=torch.bool, device=key.device)
    hidden = nothing.expand(-1, key.shape[2]) if padding is None else padding
    same_tokens = query.shape[2] == key.shape[2]
    looking = hidden if same_tokens else nothing.expand(-1, query.shape[2])
    queries = landmarks(softmax.widened(query), looking, n_landmarks)
    keys = landmarks(softmax.widened(key), hidden, n_landmarks)
    left = softmax.weights(softmax.scores(query, keys))
    middle = softmax.weights(softmax.scores(queries, keys))
    columns = None if padding is None else padding[:, None, None, :]
    right = softmax.shown_weights(softmax.scores(queries, key), columns)
    return left, pseudo_inverse(middle, n_iterations), right


def landmarks(x: Tensor, padding: Tensor, n_landmarks: int) -> Tensor:
    """Means (B, H, m, d) of m stretches of what is not padding.

    A text with fewer tokens than landmarks has some of them twice; one with none has zeros.
    """
    kept = (~padding).sum(dim=1, keepdim=True)  # (B, 1)
    place = torch.arange(n_landmarks, device=x.device)[None]
    first = place * kept // n_landmarks
    end = torch.maximum((place + 1) * kept // n_landmarks, first + 1)
    rank = ((~padding).cumsum(dim=1) - 1)[:, None]  # (B, 1, L)
    inside = (rank >= first[..., None]) & (rank < end[..., None]) & ~padding[:, None]
    shares = inside.to(x.dtype) / inside.sum(dim=-1, keepdim=True).clamp(min=1)
    return shares[:, None] @ x


def pseudo_inverse(matrix: Tensor, n_iterations: int) -> Tensor:
    """Of (…, m, m), iterated; it converges for every matrix, to the one of Moore and Penrose."""
    size = matrix.abs()
    norms = size.sum(-2).amax(-1) * size.sum(-1).amax(-1)
    inverse = matrix.mT / norms[..., None, None]
    unit = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    for _ in range(n_iterations):
        product = matrix @ inverse
        inner = 15.0 * unit - product @ (7.0 * unit - product)
        inverse = 0.25 * inverse @ (13.0 * unit - product @ inner)
    return inverse


def refuse(*, causal: bool) -> None:
    """Raise NoCausalFormError if it is to be causal."""
    if causal:
        raise NoCausalFormError("Nyström attention", "its landmarks are means over the whole text")
