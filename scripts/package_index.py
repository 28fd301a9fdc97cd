"""Carries pip's settings over to uv, which does not read them: indexes, certificates, proxy.

What is set for uv itself wins. No address is ever written into a file of the project.
"""

import ast
import os
import subprocess
from pathlib import Path

_SECTIONS = ("global", "install", ":env:")  # the later one wins, as with pip
_OWN = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_NO_INDEX")


def pip_settings(python: Path) -> dict[str, str]:
    """What pip would use, by option name; {} where pip cannot say."""
    try:
        shown = subprocess.run(
            [str(python), "-m", "pip", "config", "list"],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    found: dict[tuple[str, str], str] = {}
    for line in shown.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.partition(".")
        try:
            found[section, option] = str(ast.literal_eval(value))
        except (SyntaxError, ValueError):
            continue
    merged: dict[str, str] = {}
    for section in _SECTIONS:
        merged |= {option: text for (where, option), text in found.items() if where == section}
    return merged


def uv_environment(pip: dict[str, str], *, main_only: bool = False) -> dict[str, str]:
    """The variables that make uv see what pip sees. `main_only` leaves out the extra places:
    a lock made from them would know the hashes of this machine's copies alone."""
    if main_only:
        pip = {k: v for k, v in pip.items() if k not in {"extra-index-url", "find-links"}}
    wanted = {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
    wanted["UV_COMPILE_BYTECODE_TIMEOUT"] = "600"  # a busy machine is no reason to fail
    if not any(os.environ.get(name) for name in _OWN):
        wanted["UV_DEFAULT_INDEX"] = pip.get("index-url", "")
        wanted["UV_INDEX"] = " ".join(pip.get("extra-index-url", "").split())
        # As pip does; all that is installed is pinned by hash, so no index can slip in another.
        wanted["UV_INDEX_STRATEGY"] = "unsafe-best-match"
        wanted["UV_NO_INDEX"] = "1" if pip.get("no-index", "").lower() in {"1", "true"} else ""
    wanted["UV_FIND_LINKS"] = ",".join(pip.get("find-links", "").split())
    wanted["UV_INSECURE_HOST"] = " ".join(pip.get("trusted-host", "").split())
    wanted["UV_HTTP_TIMEOUT"] = pip.get("timeout", pip.get("default-timeout", ""))
    wanted["SSL_CERT_FILE"] = pip.get("cert", "")
    wanted["SSL_CLIENT_CERT"] = pip.get("client-cert", "")
    wanted["HTTPS_PROXY"] = wanted["HTTP_PROXY"] = pip.get("proxy", "")
    return {
        name: value
        for name, value in wanted.items()
        if value and (name == "UV_PYTHON_DOWNLOADS" or not os.environ.get(name))
    }
