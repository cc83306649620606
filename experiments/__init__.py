"""The paper's experiments from scratch: tables, figures and its claims, checked."""
