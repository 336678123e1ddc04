"""Sound, spoken sentences and what is measured of recognition; free of torch."""
