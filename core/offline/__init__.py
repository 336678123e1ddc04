"""Pages as one file that needs no network: parts in, HTML out."""
