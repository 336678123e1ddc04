"""What a model from elsewhere cannot give, in sentences that pages show. Free of torch."""

BARE = (
    "this model has no head that reads tokens (an encoder alone): it fills no [MASK] and writes no "
    "text"
)
FILLS = "an encoder fills [MASK] and writes no text"
TWO_STREAMS = "an encoder and a decoder have two residual streams, of which no one sum is made"
NOT_ALL_ATTEND = "some of its blocks have no attention: what they add is not shown here"
NOT_A_SUM = (
    "its layers norm or scale what attention and MLP add before they add it (or the sum): the "
    "parts of the heads do not add up to the residual stream"
)
NOT_LINEAR = (
    "its head is no norm and one matrix: what a part adds to a logit cannot be told from the rest"
)
GATED = (
    "something stands between the heads and their output projection (a gate or a norm): what a "
    "head brings is measured before it, ‖weight · value‖ without W_O"
)
