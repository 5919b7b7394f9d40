"""A verdict, or a single run, as a page: which runs it shows, and the sentences around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from clew.checker.result import Verdict
from clew.engine.execution import Execution, row_text
from clew.errors import BudgetExhaustedError, ProgramError
from clew.explain.explainer import Explainer, Lineage
from clew.faults import KINDS, FailureSpec, FaultSet, MessageFault
from clew.names import show
from clew.program.ir import Program
from clew.report.diagrams.lamport import find_visible_loop
from clew.report.text.commands import replay_command
from clew.report.text.plain import pluralize
from clew.report.text.rules import rule_text
from clew.report.verdict.combined_losses import summary_lines
from clew.report.verdict.distance_text import distance_lead, distance_note, distance_rows
from clew.report.verdict.page_data import ShownRun, page_data
from clew.report.verdict.promise_text import standing_text
from clew.report.verdict.template import Choice, ExecutionRow, MarginRow, Page, render
from clew.report.verdict.text import Summaries, combinations_text, execution_text, lasting_claim, verdict_text
from clew.report.verdict.wording import assertions_of, describe_violation
from clew.search.verdict import Answer, Counterexample
from clew.violation import Violation

#: How many of each the page carries; what is left out is said on the page.
MOST_COUNTEREXAMPLES = 40
MOST_EXECUTIONS = 200
MOST_DRAWN_MESSAGES = 12_000
MOST_LINEAGES = 12
MOST_DRAWN_BOXES = 4_000
SAMPLES = 3

#: Called with a word on what is being prepared.
Stage = Callable[[str], None]


def verdict_page(verdict: Verdict, files: Sequence[str], explainer: Explainer, stage: Stage) -> str:
    """Return the report of a check."""
    return render(_VerdictPage(verdict, files, explainer, stage).page())


def run_page(run: Execution, files: Sequence[str], explainer: Explainer, stage: Stage) -> str:
    """Return the report of one run under chosen faults."""
    stage("explaining the run")
    shown = [ShownRun(_failure_free_name(explainer), explainer.failure_free)]
    if run.faults:
        whys = explainer.explain(run.violations, run.faults)
        shown.append(ShownRun("The run with these faults", run, whys, beside=True))
    lineages = _lineages(run.violations or explainer.outcomes(), explainer)
    broken = bool(run.violations)
    return render(
        Page(
            kind="violated-run" if broken else "good-run",
            answer="VIOLATED" if broken else "HOLDS",
            name=" + ".join(files),
            summary=_run_summary(run),
            facts=[*_bounds(run.spec)[:2], *_params(run.program)],
            cautions=[str(notice) for notice in run.notices],
            happens_title="What happens",
            choices_label="Runs",
            choices=[],
            text=execution_text(run),
            program=explainer.program,
            data=page_data(shown, len(shown) - 1, lineages, explainer, files),
            fault_kinds=_fault_kinds(shown),
        )
    )


def _failure_free_name(explainer: Explainer) -> str:
    return "The same inputs and choices without faults" if explainer.given else "The failure-free run"


def _run_summary(run: Execution) -> str:
    faults = run.faults.count_text()
    if not run.violations:
        until = "until" if any(a.post is None for a in assertions_of(run)) else "at"
        return f"Under {faults} everything that must hold {until} the end of time {run.spec.eot} does."
    return f"Under {faults} the promise is broken: {describe_violation(run.violations[0])}."


def _lineages(violations: Sequence[Violation], explainer: Explainer) -> list[Lineage]:
    """Follow as many lineages as a page can carry; the first in any case."""
    lineages: list[Lineage] = []
    boxes = 0
    for violation in violations[:MOST_LINEAGES]:
        if explainer.explains(violation) and boxes < MOST_DRAWN_BOXES:
            lineages.append(lineage := explainer.lineage(violation))
            boxes += sum(len(g.goals) + len(g.firings) for g in (lineage.focused, lineage.whole))
    return lineages


def _bounds(spec: FailureSpec) -> list[tuple[str, str]]:
    return [
        ("nodes", row_text(spec.nodes)),
        ("end of time (EOT)", str(spec.eot)),
        *((kind.kind.limit, str(kind.limit(spec))) for kind in KINDS if kind.limit_words(spec)),
    ]


def _params(program: Program | None) -> list[tuple[str, str]]:
    return [(f"param {param.name}", show(param.value)) for param in program.params] if program else []


@dataclass(frozen=True)
class _VerdictPage:
    verdict: Verdict
    files: Sequence[str]
    explainer: Explainer
    stage: Stage

    def page(self) -> Page:
        verdict = self.verdict
        shown = [ShownRun(_failure_free_name(self.explainer), self.explainer.failure_free)]
        choices = self._counterexamples(shown)
        # Counted before samples join the choices: only these are counterexamples.
        found = len(choices)
        executions = self._executions(shown)
        # What can be left out comes last: it is given up when the time is over.
        lineages: list[Lineage] = []
        margins: list[MarginRow] = []
        missing: list[str] = []
        try:
            choices += self._samples(shown)
            missing += self._measure(margins)
            lineages += self._lineages()
        except BudgetExhaustedError as limit:
            missing.append(f"This page is not complete: {limit}.")
        first = choices[0].run if choices else 0
        # With nothing to compare, the failure-free run is what there is to see.
        if not self.verdict.found:
            choices.append(Choice(0, "The failure-free run"))
        return Page(
            kind=verdict.answer.value,
            answer=verdict.answer.value.upper(),
            name=" + ".join(self.files) or "program",
            summary=self._summary(),
            facts=[*_bounds(verdict.spec), *_params(verdict.program), *self._effort(), *self._promises()],
            cautions=[*self._cautions(found), *missing],
            happens_title=self._title(),
            choices_label=self._choices_label(),
            choices=choices,
            text=verdict_text(verdict, self.files, summaries=_summaries(shown)),
            program=self.explainer.program,
            data=page_data(shown, first, lineages, self.explainer, self.files),
            margins=margins,
            margins_lead=distance_lead(verdict.spec),
            margins_note=distance_note(margins, len(self.explainer.outcomes())) if margins else "",
            executions=executions,
            executions_lead=self._executions_lead(),
            fault_kinds=_fault_kinds(shown),
        )

    # -- what the page says --------------------------------------------------------------------------------------

    def _summary(self) -> str:
        verdict = self.verdict
        match verdict.answer:
            case Answer.COUNTEREXAMPLE:
                return self._describe_counterexample(verdict.counterexamples[0])
            case Answer.CERTIFIED if verdict.lasting:
                bounds, claim = _in_words(verdict.spec), lasting_claim(verdict)
                return f"Within the bounds ({bounds}) nothing is violated for ever: {claim}."
            case Answer.CERTIFIED:
                return (
                    f"Whatever happens within the bounds ({_in_words(verdict.spec)}), what must hold "
                    f"{'' if verdict.promises else 'at the end '}does. That covers all of the at most "
                    f"{combinations_text(verdict)}; it says nothing about more faults or longer runs."
                )
            case Answer.INCOMPLETE if verdict.candidates:
                return f"Faults were found that break it at the end of time {verdict.spec.eot}; {verdict.reason}."
            case Answer.INCOMPLETE if verdict.certified:
                return f"The sweep was stopped: {verdict.reason}."
            case Answer.INCOMPLETE:
                return f"No faults were found that break it, but this is no proof: {verdict.reason}."

    def _describe_counterexample(self, found: Counterexample) -> str:
        verdict = self.verdict
        broken = describe_violation(found.violations[0])
        if not found.faults:
            return f"This breaks without any fault: {broken}."
        many = pluralize(len(verdict.counterexamples), "way")
        ways = (
            f"{many} to break this were found, the smallest with"
            if len(verdict.counterexamples) > 1
            else ("This can be broken by")
        )
        # Said only where it is proven: the exact strategy asks for the fewest faults, unless it was stopped.
        # A longer run could need fewer of them to be violated for ever.
        smallest = verdict.strategy == "exact" and verdict.reason is None and not verdict.lasting
        fewer = " No combination of fewer faults does that." if smallest else ""
        return f"{ways} {found.faults.count_text()} within the bounds: {broken}.{fewer}"

    def _effort(self) -> list[tuple[str, str]]:
        verdict = self.verdict
        facts = [("search", verdict.strategy), ("executions", str(verdict.runs))]
        facts.append(("covers" if verdict.answer is Answer.CERTIFIED else "among", combinations_text(verdict)))
        if verdict.swept:
            facts.append(("swept", pluralize(len(verdict.swept), "setting")))
        if verdict.certified:
            facts.append(("certified up to", f"EOT {verdict.certified.eot}, EFF {verdict.certified.eff}"))
        if verdict.solver:
            s = verdict.solver
            facts.append(
                ("solver", f"{s.atoms} atoms, {s.rules} rules, {s.choices} choices, {s.conflicts} conflicts")
            )
        return facts

    def _promises(self) -> list[tuple[str, str]]:
        found = len(self.verdict.counterexamples)
        return [(a.assertion.title, standing_text(a, found)) for a in self.verdict.promises]

    def _cautions(self, shown: int) -> list[str]:
        verdict = self.verdict
        cautions = [str(notice) for notice in verdict.notices]
        if verdict.answer is Answer.COUNTEREXAMPLE and verdict.reason:
            cautions.append(f"The search was not finished: {verdict.reason}.")
        if verdict.answer is Answer.CERTIFIED and verdict.reason:
            cautions.append(f"The sweep ended here: {verdict.reason}.")
        cautions += [f"Beware: {caution}." for caution in verdict.cautions]
        cautions += [f"Remark: {remark}." for remark in verdict.remarks]
        if verdict.survey and verdict.survey.silent and verdict.answer is not Answer.COUNTEREXAMPLE:
            silent = "; ".join(rule_text(c.rule) for c in verdict.survey.silent)
            cautions.append(f"Rules that never fire within these bounds: {silent}")
        left = len(self.verdict.found) - shown
        if left > 0:
            kind = "counterexamples" if verdict.counterexamples else "candidates"
            cautions.append(f"{left} further {kind} are not on this page; --json has them all.")
        return cautions

    def _choices_label(self) -> str:
        if self.verdict.candidates:
            return "Candidates"
        return "Counterexamples" if self.verdict.counterexamples else "Sample runs"

    def _title(self) -> str:
        if self.verdict.candidates:
            return "What may go wrong"
        return {
            Answer.COUNTEREXAMPLE: "What goes wrong",
            Answer.CERTIFIED: "The failure-free run"
            if self.verdict.lasting
            else "Sample runs under the heaviest faults found within the bounds",
            Answer.INCOMPLETE: "The failure-free run",
        }[self.verdict.answer]

    # -- runs ----------------------------------------------------------------------------------------------------

    def _counterexamples(self, shown: list[ShownRun]) -> list[Choice]:
        choices = []
        found = self.verdict.found[:MOST_COUNTEREXAMPLES]
        for number, counterexample in enumerate(found, start=1):
            self.stage(f"explaining counterexample {number} of {len(found)}")
            # Every message is an arrow with a tooltip, in two pictures: the file has to stay small enough to open.
            if sum(len(s.run.messages) for s in shown) > MOST_DRAWN_MESSAGES:
                break
            faults = counterexample.faults
            whys = self.explainer.explain(counterexample.violations, faults)
            name = "The failing run" if len(found) == 1 else f"Failing run {number}"
            choices.append(Choice(len(shown), f"{number}: {faults}"))
            run = replace(self.explainer.run(faults), duration=counterexample.duration)
            shown.append(ShownRun(name, run, whys, beside=True))
        return choices

    def _samples(self, shown: list[ShownRun]) -> list[Choice]:
        # What passes may be violated at the end, and such a run is no sample of one that holds.
        if self.verdict.answer is not Answer.CERTIFIED or self.verdict.lasting:
            return []
        self.stage("looking for the heaviest faults")
        choices = []
        for number, run in enumerate(self.explainer.heaviest(SAMPLES), start=1):
            # A certificate that a run contradicts must not be shown: this is a mistake in Clew, and the loudest
            # end is the best.
            if run.violations:
                raise AssertionError(f"certified, and yet {run.faults} fails")
            label = f"Sample {number}: {_brief(run.faults)}"
            choices.append(Choice(len(shown), label))
            shown.append(ShownRun(f"Passing run {number}, {run.faults.count_text()}", run, beside=True))
        return choices

    def _executions(self, shown: list[ShownRun]) -> list[ExecutionRow]:
        verdict = self.verdict
        # One question to a solver: there are no executions to list but those that are shown.
        if verdict.strategy == "exact":
            return []
        known: dict[FaultSet, int] = {s.run.faults: k for k, s in enumerate(shown)}
        drawn = sum(len(s.run.messages) for s in shown)
        rows = []
        for number, execution in enumerate(verdict.executions, start=1):
            faults = execution.faults
            if faults not in known and number <= MOST_EXECUTIONS and drawn <= MOST_DRAWN_MESSAGES:
                self.stage(f"drawing execution {number} of {min(len(verdict.executions), MOST_EXECUTIONS)}")
                known[faults] = len(shown)
                run = self.explainer.run(faults)
                drawn += len(run.messages)
                shown.append(ShownRun(f"Execution {number}", run))
            violated = ", ".join(map(str, execution.violations))
            command = replay_command(faults, verdict.spec, self.files, verdict.program)
            rows.append(ExecutionRow(number, str(faults), violated, known.get(faults), command))
        return rows

    def _executions_lead(self) -> str:
        verdict = self.verdict
        how = {
            "lineage": "Each one cuts every support that the ones before it had shown.",
            "random": "Their faults were drawn at random.",
            "exhaustive": "Fault sets in the order of their size, until the search ended.",
        }.get(verdict.strategy, "")
        missing = verdict.runs - len(verdict.executions)
        left_out = f" Of {verdict.runs} only these were remembered." if missing > 0 else ""
        return f"What the search executed, in order. {how}{left_out}"

    # -- the certificate -----------------------------------------------------------------------------------------

    def _lineages(self) -> list[Lineage]:
        self.stage("following lineage")
        broken = [v for c in self.verdict.found[:MOST_COUNTEREXAMPLES] for v in c.violations]
        return _lineages(tuple(dict.fromkeys(broken)) or self.explainer.outcomes(), self.explainer)

    def _measure(self, margins: list[MarginRow]) -> list[str]:
        """Add the distances to failure line by line, and return a caution if they cannot be known."""
        # The distance is that to any violation at the end, not to one that lasts.
        if self.verdict.answer is not Answer.CERTIFIED or self.verdict.lasting:
            return []
        self.stage("measuring the distance to failure")
        try:
            for row in distance_rows(self.explainer):
                margins.append(row)
        except ProgramError as error:
            # Runs beyond the budget may do what the program must not, such as add up to too large a number.
            return [f"The distance to failure is not known: beyond the bounds {error.message}."]
        return []


def _summaries(shown: Sequence[ShownRun]) -> Summaries:
    return {s.run.faults: summary_lines(s.run.faults, s.run.messages) for s in shown}


def _fault_kinds(shown: Sequence[ShownRun]) -> frozenset[str]:
    kinds = frozenset(fault.name for s in shown for fault in s.run.faults)
    loops = (s.run.duration.repeated for s in shown if s.run.duration)
    return kinds | {"loop"} if any(find_visible_loop(loop, shown[0].run.spec.eot) for loop in loops) else kinds


def _brief(faults: FaultSet) -> str:
    """Name crashes, and count losses: the heaviest faults are many."""
    parts: list[str] = []
    for kind in KINDS:
        happened = faults.of_kind(kind)
        if issubclass(kind, MessageFault):
            parts += [pluralize(len(happened), kind.name, kind.kind.plural)] if happened else []
        else:
            parts += map(str, happened)
    return ", ".join(parts) or "no fault"


def _in_words(spec: FailureSpec) -> str:
    return ", ".join([*filter(None, (kind.allowance(spec) for kind in KINDS)), f"{spec.eot} steps"])
