"""Diagnoses of recordings in which faults were planted, in the formats of the tools that write them."""
