"""The verdicts that are known: one for each rule of the analysis, and figures 3.5 to 3.10 of the thesis."""

from __future__ import annotations

import pytest

from analysis.calm import programs
from analysis.calm.analysis import blocks, labels, of_class, reasons, ways
from clew.bloom import bloom, table
from clew.bloom.language.module import Module


@pytest.mark.parametrize(
    ("program", "output", "label", "by_source"),
    [
        (programs.LocalCopy, "out", "M", {"given": "M"}),
        (programs.LocalCount, "out", "N", {"given": "N"}),
        (programs.ChannelThrough, "out", "A", {"in1": "A"}),
        (programs.TablesJoined, "out", "A", {"in1": "A", "in2": "A"}),
        (programs.Absent, "out", "D", {"in1": "A", "in2": "D"}),
        (programs.Grouped, "out", "D", {"in1": "D"}),
        (programs.ScratchesJoined, "out", "D", {"in1": "D", "in2": "D"}),
        (programs.TableAndScratchJoined, "out", "D", {"in1": "D", "in2": "D"}),
        (programs.Retry, "result", "A", {"request": "A", "timer": "A"}),
        (programs.BestEffortDelivery, "pipe_sent", "M", {"pipe_in": "M"}),
        (programs.BestEffortDelivery, "pipe_chan", "A", {"pipe_in": "A"}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_label(program: type[Module], output: str, label: str, by_source: dict[str, str]) -> None:
    analysis = of_class(program)
    assert labels(analysis)[output] == label
    assert ways(analysis, output) == by_source


def test_a_divergent_output_names_its_points_of_order() -> None:
    assert reasons(of_class(programs.Absent), "out") == ["notin guard2"]
    assert reasons(of_class(programs.Grouped), "out") == ["count over guard1"]
    raced = ["chan1 and chan2 meet, and it is open which comes first"]
    assert reasons(of_class(programs.ScratchesJoined), "out") == raced
    assert reasons(of_class(programs.TableAndScratchJoined), "out") == raced


def test_a_point_of_order_has_the_line_and_the_text_of_its_rule() -> None:
    analysis = of_class(programs.Absent)
    (point,) = next(o for o in analysis.outputs if o.name == "out").points
    statement = analysis.flow.statements[point.statement]
    assert statement.text == "self.out <= self.guard1.notin(self.guard2)"
    assert statement.block == "Absent.rules"
    assert statement.position is not None
    with open(statement.position.file, encoding="utf-8") as source:  # noqa: PTH123  # the line as it stands
        assert source.readlines()[statement.position.line - 1].strip() == statement.text


@pytest.mark.parametrize("program", [programs.TablesJoined, programs.ChannelThrough, programs.Retry])
def test_no_false_alarm(program: type[Module]) -> None:
    analysis = of_class(program)
    assert analysis.races == ()
    assert [o.points for o in analysis.outputs] == [()] * len(analysis.outputs)
    assert analysis.consistent


# -- the figures -------------------------------------------------------------------------------------------------


def test_the_abstract_store_is_underspecified() -> None:
    """Figure 3.5."""
    analysis = of_class(programs.KVSProtocol)
    assert labels(analysis) == {"kvget_response": "?"}
    assert analysis.unconnected == ("kvput", "kvget", "kvget_response")
    assert not analysis.consistent


def test_the_store_has_its_points_of_order_where_it_puts() -> None:
    """Figure 3.6."""
    analysis = of_class(programs.BasicKVS)
    assert analysis.flow.clusters == (("kvstate",),)
    assert labels(analysis) == {"kvget_response": "N"}
    assert ways(analysis, "kvget_response") == {"kvput": "N", "kvget": "M"}
    assert blocks(analysis, "kvget_response") == ["BasicKVS.do_put", "BasicKVS.do_put"]


def test_the_destructive_cart_has_points_of_order_at_every_action() -> None:
    """Figure 3.8."""
    analysis = of_class(programs.CompleteDestructiveCart)
    assert analysis.flow.clusters == (("kvput", "kvget_response", "kvstate", "getj"),)
    assert labels(analysis) == {"client_response": "D"}
    assert ways(analysis, "client_response") == {"client_action": "D", "client_checkout": "D"}
    found = blocks(analysis, "client_response")
    assert "DestructiveCart.on_action" in found
    assert "BasicKVS.do_put" in found


def test_the_disorderly_cart_has_points_of_order_only_at_checkout() -> None:
    """Figures 3.9 and 3.10."""
    for program, output in (
        (programs.DisorderlyCart, "response_msg"),
        (programs.CompleteDisorderlyCart, "client_response"),
    ):
        analysis = of_class(program)
        assert analysis.flow.clusters == ()
        assert labels(analysis) == {output: "D"}
        assert blocks(analysis, output) == ["DisorderlyCart.on_checkout"] * 4


def test_channels_that_nobody_sends_or_reads_are_the_ends_of_a_part() -> None:
    analysis = of_class(programs.DisorderlyCart)
    assert [(s.name, s.arrives) for s in analysis.sources if not s.fixed] == [
        ("action_msg", True),
        ("checkout_msg", True),
    ]


def test_the_log_of_the_disorderly_cart_converges() -> None:
    """Communication about actions crosses no point of order: the log alone is consistent."""

    class LogOnly(programs.CartProtocol):
        action_log = table("session", "reqid", val=["item", "cnt"])

        @bloom
        def on_action(self) -> None:
            self.action_log <= self.action_msg(lambda c: (c.session, c.reqid, c.item, c.cnt))

    assert labels(of_class(LogOnly)) == {"action_log": "A"}
