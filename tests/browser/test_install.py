"""Getting the browser: installed only if missing and allowed, and whatever is skipped is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from browser.presence import why_skipped
from command import ROOT

SCRIPT = ROOT / "tests" / "browser" / "install.sh"
HOW = "not on PATH; on Debian: apt-get install chromium chromium-driver"


class System:
    """A system of a few programs: real ones that the script uses, and others that only write down their call."""

    def __init__(self, directory: Path, *, user: int) -> None:
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.log = directory / "calls"
        self.log.touch()
        for name in ("env", "sed", "tail", "timeout"):
            real = shutil.which(name)
            assert real is not None
            (self.bin / name).symlink_to(real)
        self.has("id", f"echo {user}")

    def has(self, name: str, does: str = ":") -> None:
        program = self.bin / name
        program.write_text(f"#!{shutil.which('sh')}\n{does}\n", encoding="utf-8")
        program.chmod(0o755)

    def has_apt_get(self, does: str) -> None:
        """One that writes down its command, not the options before it; ``installed`` makes the browser appear."""
        self.has(
            "apt-get",
            f"""while [ "${{1#-}}" != "$1" ]; do if [ "$1" = -o ]; then shift; fi; shift; done
            echo "$DEBIAN_FRONTEND: $*" >>'{self.log}'
            cd '{self.bin}'
            installed() {{ : >chromium; : >chromedriver; {shutil.which("chmod")} +x chromium chromedriver; }}
            {does}""",
        )

    def install(self) -> tuple[str, list[str]]:
        """What the script says, and how it called apt-get and sudo."""
        done = subprocess.run(
            [shutil.which("sh") or "sh", SCRIPT],
            env={"PATH": str(self.bin), "HOME": "/nonexistent", "CI": "true"},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout, self.log.read_text(encoding="utf-8").splitlines()


PACKAGES = "chromium chromium-driver"
CALLS = [
    "noninteractive: update",
    f"noninteractive: install --yes --no-install-recommends --download-only {PACKAGES}",
    f"noninteractive: install --yes --no-install-recommends {PACKAGES}",
]
INSTALLS = 'case "$*" in *download-only*|update) ;; *) installed ;; esac'


def test_nothing_happens_if_it_is_there(tmp_path: Path) -> None:
    system = System(tmp_path, user=0)
    system.has("chromium")
    system.has("chromedriver")
    system.has_apt_get("exit 1")
    assert system.install() == ("", [])


@pytest.mark.parametrize("present", [[], ["chromium"], ["chromedriver"]])
def test_the_administrator_gets_it_installed(tmp_path: Path, present: list[str]) -> None:
    system = System(tmp_path, user=0)
    for name in present:
        system.has(name)
    system.has_apt_get(INSTALLS)
    assert system.install() == (f"browser: installing {PACKAGES}\n", CALLS)
    assert system.install() == ("", CALLS), "the second time it is there"


def test_so_does_who_may_act_as_one(tmp_path: Path) -> None:
    system = System(tmp_path, user=1000)
    system.has("true")
    system.has("sudo", f'echo "sudo $1 $2" >>\'{system.log}\'; shift; exec "$@"')
    system.has_apt_get(INSTALLS)
    said, calls = system.install()
    assert said == f"browser: installing {PACKAGES}\n"
    assert calls == ["sudo -n true", *(line for call in CALLS for line in ("sudo -n env", call))]


@pytest.mark.parametrize("sudo", [None, "echo 'sudo: a password is required' >&2; exit 1"])
def test_who_may_not_is_told_what_is_skipped(tmp_path: Path, sudo: str | None) -> None:
    system = System(tmp_path, user=1000)
    if sudo is not None:
        system.has("sudo", sudo)
    system.has_apt_get(INSTALLS)
    assert system.install() == (
        "browser: chromium and chromedriver are not here, and this user may not install them; the report will NOT "
        "be tested in a browser (those tests are skipped). To run them: apt-get install chromium chromium-driver "
        "(as root)\n",
        [],
    )


def test_a_system_without_apt_get(tmp_path: Path) -> None:
    assert System(tmp_path, user=0).install() == (
        "browser: chromium and chromedriver are not here, and neither is apt-get; the report will NOT be tested "
        "in a browser (those tests are skipped). Put both on PATH to run them.\n",
        [],
    )


@pytest.mark.parametrize(
    ("apt_get", "calls", "reason"),
    [
        # no network: neither the lists nor the packages
        ("echo 'W: old' >&2; echo 'E: Unable to fetch' >&2; exit 100", 2, "Unable to fetch"),
        # neither the lists nor, once fetched, the installation
        ('case "$*" in *download*) ;; *) echo "E: dpkg failed"; exit 100 ;; esac', 3, "dpkg failed"),
        # all seems well, but there is no browser
        (":", 3, "no reason given"),
    ],
)
def test_a_failure_is_told_and_is_no_failure_of_the_tests(
    tmp_path: Path, apt_get: str, calls: int, reason: str
) -> None:
    system = System(tmp_path, user=0)
    system.has_apt_get(apt_get)
    assert system.install() == (
        f"browser: installing {PACKAGES}\n"
        f"browser: apt-get could not install {PACKAGES} ({reason}); the report will NOT be tested in a browser "
        f"(those tests are skipped). To run them: apt-get install {PACKAGES}\n",
        CALLS[:calls],
    )


def test_an_installation_after_lists_that_failed(tmp_path: Path) -> None:
    system = System(tmp_path, user=0)
    system.has_apt_get(f'[ "$1" != update ] || exit 100; {INSTALLS}')
    assert system.install() == (f"browser: installing {PACKAGES}\n", CALLS)


@pytest.mark.parametrize(
    ("present", "missing"), [("", "chromium and chromedriver are"), ("chromium", "chromedriver is"),
                             ("chromedriver", "chromium is")],
)  # fmt: skip
def test_what_is_missing_is_told(
    tmp_path: Path, present: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if present:
        (tmp_path / present).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why_skipped() == f"no browser: {missing} {HOW}"


@pytest.mark.parametrize("workers", [["-n", "1"], []], ids=["a worker", "alone"])
def test_a_run_without_a_browser_says_so(tmp_path: Path, workers: list[str]) -> None:
    tests = ["test_work_is_timed", "test_themes_and_print"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *workers]
        + [f"tests/browser/test_driving.py::{test}" for test in tests],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path), "CI": "true", "COLUMNS": "200"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    how = f"chromium and chromedriver are {HOW}"
    *_, said, count, _ = done.stdout.split("\n")
    assert said == f"the report was NOT tested in a browser: 2 tests skipped, {how}"
    assert "2 skipped" in count
    assert f"no browser: {how}" in done.stdout, "and pytest gives it as the reason of each test"
