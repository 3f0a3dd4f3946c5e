"""The plan: which trial comes next."""
