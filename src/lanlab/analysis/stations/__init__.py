"""
Analysis of a file server's results by the number of stations.

Start-up code does not import this package, because it loads numpy and scipy. docs/nas.md has the
rules and formulas.
"""
