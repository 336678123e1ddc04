"""Arrays in, charts and pictures out: templates that Altair builds once; no torch."""
