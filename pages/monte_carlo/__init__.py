"""Why more than one head: the law of c under perturbed keys, theory drawn over samples."""
