"""``clew blazes`` as a user runs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from cli.in_process import run_clew
from command import ROOT, clew

BLAZES = ROOT / "examples" / "blazes"
CART = "examples/blazes/cart.yaml"
AD_REPORT = "examples/blazes/ad-report.yaml"


def test_a_consistent_dataflow() -> None:
    done = clew("blazes", "examples/blazes/cart-sealed.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:6] == [
        "CONSISTENT: examples/blazes/cart-sealed.yaml needs no coordination beyond what it has.",
        "",
        "carts: Async",
        "  meaning: the contents are the same in every run and at every replica; only their order can differ",
        "  remedy: nothing to do",
        "  derivation:",
    ]


def test_an_inconsistent_dataflow() -> None:
    done = clew("blazes", CART)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[:9] == [
        "INCONSISTENT: examples/blazes/cart.yaml: the contents of carts can differ.",
        "",
        "carts: Split",
        "  meaning: replicas can disagree for ever: what they store diverges",
        "  because: KVS makes it Split: kvput → kvget_response is OW[key] and puts (Async) comes in any order",
        "  remedy: seal actions on session; then it is Async",
        "      or: order the inputs of KVS, the same for all replicas; then it is Run",
        "      or: order the inputs of KVS, the same in every run; then it is Async",
        "  derivation:",
    ]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--variant", "Report=THRESH"], 0),
        (["--variant", "Report=POOR"], 1),
        (["--variant", "Report=POOR", "--seal", "clicks=campaign"], 1),
        (["--variant", "Report=POOR", "--seal", "clicks=id"], 0),
        (["--seal", "clicks=campaign"], 0),
        (["--seal", "clicks=campaign,id"], 0),
        (["--seal", "clicks=campaign,window"], 1),
        (["--seal", "requests=id"], 1),
        (["--seal", "clicks=window", "--seal", "clicks=campaign"], 0),
        (["--seal", "clicks=campaign", "--seal", "clicks=window"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_if(options: list[str], code: int) -> None:
    done = clew("blazes", AD_REPORT, *options)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--variant", "POOR"], "--variant 'POOR' is not of the form NAME=VALUE"),
        (["--variant", "Report=RICH"], "component 'Report' has no variant 'RICH'"),
        (["--variant", "Cash=POOR"], "there is no component 'Cash' to choose a variant of"),
        (["--seal", "clicks="], "--seal 'clicks=' is not of the form NAME=VALUE"),
        (["--seal", "click=id"], "--seal: there is no stream 'click'"),
        (["--seal", "clicks=ad"], "--seal: the stream 'clicks' has no attribute 'ad'"),
        (["--seal", "misses=id,"], "--seal: the stream 'misses' has no attribute ''"),
        (["--json", "no/such/folder"], "no/such/folder cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_usage(options: list[str], message: str) -> None:
    done = clew("blazes", AD_REPORT, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: {message}" in done.stderr
    assert "\n  remedy: " in done.stderr


def test_a_bad_file_is_shown_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(
        "A:\n  annotation: { from: i, to: o, label: X }\nstreams: []\n", encoding="utf-8"
    )
    done = clew("blazes", "f.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "f.yaml:2:40: error: expected a label, found 'X'\n"
        "      annotation: { from: i, to: o, label: X }\n"
        "                                           ^\n"
        "  remedy: write one of C, CR, CW, OR, OW, OR*, OW*\n"
    )


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    done = clew("blazes", CART, "--json", str(file))
    document = json.loads(file.read_text(encoding="utf-8"))
    assert (done.returncode, document["format"], document["version"]) == (1, "clew blazes", 1)
    assert (document["file"], document["worst"]) == (CART, "Split")
    (sink,) = document["sinks"]
    assert (sink["stream"], sink["label"]) == ("carts", "Split")
    assert [blame["components"] for blame in sink["blame"]] == [["KVS"]]
    assert sink["remedies"][0] == {
        "seals": [{"stream": "actions", "key": ["session"]}],
        "ordering": "none",
        "components": [],
        "supposed": False,
        "after": "Async",
        "text": "seal actions on session",
    }
    assert {s["name"]: s["label"] for s in document["streams"]} == {
        "actions": "Async",
        "checkouts": "Async",
        "puts": "Async",
        "gets": "Async",
        "values": "Split",
        "carts": "Split",
    }
    (store,) = [o for o in document["outputs"] if o["component"] == "KVS"]
    assert (store["output"], store["replicated"], store["label"]) == ("kvget_response", True, "Split")
    assert [(s["stream"], s["annotation"], s["rule"], s["gives"]) for s in store["steps"]] == [
        ("puts", "OW[key]", "2", ["Taint"]),
        ("gets", "OR[key]", "1", ["NDRead[key]"]),
    ]
    assert json.loads(clew("blazes", CART, "--json", "-").stdout) == document


@pytest.mark.parametrize("output", [[], ["--json", "-"]])
def test_output_does_not_depend_on_the_hash_seed(output: list[str]) -> None:
    first, second = (clew("blazes", AD_REPORT, *output, PYTHONHASHSEED=seed).stdout for seed in "12")
    assert first == second
    assert first


@pytest.mark.parametrize(
    ("where", "options", "classes"),
    [
        ("ad_report.py:Campaign", [], ["Campaign"]),
        ("ad_report.py:Campaign", ["--synthesize", "seal"], ["Campaign"]),
        ("ad_report.py:CampaignAds", [], ["CampaignAds"]),
        ("ad_report.py:CampaignAds", ["--seal", "clicks=campaign"], ["CampaignAds"]),
        # What a wrapper wraps is read by itself, too: its rules have other names in the program of the system.
        ("ad_report.py:CampaignAds", ["--synthesize", "seal"], ["CampaignAds", "Campaign"]),
        ("ad_report.py:CampaignAds", ["--synthesize", "order"], ["CampaignAds", "Campaign"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_class_is_loaded_read_and_analysed_once(
    monkeypatch: pytest.MonkeyPatch, where: str, options: list[str], classes: list[str]
) -> None:
    # All that the command uses must be there before calls are counted: what is imported later would be missed.
    for module in ("clew.cli.commands.blazes", "clew.frontends.analyses", "clew.coordination"):
        import_module(module)
    calls = {name: _count_calls(monkeypatch, name) for name in ("import_file", "program_of", "extract", "analyse")}
    assert run_clew(BLAZES, ["blazes", where, *options]).code in (0, 1)
    assert [cls.__name__ for cls in calls["program_of"]] == classes
    assert {name: len(made) for name, made in calls.items() if name != "program_of"} == {
        "import_file": 1,
        "extract": 1,
        "analyse": 1,
    }


def _count_calls(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Replace a function in all modules of ours; the list gets the first argument of each call."""
    calls: list[Any] = []
    for module in [m for key, m in sys.modules.items() if key.startswith("clew.")]:
        if callable(function := vars(module).get(name)):
            monkeypatch.setattr(module, name, _record_calls(function, calls))
    return calls


def _record_calls(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    def record(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments[0])
        return function(*arguments, **options)

    return record
