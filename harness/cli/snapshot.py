"""The commands about Claude Code's own configuration: export-config, import-config."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harness.config_exporter import ConfigExporter
from harness.config_importer import ConfigImporter
from measure.commands.options import PATH
from measure.report.console import say


@click.command()
@click.option("-o", "--output", required=True, type=PATH, help="Snapshot file to write.")
@click.option("--claude-home", type=PATH, help="Configuration folder.  [default: $CLAUDE_CONFIG_DIR or ~/.claude]")
@click.option("--project", type=PATH, help="Project whose MCP servers are exported too.  [default: the current folder]")
def export_config(output: Path, claude_home: Path | None, project: Path | None) -> None:
    """Write a snapshot of Claude Code's configuration, without secrets."""
    snapshot = ConfigExporter(claude_home, project=project).save_snapshot(output)
    files = len(snapshot.skills) + len(snapshot.files) + len(snapshot.binary)
    say(f"wrote {output}: {files} files, {len(snapshot.mcp_servers)} MCP servers")
    for place in snapshot.redacted:
        say(f"  removed as a secret: {place}", err=True)
    for one in snapshot.left_out:
        say(f"  left out: {one}", err=True)


@click.command()
@click.option("-s", "--snapshot", "snapshot_file", required=True, type=PATH, help="Snapshot written by export-config.")
@click.option("-o", "--output", required=True, type=PATH, help="Folder that becomes HOME.")
@click.option("--enable-mcp/--disable-mcp", default=False, show_default="disabled", help="Keep the MCP servers.")
def import_config(snapshot_file: Path, output: Path, enable_mcp: bool) -> None:
    """Set a configuration up from a snapshot, and print the variables that make Claude Code use it.

    Use it as: eval "$(... import-config -s snapshot.json -o ci-home)"
    """
    importer = ConfigImporter()
    snapshot = importer.load_snapshot(snapshot_file)
    for name, value in importer.setup_ci_environment(snapshot, output, disable_mcp=not enable_mcp).items():
        click.echo(f"export {name}={shlex.quote(value)}")  # for a shell to read, not for a person
