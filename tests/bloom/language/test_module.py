"""Classes to programs: inheritance, imports under a name, and interfaces declared again."""

from __future__ import annotations

from clew.bloom import Bloom, bloom, channel, imported, interface, scratch, table
from clew.bloom.ir.expressions import Ref, collections_in
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.language.module import program_of


def sketch(program: BloomProgram) -> list[str]:
    """The rules with what they read."""
    return [f"{r.target} {r.op.value} {', '.join(collections_in(r.expr))} ({r.block})" for r in program.rules]


class Protocol(Bloom):
    request = interface.input("ident", val=["payload"])
    answer = interface.output("ident", val=["payload"])


class Echo(Protocol):
    seen = table("ident", val=["payload"])

    @bloom
    def reply(self) -> None:
        self.answer <= self.request
        self.seen <= self.request


class Checking(Echo):
    """Both sides of an interface that is declared again."""

    request = interface.input("ident", val=["payload"])
    answer = interface.output("ident", val=["payload"])
    bad = scratch("ident")

    @bloom
    def check(self) -> None:
        self.request <= self.request.notin(self.bad, ident="ident")
        self.answer <= self.answer.filter(lambda a: a.ident != 0)


class Client(Protocol):
    wanted = table("ident")
    done = table("ident")

    @bloom
    def ask(self) -> None:
        self.request <= self.wanted(lambda w: (w.ident, "hello"))
        self.done <= self.answer(lambda a: (a.ident,))


def test_a_class_is_the_union_of_its_bases() -> None:
    class Both(Client, Echo):
        pass

    assert sketch(program_of(Both)) == [
        "answer <= request (Echo.reply)",
        "seen <= request (Echo.reply)",
        "request <= wanted (Client.ask)",
        "done <= answer (Client.ask)",
    ]
    assert [c.name for c in program_of(Both).collections] == ["request", "answer", "seen", "wanted", "done"]


def test_an_interface_declared_again_is_two_collections() -> None:
    """The module itself, the one it overrides, and who uses either from outside."""

    class All(Client, Checking):
        pass

    assert sketch(program_of(All)) == [
        "Protocol.answer <= Protocol.request (Echo.reply)",
        "seen <= Protocol.request (Echo.reply)",
        "Protocol.request <= request, bad (Checking.check)",
        "answer <= Protocol.answer (Checking.check)",
        "request <= wanted (Client.ask)",
        "done <= answer (Client.ask)",
    ]


def test_declared_again_twice() -> None:
    class Outer(Checking):
        request = interface.input("ident", val=["payload"])

        @bloom
        def outer(self) -> None:
            self.request <= self.request.filter(lambda r: r.ident > 0)

    rules = sketch(program_of(Outer))
    assert rules[2] == "Protocol.request <= Checking.request, bad (Checking.check)"
    assert rules[-1] == "Checking.request <= request (Outer.outer)"


def test_a_subclass_replaces_a_block_and_may_use_the_old_one() -> None:
    class Quiet(Echo):
        @bloom
        def reply(self) -> None:
            self.seen <= self.request

    class Loud(Echo):
        other = table("ident", val=["payload"])

        @bloom
        def reply(self) -> None:
            super().reply()
            self.other <= self.request

    assert sketch(program_of(Quiet)) == ["seen <= request (Quiet.reply)"]
    assert sketch(program_of(Loud)) == [
        "answer <= request (Echo.reply)",
        "seen <= request (Echo.reply)",
        "other <= request (Loud.reply)",
    ]


def test_modules_that_know_nothing_of_each_other_may_use_the_same_name() -> None:
    class First(Bloom):
        a = table("x")

        @bloom
        def run_it(self) -> None:
            self.a <= [(1,)]

    class Second(Bloom):
        b = table("x")

        @bloom
        def run_it(self) -> None:
            self.b <= [(2,)]

    class Both(First, Second):
        pass

    assert sketch(program_of(Both)) == ["b <=  (Second.run_it)", "a <=  (First.run_it)"]


def test_imports_under_a_name_have_their_own_collections() -> None:
    class Two(Bloom):
        left = imported(Echo)
        right = imported(Echo)
        begin = scratch("ident", val=["payload"])
        end = table("ident", val=["payload"])

        @bloom
        def connect(self) -> None:
            self.left.request <= self.begin
            self.right.request <= self.left.answer
            self.end <= self.right.answer

    assert sketch(program_of(Two)) == [
        "left.answer <= left.request (Echo.reply)",
        "left.seen <= left.request (Echo.reply)",
        "right.answer <= right.request (Echo.reply)",
        "right.seen <= right.request (Echo.reply)",
        "left.request <= begin (Two.connect)",
        "right.request <= left.answer (Two.connect)",
        "end <= right.answer (Two.connect)",
    ]
    assert [c.name for c in program_of(Two).collections][:3] == ["left.request", "left.answer", "left.seen"]


def test_imports_of_imports() -> None:
    class One(Bloom):
        echo = imported(Echo)

    class Two(Bloom):
        one = imported(One)
        out = table("ident", val=["payload"])

        @bloom
        def connect(self) -> None:
            self.out <= self.one.echo.answer

    assert sketch(program_of(Two))[-1] == "out <= one.echo.answer (Two.connect)"


def test_temps_belong_to_their_class() -> None:
    class First(Bloom):
        a = table("x")

        @bloom
        def first(self) -> None:
            self.temp.t <= self.a
            self.a <+ self.temp.t

    class Second(Bloom):
        b = table("y", val=["z"])

        @bloom
        def second(self) -> None:
            self.temp.t <= self.b
            self.b <+ self.temp.t

    class Both(First, Second):
        pass

    program = program_of(Both)
    assert sketch(program) == [
        "t <= b (Second.second)",
        "b <+ t (Second.second)",
        "First.t <= a (First.first)",
        "a <+ First.t (First.first)",
    ]
    assert [(c.name, c.kind, c.schema.columns) for c in program.collections[2:]] == [
        ("t", Kind.TEMP, ("y", "z")),
        ("First.t", Kind.TEMP, ("x",)),
    ]


def test_a_temp_of_a_join_has_the_rows_of_both_sides() -> None:
    class Joining(Bloom):
        a = table("x", val=["y"])
        b = table("x", val=["z"])
        out = table("y", val=["z"])

        @bloom
        def join(self) -> None:
            self.temp.both <= (self.a * self.b).pairs(x="x")
            self.out <= self.temp.both(lambda a, b: (a.y, b.z))
            self.out <= self.temp.both(lambda both: (both.y, both.z))

    program = program_of(Joining)
    assert program.notices == ()
    assert program.by_name["both"].schema.columns == ("x", "y", "x_2", "z")


def test_a_function_that_looks_into_a_collection_depends_on_it() -> None:
    class Looking(Bloom):
        a = table("x")
        b = table("x")
        c = table("x")

        @bloom
        def look(self) -> None:
            self.c <= self.a(lambda r: (r.x,) if (r.x,) in self.b else None)

    program = program_of(Looking)
    assert sorted(collections_in(program.rules[0].expr)) == ["a", "b"]
    assert [n.message for n in program.notices] == [
        "Looking.look: a function is not seen through, because it looks into b"
    ]


def test_a_column_may_be_named_like_a_collection() -> None:
    class Named(Bloom):
        a = table("x", val=["b"])
        b = table("x", val=["b"])

        @bloom
        def copy(self) -> None:
            self.a <= self.b(lambda r: (self.ip_port, r.b))

    assert program_of(Named).notices == ()


def test_a_function_that_passes_the_node_on_may_look_into_anything_it_names() -> None:
    class Passing(Bloom):
        a = table("x")
        b = table("x")

        @bloom
        def look(self) -> None:
            def known(r: object) -> object:
                node = self
                return r if r in node.b else None

            self.a <= self.a(known)

    assert sorted(collections_in(program_of(Passing).rules[0].expr)) == ["a", "b"]


def test_an_opaque_function_is_noticed_with_its_place() -> None:
    class Opaque(Bloom):
        a = table("x")

        @bloom
        def copy(self) -> None:
            self.a <+ self.a(lambda r: (r.x.upper(),))

    program = program_of(Opaque)
    (notice,) = program.notices
    assert notice.message == "Opaque.copy: a function is not seen through, because it calls .upper"
    assert notice.position is not None and notice.position.file == __file__


def test_the_sign_binds_tighter_than_the_product() -> None:
    class Product(Bloom):
        a = table("x")
        b = table("y")
        pairs = channel("@x", "y")

        @bloom
        def cross(self) -> None:
            self.pairs <~ self.a * self.b

    assert sketch(program_of(Product)) == ["pairs <~ a, b (Product.cross)"]


def test_default_columns() -> None:
    class Default(Bloom):
        t = table()

    assert program_of(Default).by_name["t"].schema.columns == ("key", "val")
    assert Default().t.to_expr() == Ref("t", ("key", "val"), (("key", "val"),))
