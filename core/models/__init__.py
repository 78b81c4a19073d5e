"""Encoders, scorers, choosers and chat models; one copy of each a process."""
