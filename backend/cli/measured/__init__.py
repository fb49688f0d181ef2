"""Commands on measured steps: of this program and of others."""
