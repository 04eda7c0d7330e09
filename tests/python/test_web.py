"""The simulator as WebAssembly (crates/web) returns the same bytes as the native core."""

from __future__ import annotations

import base64
from dataclasses import asdict

import pytest

from aqmlab import _core
from aqmlab.errors import ScenarioError
from aqmlab.results.parquet import values
from aqmlab.scenario.file import examples
from browser_core import answers_of

RUN = """
const bytes = (values) => (Array.isArray(values) ? values : Buffer.from(values.buffer).toString("base64"));
const mapped = (object, value) => Object.fromEntries(Object.entries(object).map(([key, one]) => [key, value(one)]));
const { summary, tables } = await core.run(asked);
answers.push(summary, mapped(tables, (columns) => mapped(columns, bytes)));
"""
CHECK = """
for (const [text, overrides] of asked) {
  try {
    answers.push(core.check(text, "a.toml", overrides).hash);
  } catch (error) {
    answers.push(error.problems ?? error.message);
  }
}
"""
SHORT = [("run.duration", "12s"), ("run.warmup", "2s")]


@pytest.mark.slow
@pytest.mark.parametrize("name", examples())
def test_every_example_has_the_tables_of_the_native_core(name):
    text, file = examples()[name], f"{name}.toml"
    asked = {"text": text, "file": file, "overrides": SHORT, "seed": 3}
    summary, tables = answers_of(RUN, asked)
    native = _core.Scenario(text, file, SHORT).run(3)
    assert summary.pop("warnings") == native["summary"].pop("warnings", [])
    assert summary == native["summary"]
    assert tables.keys() == native["tables"].keys()
    for table, columns in native["tables"].items():
        assert tables[table].keys() == columns.keys()
        for key, (kind, data) in columns.items():
            own = base64.b64encode(data).decode() if isinstance(kind, str) else values((kind, data)).tolist()
            assert tables[table][key] == own, f"{table}.{key}"


def test_errors_have_the_places_that_the_command_line_prints():
    good = examples()["dumbbell-red"]
    asked = [
        (good, []),
        (good.replace("min_th", "min_tth"), []),
        (good, [("queue.bottleneck.max_p", "2")]),
        ("format = 1\nname = \"unclosed", []),
    ]  # fmt: skip
    found = answers_of(CHECK, asked)
    assert found[0] == _core.Scenario(good, "a.toml").description()["hash"]
    for problems, (text, pairs) in zip(found[1:], asked[1:], strict=True):
        with pytest.raises(ScenarioError) as caught:
            _core.Scenario(text, "a.toml", pairs)
        assert problems == [asdict(problem) for problem in caught.value.problems]
    assert all(problems[0]["line"] >= 1 for problems in found[1:])
