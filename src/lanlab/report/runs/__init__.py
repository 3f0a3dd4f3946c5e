"""A run as a whole: its page, its report and its tables on the terminal."""
