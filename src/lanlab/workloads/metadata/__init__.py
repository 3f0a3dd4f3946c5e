"""Operations on names at a file service."""
