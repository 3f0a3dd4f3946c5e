"""Verdicts on findings: one evaluator for published values and for runs."""
