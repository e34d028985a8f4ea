"""Tests: one behaviour a test, real files in tmp_path, the names say what must hold."""
