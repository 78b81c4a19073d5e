"""Encoders, scorers, choosers and chat models. Each is loaded once in a process."""
