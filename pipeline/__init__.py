"""What the four top-level scripts share: tables, files, project trees, grading keys."""
