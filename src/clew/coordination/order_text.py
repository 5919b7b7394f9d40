"""The classes that let rows in one by one, in one order for all replicas, as text (thesis, section 4.4).

Components are wrapped as for seals.  A row is let in when the component has settled after the row before, so that
all replicas go through the same states, whatever time passes between the rows.
"""

from __future__ import annotations

from clew.bloom.language.module import Module
from clew.coordination.components import component_of
from clew.coordination.ordering import OrderedDelivery, SequencedDelivery
from clew.coordination.plans import Ordered, OrderPlan, Service
from clew.coordination.text import (
    ClassText,
    block_text,
    class_name,
    content,
    input_text,
    join_names,
    quote,
    rule_text,
    watch_rules,
)

#: What a class imports as its order, by who decides it.
_DELIVERY = {Service.SEQUENCER: SequencedDelivery.__name__, Service.ZOOKEEPER: OrderedDelivery.__name__}


def order_says(cls: type[Module], plan: OrderPlan) -> list[str]:
    """Return what there is to say about the coordinated program."""
    inputs = [f"{o.component}.{name}" if o.component else name for o in plan.components for name in o.interfaces]
    says = [f"{cls.__name__} in which {join_names(inputs)} get rows in one order, the same at all replicas.", ""]
    if plan.service is Service.SEQUENCER:
        return [*says, "``order.sequencer`` has the address of a node of ``clew.coordination.Sequencer``."]
    return [*says, "``clew.coordination.zookeeper.ZooKeeperOrder`` connects a node that runs to ZooKeeper."]


def order_classes(cls: type[Module], plan: OrderPlan) -> list[ClassText]:
    """Return the wrapped components, and the system that imports them and has the order."""
    classes: list[ClassText] = []
    delivery = _DELIVERY[plan.service]
    declarations, blocks, uses = [f"order = imported({delivery})"], [], {delivery}
    record = f"coordination = system({cls.__name__})"
    for one in plan.components:
        if one.component:
            module = component_of(cls, one.component)
            name = class_name("Ordered", module, one.component, [c.name for c in classes])
            made = _component(name, module, one)
            classes.append(made)
            declarations.append(f"{one.component} = imported({made.name})")
            blocks.append(_passing_block(one))
            uses.add("system")
        else:
            record = f"coordination = ordered({cls.__name__}, [{quote(one.interfaces)}])"
            uses |= {"ordered", *_settling_uses(one)}
            declarations += [f"{name} = {input_text(cls, name)}" for name in one.interfaces]
            declarations += _settling_declarations(one)
            blocks += [_order_block(cls, name, name, "order.propose", "order.released") for name in one.interfaces]
            blocks += _watch_block(one, "order.released", "order.wait")
    says = "Everything that is ordered goes through one order."
    whole = ClassText(
        f"Ordered{cls.__name__}", cls, says, (record, *declarations), tuple(blocks), frozenset(uses)
    )
    return [*classes, whole]


def _component(name: str, cls: type[Module], one: Ordered) -> ClassText:
    declarations = [
        f"coordination = ordered({cls.__name__}, [{quote(one.interfaces)}])",
        'to_order = interface.output("stream", "content")',
        'in_order = interface.input("stream", "content")',
        *(f"{held} = {input_text(cls, held)}" for held in one.interfaces),
        *_settling_declarations(one),
    ]
    blocks = [
        _order_block(cls, held, f"{one.component}.{held}", "to_order", "in_order") for held in one.interfaces
    ]
    if one.watched is not None:
        declarations.append('unsettled = interface.output("why")')
        blocks += _watch_block(one, "in_order", "unsettled")
    says = f"Orders {join_names(one.interfaces)}."
    uses = frozenset({"ordered", *_settling_uses(one)})
    return ClassText(name, cls, says, tuple(declarations), tuple(blocks), uses)


def _settling_uses(one: Ordered) -> set[str]:
    if one.watched is None:
        return set()
    return {"Settling", "pending_changes"} if one.watched else {"Settling"}


def _settling_declarations(one: Ordered) -> list[str]:
    return [] if one.watched is None else ["settling = imported(Settling)"]


def _order_block(cls: type[Module], name: str, stream: str, to: str, ready: str) -> str:
    rules = [
        rule_text(f"self.{to} <=", f"self.{name}", f'lambda r: ("{stream}", {content(cls, name)})'),
        f'self.{name} <+ self.{ready}.filter(lambda o: o.stream == "{stream}")(lambda o: o.content)',
    ]
    return block_text(f"order_{name}", rules)


def _watch_block(one: Ordered, released: str, shown: str) -> list[str]:
    if one.watched is None:
        return []
    rules = [
        *watch_rules("settling", one.watched),
        f'self.settling.admitted <= self.{released}(lambda o: ("rows",))',
        f"self.{shown} <= self.settling.busy",
    ]
    return [block_text("watch", rules)]


def _passing_block(one: Ordered) -> str:
    """Between a component and the order, which the system has."""
    component = one.component
    rules = [
        f"self.order.propose <= self.{component}.to_order",
        f'self.{component}.in_order <= self.order.released.project("stream", "content")',
    ]
    if one.watched is not None:
        rules.append(f"self.order.wait <= self.{component}.unsettled")
    return block_text(f"order_{component}", rules)
