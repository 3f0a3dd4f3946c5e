"""What a run answers, in sentences."""
