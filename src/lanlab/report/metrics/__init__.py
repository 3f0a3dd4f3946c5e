"""One metric over the conditions of an experiment."""
