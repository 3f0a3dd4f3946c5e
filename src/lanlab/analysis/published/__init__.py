"""Published values of a study, compared with a run's."""
