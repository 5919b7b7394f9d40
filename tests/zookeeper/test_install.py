"""Getting ZooKeeper: installed only if missing and allowed, and whatever is skipped is said."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from command import ROOT

SCRIPT = ROOT / "tests" / "zookeeper" / "install.sh"
PACKAGES = "libzookeeper-java default-jre-headless"
CALLS = [
    "update",
    f"install --yes --no-install-recommends --download-only {PACKAGES}",
    f"install --yes --no-install-recommends {PACKAGES}",
]


class System:
    """A system of a few programs, of which ``apt-get`` only writes down its commands."""

    def __init__(self, directory: Path, *, user: int = 0) -> None:
        self.bin, self.jars, self.log = directory / "bin", directory / "java", directory / "calls"
        self.bin.mkdir()
        self.jars.mkdir()
        self.log.touch()
        for name in ("env", "sed", "tail", "timeout", "touch"):
            real = shutil.which(name)
            assert real is not None
            (self.bin / name).symlink_to(real)
        self.has("id", f"echo {user}")
        self.has("java", ":")

    def has(self, name: str, does: str) -> None:
        program = self.bin / name
        program.write_text(f"#!{shutil.which('sh')}\n{does}\n", encoding="utf-8")
        program.chmod(0o755)

    def has_apt_get(self, does: str) -> None:
        skip = 'while [ "${1#-}" != "$1" ]; do if [ "$1" = -o ]; then shift; fi; shift; done'
        self.has("apt-get", f"{skip}\necho \"$*\" >>'{self.log}'\n{does}")

    def install(self) -> tuple[str, list[str]]:
        """What the script says, and how it called apt-get."""
        done = subprocess.run(
            [shutil.which("sh") or "sh", SCRIPT],
            env={"PATH": str(self.bin), "ZOOKEEPER_JARS": str(self.jars)},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout, self.log.read_text(encoding="utf-8").splitlines()


def test_nothing_happens_if_it_is_there(tmp_path: Path) -> None:
    system = System(tmp_path)
    (system.jars / "zookeeper.jar").touch()
    system.has_apt_get("exit 1")
    assert system.install() == ("", [])


def test_the_administrator_gets_it_installed(tmp_path: Path) -> None:
    system = System(tmp_path)
    system.has_apt_get(f"case \"$*\" in *download-only*|update) ;; *) touch '{system.jars}/zookeeper.jar' ;; esac")
    assert system.install() == (f"zookeeper: installing {PACKAGES}\n", CALLS)
    assert system.install() == ("", CALLS), "the second time it is there"


SKIPPED = "ordering will NOT be tested with ZooKeeper (those tests are skipped)."


def test_a_system_without_apt_get(tmp_path: Path) -> None:
    said = f"zookeeper: ZooKeeper is not here, and neither is apt-get; {SKIPPED} "
    assert System(tmp_path).install() == (f"{said}Set ZOOKEEPER_JARS to a folder with its jars to run them.\n", [])


def test_who_may_not_is_told_what_is_skipped(tmp_path: Path) -> None:
    system = System(tmp_path, user=1000)
    system.has_apt_get(":")
    said = f"zookeeper: ZooKeeper is not here, and this user may not install it; {SKIPPED} "
    assert system.install() == (f"{said}To run them: apt-get install {PACKAGES} (as root)\n", [])


@pytest.mark.parametrize(
    ("apt_get", "calls", "reason"),
    [("echo 'E: Unable to fetch' >&2; exit 100", 2, "Unable to fetch"), (":", 3, "no reason given")],
)
def test_a_failure_is_told_and_is_no_failure_of_the_tests(
    tmp_path: Path, apt_get: str, calls: int, reason: str
) -> None:
    system = System(tmp_path)
    system.has_apt_get(apt_get)
    assert system.install() == (
        f"zookeeper: installing {PACKAGES}\n"
        f"zookeeper: apt-get could not install {PACKAGES} ({reason}); {SKIPPED} "
        f"To run them: apt-get install {PACKAGES}\n",
        CALLS[:calls],
    )
