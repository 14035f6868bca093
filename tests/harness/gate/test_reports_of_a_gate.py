"""How a run of `pytest --duel` is shown: in the terminal, on GitHub, as JSON and JUnit, and as a page."""

import json
import math
import subprocess
import sys
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from gate_runs import A_RUN, FOLDER, NAMES, OUTCOMES, RUN, VOID, a_change
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.cells import cell_len

from harness.gate import annotations, machine_readable, page, wording
from harness.gate.outcomes import Change, GateRun, GateVerdict
from harness.gate.terminal import summary

ROOT = Path(__file__).parents[3]
IN_THE_TERMINAL = f"""\
Compared with main (1a2b3c4d5e): CPU time, changes up to 3 % allowed
verdict     change  interval           a call  benchmark
SLOWER      +330 %  +290 to +380 %     220 ms  test_render.py::test_page
SLOWER     +12.0 %  +10.0 to +15.0 %  4.80 ms  test_render.py::test_table[1000 rows]
BROKEN                                         test_load.py::test_save
FAILED                                         test_load.py::test_pack
UNDECIDED     +2 %  -2 to +7 %         310 ms  test_load.py::test_load
NEW                                            test_new.py::test_stream
SAME        +0.2 %  -0.3 to +0.6 %    1.35 ms  test_parse.py::test_parse
FASTER     -37.0 %  -39.0 to -36.0 %    48 µs  test_render.py::test_table[10 rows]
SLOWER {FOLDER}/test_render.py::test_page
  Next: Lower its CPU time, or allow the change if it is worth it: @pytest.mark.duel(allow=3.8)
SLOWER {FOLDER}/test_render.py::test_table[1000 rows]
  Next: Lower its CPU time, or allow the change if it is worth it: @pytest.mark.duel(allow=0.15)
BROKEN {FOLDER}/test_load.py::test_save
  Why: TypeError: save() needs 2 arguments
  Next: Run the test alone, and repair it: pytest {FOLDER}/test_load.py::test_save
FAILED {FOLDER}/test_load.py::test_pack
  Why: The process was killed by SIGKILL.
  Next: Measure it alone: pytest {FOLDER}/test_load.py::test_pack --duel main
UNDECIDED {FOLDER}/test_load.py::test_load
  Why: After 10 s, the interval still contains the allowed change.
  Next: Measure longer, on a machine without other work: pytest {FOLDER}/test_load.py::test_load --duel main \
--duel-limit 60
NEW {FOLDER}/test_new.py::test_stream
  Why: ImportError: cannot import name 'stream'
Noise: BASE against itself differs by +0.04 % (-0.21 to +0.29 %) on {FOLDER}/test_parse.py::test_parse. \
The true change is 0.
The run is red: 2 slower, 1 broken, 1 failed, 1 undecided, 1 new, 1 same, 1 faster.
"""


def lines(run: GateRun, width: int = 80) -> list[str]:
    return [f"{words}{rest}" for words, _, rest in summary(run, width)]


def rows(run: GateRun, width: int = 80) -> list[str]:
    """Return the lines of the table: its head, the rows, and the lines on which a name is continued."""
    found, shown = lines(run, width)[1:], len(wording.rows_of(run)[0])
    beginnings = [at for at, line in enumerate(found) if not line.startswith(" ")]
    return found[: beginnings[shown + 1]] if shown else []


def test_the_terminal_shows_the_worst_first_with_what_to_do_next() -> None:
    assert "\n".join(lines(RUN, 100)) + "\n" == IN_THE_TERMINAL


@given(A_RUN)
def test_a_table_fits_80_columns_and_no_line_acts_on_a_terminal_or_on_github(run: GateRun) -> None:
    written = [line.replace("\N{ZERO WIDTH JOINER}", "") for line in lines(run)]
    assert [line for line in written if line.lstrip().startswith("::")] == []
    assert {unicodedata.category(char) for line in written for char in line} & {"Cc", "Cf", "Zl", "Zp"} == set()
    assert [row for row in rows(run) if cell_len(row) > 80] == []


@given(NAMES, st.sampled_from((80, 132)))
def test_a_long_name_is_continued_below_itself_and_nothing_of_it_is_lost(name: str, width: int) -> None:
    head, *table = rows(replace(RUN, outcomes=(replace(OUTCOMES[0], name=f"a/{name}"),)), width)
    assert [line for line in table if line.lstrip().startswith("::") or cell_len(line) > width] == []
    shown = "".join(line[head.index("benchmark") :].removeprefix("…" if line[0] == " " else "") for line in table)
    assert shown == "test_a.py::" + wording.text(name).partition("test_a.py::")[2]


@pytest.mark.parametrize(
    ("cost", "shown"),
    [("CPU time", "20 min 34 s"), ("wall time", "20 min 34 s"), ("instructions", "1 234"), ("peak memory", "1.21 KiB")],
)
def test_a_cost_has_its_unit(cost: str, shown: str) -> None:
    run = replace(RUN, cost=cost, outcomes=(replace(OUTCOMES[2], base=1000, here=1234),))
    assert f" {shown}  test_render.py" in rows(run)[1]
    assert shown in annotations.job_summary(run)
    assert f"{cost} of a call: " in page.render(run)
    assert shown in page.render(run)
    name = {"instructions": "instructions", "peak memory": "memory", "wall time": "wall"}.get(cost)
    undecided = replace(OUTCOMES[2], verdict=GateVerdict.UNDECIDED)
    assert (f"--duel-cost {name} " in wording.next_step(run, undecided)) == (name is not None)


def test_a_table_leaves_out_what_needs_no_step_and_says_so() -> None:
    many = tuple(replace(one, name=f"test_a.py::test[{at}]") for at in range(30) for one in OUTCOMES)
    shown, left_out = wording.rows_of(replace(RUN, outcomes=many))
    assert {one.verdict for one in shown} == {
        GateVerdict.SLOWER,
        GateVerdict.BROKEN,
        GateVerdict.FAILED,
        GateVerdict.UNDECIDED,
    }
    assert left_out == "The table leaves out 30 new, 30 same, 30 faster."


def test_a_void_run_says_why_and_what_to_do_and_is_not_red() -> None:
    noise = "The control failed. BASE against itself differs by +5.8 % (+3.1 to +8.6 %) on {}. The true change is 0."
    assert [(words, colour) for words, colour, _ in summary(VOID)][-3:] == [
        (noise.format(f"{FOLDER}/test_parse.py::test_parse"), ""),
        ("The run is void: 5 void.", "yellow"),
        ("No verdict of this run holds. Run the same command again, on a machine without other work.", ""),
    ]
    quiet = replace(RUN, controls=(), outcomes=())
    assert wording.noise(quiet) == "Noise: unknown, because no control ran."
    assert wording.headline(quiet) == "The run is not red: it has no benchmark."
    assert wording.headline(replace(RUN, shadow=True)).startswith("The run only reports: 2 slower")


@given(a_change(), st.integers(0, 300))
def test_a_shown_interval_contains_the_interval_and_lies_on_the_same_side_of_the_allowed_change(
    change: Change, thousandths: int
) -> None:
    allowed = thousandths / 1000
    measured, interval = wording.changes(change, allowed)
    low, high = (
        float(end.replace(" ", "").replace("∞", "inf")) / 100 for end in interval.removesuffix(" %").split(" to ")
    )
    shown = float(measured.removesuffix(" %").replace(" ", "")) / 100
    assert low - 1e-9 <= change.low <= change.high <= high + 1e-9
    assert low - 1e-9 <= shown <= high + 1e-9
    assert change.low <= allowed or low >= allowed - 1e-9
    assert change.high > allowed or high <= allowed + 1e-9


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (Change(0.1234, 0.1011, 0.1449), ("+12.3 %", "+10.1 to +14.5 %")),
        (Change(-0.0004, -0.0021, 0.0013), ("-0.04 %", "-0.21 to +0.13 %")),
        (Change(-0.0001, -0.02, 0.02), ("+0.0 %", "-2.0 to +2.0 %")),
        (Change(12.3, 9.51, 15.049), ("+1 230 %", "+951 to +1 505 %")),
        (Change(0.00012, 0.00012, 0.00012), ("+0.012 %", "+0.012 to +0.012 %")),
        (Change(0.5, -1, math.inf), ("+50 %", "-100 to ∞ %")),
    ],
)
def test_a_change_has_the_decimals_that_its_interval_supports(change: Change, texts: tuple[str, str]) -> None:
    assert wording.changes(change, 0.03) == texts


def test_github_shows_what_is_red_as_errors_and_the_rest_as_warnings_at_the_line_of_the_test(tmp_path: Path) -> None:
    places = {outcome.name: (tmp_path / outcome.name.partition("::")[0], 7) for outcome in OUTCOMES}
    found = list(annotations.commands(RUN, places, tmp_path))
    assert [line.split(" ")[0] for line in found] == ["::error"] * 3 + ["::warning"] * 2
    assert found[0] == (
        f"::error file={FOLDER}/test_render.py,line=7,title=SLOWER {FOLDER}/test_render.py%3A%3Atest_page::"
        "CPU time: +330 %25 (+290 to +380 %25) compared with main. "
        "Lower its CPU time, or allow the change if it is worth it: @pytest.mark.duel(allow=3.8)"
    )
    many = replace(RUN, outcomes=tuple(replace(one, name=f"a::{at}") for at in range(30) for one in OUTCOMES))
    assert [line[:8] for line in annotations.commands(many, {}, tmp_path)] == ["::error "] * 10 + ["::warnin"] * 10
    assert "The run is void" in next(annotations.commands(VOID, places, tmp_path))


@given(A_RUN)
def test_an_annotation_is_one_line_with_one_message(run: GateRun) -> None:
    for line in annotations.commands(run, {}, Path()):
        assert len(line.splitlines()) == 1
        assert line.count("::") >= 2
        properties = line.split(" ", 1)[1].partition("::")[0]
        assert properties.startswith("title=")
        assert "," not in properties


def test_only_a_job_of_github_gets_a_summary_and_annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, written = tmp_path / "summary.md", list[str]()
    file.write_text("# Earlier\n\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    annotations.publish(RUN, {}, written.append)
    assert (written, file.read_text(encoding="utf-8")) == ([], "# Earlier\n\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    annotations.publish(RUN, {}, written.append)
    assert len(written) == 5
    assert file.read_text(encoding="utf-8") == "# Earlier\n\n" + annotations.job_summary(RUN)


@given(A_RUN)
def test_the_job_summary_shows_every_name_as_it_is(run: GateRun) -> None:
    parsed = MarkdownIt("gfm-like", {"linkify": False}).parse(annotations.job_summary(run))
    cells = [token for before, token in pairwise(parsed) if before.type == "td_open"]
    names = ["".join(child.content for child in token.children or ()) for token in cells[1::6]]
    assert names == [wording.text(one.name).strip() for one in wording.rows_of(run)[0]]
    kinds = {child.type for token in parsed for child in token.children or ()}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close"}


@given(A_RUN)
def test_json_can_be_read_back_and_has_no_number_that_json_lacks(run: GateRun) -> None:
    written = machine_readable.to_json(run)
    assert machine_readable.from_json(written) == run
    data = json.loads(written, parse_constant=pytest.fail)
    assert [one["red"] for one in data["outcomes"]] == list(map(run.is_red, run.outcomes))


@pytest.mark.parametrize("edit", [("1", "2"), ("fairclock", "other"), ('"version": 1,', ""), ("{", "")])
def test_another_file_than_that_of_duel_json_is_refused(edit: tuple[str, str]) -> None:
    written = machine_readable.to_json(RUN)
    with pytest.raises(ValueError, match=r"not written by `pytest --duel-json` in format version 1, or it is damaged"):
        machine_readable.from_json(written.replace(*edit, 1))


def test_a_real_pytest_shows_the_table_and_junit_has_the_verdict_of_each_test(tmp_path: Path) -> None:
    hostile = replace(OUTCOMES[2], why="<b> & \x1b[31m ]]> 👩")
    (tmp_path / "run.json").write_text(machine_readable.to_json(replace(RUN, outcomes=(hostile,))), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\n"
        "import pytest\n"
        "from harness.gate import machine_readable, terminal\n"
        "run = machine_readable.from_json(Path('run.json').read_text('utf-8'))\n"
        "@pytest.fixture\n"
        "def properties():\n"
        "    return machine_readable.junit_properties(run, run.outcomes[0])\n"
        "def pytest_terminal_summary(terminalreporter):\n"
        "    terminal.show(run, terminalreporter)\n",
        encoding="utf-8",
    )
    (tmp_path / "test_a.py").write_text(
        "def test_a(properties, record_property):\n    for each in properties:\n        record_property(*each)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "--color=yes", "--junit-xml=junit.xml", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-o", f"pythonpath={ROOT}"], cwd=tmp_path, check=True, capture_output=True, encoding="utf-8"
    )
    assert "\x1b[31m\x1b[1mSLOWER \x1b[0m  +12.0 %  +10.0 to +15.0 %  4.80 ms  test_render.py::" in done.stdout
    found = ET.parse(tmp_path / "junit.xml").iter("property")  # noqa: S314 - our own
    values = {each.attrib["name"]: each.attrib["value"] for each in found}
    assert values.pop("duel_why").startswith("<b> & #x1B[31m ]]> 👩")
    assert {name: values[name] for name in ("duel_verdict", "duel_base", "duel_cost", "duel_cost_here")} == {
        "duel_verdict": "slower",
        "duel_base": "main",
        "duel_cost": "CPU time",
        "duel_cost_here": "0.0048",
    }
    assert hostile.change == Change(*(float(values[f"duel_change{end}"]) for end in ("", "_low", "_high")))


class Texts(HTMLParser):
    """The texts in `bdi` elements of a page, and the names of all its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.elements: set[str] = set()
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.elements.add(tag)
        self.inside = tag == "bdi"
        self.names += [""] * self.inside

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "bdi"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.names[-1] += data


@given(A_RUN)
def test_the_page_shows_every_name_as_it_is_and_has_no_element_of_a_name(run: GateRun) -> None:
    rendered = page.render(run)
    found = Texts(rendered)
    assert found.names == [wording.text(one.name) for one in wording.worst_first(run)]
    known = (
        "html head meta title style body header main footer h1 h2 h3 p ol li b bdi strong dl dt dd svg path rect circle"
    )
    assert found.elements <= set(known.split())


def test_the_reports_import_nothing_that_a_gate_alone_does_not_have() -> None:
    code = (
        "import sys\n"
        "from harness.gate import annotations, machine_readable, page, terminal\n"
        "print({'torch', 'numpy', 'rich', 'jinja2', 'pytest'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"
