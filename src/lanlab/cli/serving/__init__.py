"""What `lanlab serve` offers, one file a subject."""
