"""What networks that look at pictures see: convolution, pooling, attention over patches."""
