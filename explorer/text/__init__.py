"""The input: limits, the encoding, blanks, tables from files."""
