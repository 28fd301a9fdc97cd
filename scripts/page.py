"""The page: Node, the packages of `frontend/`, and the built page that the service serves."""

import os
import re
import shutil
import subprocess
from functools import cached_property
from pathlib import Path

import stamps
from commands import PROJECT, TOOLS, SetupFailed, execute
from python_packages import PythonPackages

FRONTEND = PROJECT / "frontend"
BUILT = FRONTEND / "dist" / "index.html"
BUILD_STAMP = TOOLS / "page.stamp"
NOT_SOURCES = ("node_modules", "dist", "test", "e2e", "coverage", "playwright-report")


class Page:
    def __init__(self, packages: PythonPackages) -> None:
        self._packages = packages

    @cached_property
    def node(self) -> Path:
        """The folder of a fitting `node` with `npm` beside it: from the PATH, else the wheel."""
        found = shutil.which("node")
        if found and shutil.which("npm") and _fits(found):
            return Path(found).parent
        return self._packages.node()

    @cached_property
    def environment(self) -> dict[str, str]:
        """Puts that Node first on the PATH."""
        path = os.environ.get("PATH", os.defpath)
        if Path(shutil.which("node") or "/").parent == self.node:
            return {"PATH": path}
        return {"PATH": f"{self.node}{os.pathsep}{path}"}

    def install(self) -> None:
        """npm ci, where the lock file or Node has changed."""
        lock = FRONTEND / "package-lock.json"
        if not lock.is_file():
            raise SetupFailed(f"{lock} is missing: get a whole copy of the project")
        wanted = stamps.key(str(self.node), FRONTEND / "package.json", lock)
        stamp = FRONTEND / "node_modules" / ".stamp"
        if stamps.read(stamp).get("key") == wanted:
            return
        execute(
            "installing the packages of the page",
            ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"],
            env=self.environment,
            cwd=FRONTEND,
            advice="check the network and the settings of the npm registry",
        )
        stamps.write(stamp, key=wanted)

    def build(self) -> None:
        """vite build, where a source has changed."""
        wanted = stamps.key(str(self.node), *stamps.files(FRONTEND, without=NOT_SOURCES))
        if BUILT.is_file() and stamps.read(BUILD_STAMP).get("key") == wanted:
            return
        self.install()
        execute(
            "building the page",
            ["npm", "run", "build"],
            env=self.environment,
            cwd=FRONTEND,
            advice="mend the sources in frontend/",
        )
        stamps.write(BUILD_STAMP, key=wanted)


def _fits(node: str) -> bool:
    """Vite wants 20.19 or newer of 20, or 22.12 and newer."""
    try:
        shown = subprocess.run(
            [node, "--version"], check=False, capture_output=True, text=True, timeout=30
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    match = re.match(r"v(\d+)\.(\d+)", shown)
    if match is None:
        return False
    version = (int(match[1]), int(match[2]))
    return version >= (22, 12) or (20, 19) <= version < (21, 0)
