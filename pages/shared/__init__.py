"""What two pages use: cached loading, controls in the address, charts, questions, files."""
