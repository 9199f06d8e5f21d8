"""No module imports in a circle, and few import by name: imports within functions and for types count too."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BASES = {"src": "src", "attack": ".", "benchmarks": "benchmarks", "scripts": "scripts"}  # where imports begin
LOADERS = {
    *("import_module", "__import__", "resolve_name", "run_module", "run_path"),
    *("module_from_spec", "exec_module", "load_module", "importlib", "pkgutil", "runpy"),
}
# Modules that call one of these, or that name other modules in strings, and why each of them may.
BY_NAME = {
    "funnelling": "public names are imported when they are first used, so that commands start at once",
    "funnelling.commands": "COMMANDS, some of which are in layers above",
    "funnelling.methods.registry": "METHODS, which reach up",
    "funnelling.methods.estimator": "`save` and `push`: storage is a layer above",
    "funnelling.research": "public names, as those of the package",
    "funnelling.commands.corpora": "CORPORA: only the one that is built is loaded",
    "funnelling.research.experiments.registry": "EXPERIMENTS: only those that run are loaded",
    "funnelling.research.commands": "runs EXPERIMENTS",
    "funnelling.serving.supervisor": "names loggers, and imports nothing by name",
    "funnelling.spaces": "VIEWS: only those of the model are loaded",
    "funnelling.storage.trees": "classes that a field names by `OneOf`: only those of the model are loaded",
}
# An estimator saves itself, and storage makes estimators: a circle that a call closes.
BACK = {
    "funnelling.methods.estimator": {"funnelling.storage.models", "funnelling.storage.places"},
}


class Graph:
    """The modules of a folder, and which others of them each one imports.

    What a package passes on counts as imported from where it is defined.
    """

    def __init__(self, folder: Path, base: Path) -> None:
        files = {path.relative_to(base).with_suffix(""): path for path in sorted(folder.rglob("*.py"))}
        self.packages = {".".join(path.parent.parts) for path in files if path.name == "__init__"}
        self.nodes = {
            ".".join(path.parts).removesuffix(".__init__"): list(ast.walk(ast.parse(file.read_bytes())))
            for path, file in files.items()
        }
        self._passed_on = {package: dict(self._from(package)) for package in self.packages}
        self._defined = {package: set(_definitions(self.nodes[package])) for package in self.packages}
        self._named = {name: self._in_strings(name) for name in self.nodes}
        self.edges = {
            name: {*self._imported(name), *self._named[name]} - {name, "", *BACK.get(name, ())}
            for name in self.nodes
        }

    def _from(self, name: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """What a module imports from others: its name here, the other module and its name there."""
        package = name.split(".") if name in self.packages else name.split(".")[:-1]
        for node in self.nodes[name]:
            if isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*above, *filter(None, [node.module])])
                yield from ((alias.asname or alias.name, (source, alias.name)) for alias in node.names)

    def _imported(self, name: str) -> Iterator[str]:
        yield from (self._home(*source) for _, source in self._from(name))
        for node in self.nodes[name]:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.nodes)

    def _home(self, module: str, attribute: str) -> str:
        """The module that defines an attribute of a module; nothing where it is none of these modules."""
        if f"{module}.{attribute}" in self.nodes:
            return f"{module}.{attribute}"
        if module not in self.packages:
            return module if module in self.nodes else ""
        if attribute in self._passed_on[module]:
            return self._home(*self._passed_on[module][attribute])
        return module if attribute in self._defined[module] else ""

    def _in_strings(self, name: str) -> set[str]:
        """Modules that strings name: "package.module", "package.module:attribute", f"{PACKAGE}.module".

        The module's own package does not count: it is named to read the data in it.
        """
        found = set()
        for text in _strings(self.nodes[name]):
            module, _, attribute = text.replace(":", ".").rpartition(".")
            found.add(self._home(module, attribute))
        return {each for each in found if "." in each and not f"{name}.".startswith(f"{each}.")}

    def by_name(self) -> set[str]:
        """The modules that import others by name, or could."""
        loading = {name for name, nodes in self.nodes.items() if not LOADERS.isdisjoint(_words(nodes))}
        return loading | {name for name, others in self._named.items() if others}

    def circles(self) -> list[set[str]]:
        """Sets of modules of which each leads to all."""
        reached = {name: self._reached(name) for name in self.edges}
        found: list[set[str]] = []
        for name in self.edges:
            circle = {other for other in reached[name] if name in reached[other]}
            if circle and circle not in found:
                found.append(circle)
        return found

    def _reached(self, name: str) -> set[str]:
        reached: set[str] = set()
        todo = [name]
        while todo:
            new = self.edges[todo.pop()] - reached
            reached |= new
            todo += new
        return reached


def _words(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name


def _definitions(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def _strings(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """All strings; in those with fields, what the module assigned to a field's name."""
    constants: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            constants |= dict.fromkeys(names, str(node.value.value))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [
                part.value for part in node.values if isinstance(part, ast.Constant | ast.FormattedValue)
            ]
            yield "".join(
                constants.get(part.id, "?") if isinstance(part, ast.Name) else str(part) for part in parts
            )


@cache
def graph_of(folder: str) -> Graph:
    if not (ROOT / folder).exists():
        pytest.skip("needs the repository")
    return Graph(ROOT / folder, ROOT / BASES[folder])


@pytest.mark.parametrize("folder", BASES)
def test_no_module_imports_in_a_circle(folder: str) -> None:
    assert graph_of(folder).circles() == []


def test_imports_by_name_are_few_and_have_a_reason() -> None:
    assert graph_of("src").by_name() == set(BY_NAME)


@pytest.mark.parametrize(
    "line",
    [
        "from house.low import THING",
        "def later():\n    from . import THING",
        "def later():\n    import house.low",
        "if TYPE_CHECKING:\n    from house import THING as OTHER",
        'import_module("house.low")',
        'TABLE = {"thing": "house.low:THING"}',
        'PACKAGE = "house"\nTABLE = [f"{PACKAGE}.low"]',
    ],
)
def test_what_is_planted_is_found(tmp_path: Path, line: str) -> None:
    for name, content in {
        "__init__": "from house.low import THING",
        "low": "from house import high\nTHING = high.OTHER",
        "high": f"{line}\nOTHER = 1",
        "apart": 'from house.low import THING\nFOLDER = files("house.apart")',
    }.items():
        (tmp_path / "house").mkdir(exist_ok=True)
        (tmp_path / "house" / f"{name}.py").write_text(content)
    graph = Graph(tmp_path / "house", tmp_path)
    assert graph.circles() == [{"house.high", "house.low"}]
    assert graph.by_name() == ({"house.high"} if '"' in line else set())
