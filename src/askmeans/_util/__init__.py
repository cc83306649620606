"""Argument checks, text, files, progress and interrupts: nothing about clustering."""
