"""Pages and files: templates, drawings, and what a user's own files may not lose."""
