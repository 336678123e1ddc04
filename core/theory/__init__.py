"""Closed forms, quadrature and costs, derived apart from attention; numpy only."""
