"""The commands about Claude Code's own configuration: export-config, import-config, check-version."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harness.claude.version import installed_version
from harness.config_exporter import ConfigExporter
from harness.config_importer import ConfigImporter
from harness.errors import InputError
from harness.report.console import say

PATH = click.Path(path_type=Path)


@click.command()
@click.option("-o", "--output", required=True, type=PATH, help="Snapshot file to write.")
@click.option("--claude-home", type=PATH, help="Configuration folder.  [default: $CLAUDE_CONFIG_DIR or ~/.claude]")
@click.option("--project", type=PATH, help="Project whose MCP servers are taken too.  [default: the current folder]")
def export_config(output: Path, claude_home: Path | None, project: Path | None) -> None:
    """Write a snapshot of Claude Code's configuration, without secrets."""
    exporter = ConfigExporter(claude_home, project=project)
    snapshot = exporter.export_snapshot()
    exporter.save_snapshot(output)
    files = len(snapshot.skills) + len(snapshot.skills_binary) + len(snapshot.files) + len(snapshot.files_binary)
    say(f"wrote {output}: {files} files, {len(snapshot.mcp_servers)} MCP servers")
    for place in snapshot.redacted:
        say(f"  taken out as secret: {place}", err=True)
    for link in snapshot.left_out:
        say(f"  leads out of {exporter.claude_home}, not followed: {link}", err=True)


@click.command()
@click.option("-s", "--snapshot", "snapshot_file", required=True, type=PATH, help="Snapshot file of export-config.")
@click.option("-o", "--output", required=True, type=PATH, help="Folder that becomes HOME.")
@click.option("--enable-mcp/--disable-mcp", default=False, show_default="disabled", help="Keep the MCP servers.")
def import_config(snapshot_file: Path, output: Path, enable_mcp: bool) -> None:
    """Set a configuration up from a snapshot, and print the variables that make Claude Code use it.

    Use it as: eval "$(python -m harness import-config -s snapshot.json -o ci-home)"
    """
    importer = ConfigImporter()
    snapshot = importer.load_snapshot(snapshot_file)
    for name, value in importer.setup_ci_environment(snapshot, output, disable_mcp=not enable_mcp).items():
        click.echo(f"export {name}={shlex.quote(value)}")  # for a shell to read, not for a person
    for place in snapshot.redacted:
        say(f"warning: was taken out as secret: {place}", err=True)
    for link in snapshot.left_out:
        say(f"warning: was not followed: {link}", err=True)


@click.command()
@click.option("-s", "--snapshot", "snapshot_file", type=PATH, help="Snapshot to compare with.")
@click.option("--expect", help="Version to compare with, for example 2.1.330.")
@click.option("--claude", "claude_path", default="claude", envvar="HARNESS_CLAUDE", help="The claude executable.")
@click.pass_context
def check_version(ctx: click.Context, /, snapshot_file: Path | None, expect: str | None, claude_path: str) -> None:
    """Show the version of Claude Code, and whether it is the expected one.

    Exit code 0 it is (or none was expected), 1 it is another one, 2 there is no Claude Code.
    """
    installed = installed_version(claude_path)
    if not installed:
        raise InputError(f"{claude_path}: no Claude Code answers to --version; install it or name it with --claude")
    wanted = expect or (ConfigImporter().load_snapshot(snapshot_file).claude_version if snapshot_file else "")
    if not wanted:
        say(f"Claude Code {installed}")
    elif installed == wanted:
        say(f"Claude Code {installed}, as expected")
    else:
        say(f"Claude Code {installed}, expected {wanted}", err=True)
        ctx.exit(1)
