from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from stowplan.adapters.snapshot_file import load
from stowplan.model.snapshot import Snapshot
from tests.adapters.snapshot_files import problem, written

NOW = "2026-09-21T06:17:37Z"


def test_a_name_of_digits_in_a_csv_file_stays_text(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        s__yaml=f"now: {NOW}\nfleet: {{machines: {{table: m.csv}}}}",
        m__csv="name,cpu_cores,labels.pool\n001,4,7\n1e3,2.5,\nnan,,null\n",
    )
    machines = load(path).fleet.machines
    assert [machine.name for machine in machines] == ["001", "1e3", "nan"]
    assert [machine.cpu_cores for machine in machines] == [4, 2.5, 0]
    assert [dict(machine.labels) for machine in machines] == [{"pool": "7"}, {}, {"pool": "null"}]


def test_a_csv_file_says_what_yaml_says(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        csv__yaml=f"""
now: {NOW}
fleet: {{machines: {{table: m.csv}}}}
runs: {{table: r.csv}}
""",
        m__csv="""\
name,state,labels.topology/rack,labels.pool,cpu_cores,used.cpu_cores,devices.count,\
devices.model,devices.memory_mib,capabilities,only,rdma,cpu_pressure,reported_at
gpu-{01..02},up,r1,h100,192,4.5,8,NVIDIA H100 80GB HBM3,81559,sandbox;mig,,,TRUE,\
2026-09-21T06:17:20Z
cpu-1,cordoned,,,64,,,,,,"[""a;b""]",\
"[{""kind"": ""roce"", ""rate_gbps"": 200}]",false,
""",
        r__csv="""\
name,gpus.count,gpus.models,drives,array.size,array.finished,submitted_at
train,8,H100; H200,,,,2026-09-21T06:00:00Z
sweep,,,scratch;data,40,0;2,
chat,1,,"[{""name"": ""data"", ""need_bytes"": 5}]",,,
""",
        yaml__yaml=f"""
now: {NOW}
fleet:
  machines:
    - name: gpu-{{01..02}}
      state: up
      labels: {{topology/rack: r1, pool: h100}}
      cpu_cores: 192
      used: {{cpu_cores: 4.5}}
      devices: {{count: 8, model: NVIDIA H100 80GB HBM3, memory_mib: 81559}}
      capabilities: [sandbox, mig]
      cpu_pressure: true
      reported_at: 2026-09-21T06:17:20Z
    - name: cpu-1
      state: cordoned
      cpu_cores: 64
      only: ["a;b"]
      rdma: [{{kind: roce, rate_gbps: 200}}]
runs:
  - name: train
    gpus: {{count: 8, models: [H100, H200]}}
    submitted_at: 2026-09-21T06:00:00Z
  - name: sweep
    drives: [scratch, data]
    array: {{size: 40, finished: [0, 2]}}
  - name: chat
    gpus: {{count: 1}}
    drives: [{{name: data, need_bytes: 5}}]
""",
    )
    assert load(path) == load(tmp_path / "yaml.yaml")


def test_a_parquet_file_says_what_yaml_says(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "name": ["a", "b", "c"],
            "cpu_cores": [8.0, 2.5, None],
            "memory_bytes": [2**50, None, 2],
            "devices.count": [2, None, None],
            "devices.model": ["L4", None, None],
            "devices.memory_mib": [23034, None, None],
            "capabilities": [["x"], None, []],
            "reserved_for": [{"team": "vision"}, None, None],
            "reported_at": pd.to_datetime(pd.Series([NOW, None, NOW])),
            "cpu_pressure": [True, None, False],
            "rate_usd_per_hour": [0.0, 0.0, 0.0],
        }
    )
    frame.to_parquet(tmp_path / "m.parquet")
    frame.set_index("name").to_parquet(tmp_path / "indexed.parquet")
    document = {
        "now": NOW,
        "fleet": {
            "machines": [
                {
                    "name": "a",
                    "cpu_cores": 8,
                    "memory_bytes": 2**50,
                    "devices": {"count": 2, "model": "L4", "memory_mib": 23034},
                    "capabilities": ["x"],
                    "reserved_for": {"team": "vision"},
                    "reported_at": NOW,
                    "cpu_pressure": True,
                },
                {"name": "b", "cpu_cores": 2.5},
                {"name": "c", "memory_bytes": 2, "reported_at": NOW},
            ]
        },
    }
    for name in ("m", "indexed"):
        text = f"now: {NOW}\nfleet: {{machines: {{table: {name}.parquet}}}}"
        assert load(written(tmp_path, s__yaml=text)) == Snapshot.read(document)


def test_a_parquet_file_is_pointed_at_by_row(tmp_path: Path) -> None:
    pd.DataFrame({"name": ["a", "b"], "state": ["up", "upp"]}).to_parquet(tmp_path / "m.parquet")
    path = written(tmp_path, s__yaml=f"now: {NOW}\nfleet: {{machines: {{table: m.parquet}}}}")
    assert problem(path).startswith(
        f"{tmp_path}/m.parquet: fleet.machines[b].state (row 2): 'upp' is not a value it takes"
    )
    pd.DataFrame({"name": [1]}).to_parquet(tmp_path / "m.parquet")
    assert problem(path).endswith("must be text, not 1; make it a column of text")
    (tmp_path / "m.parquet").write_text("nothing of the kind")
    assert "s.yaml:2: fleet.machines.table" in problem(path)
    assert "is not Parquet" in problem(path)


def test_a_table_is_sought_beside_the_file_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "elsewhere").mkdir()
    written(tmp_path / "tables", m__csv='name,models\na,"{""table"": ""../models.csv""}"\n')
    written(tmp_path, models__csv="id,quantisation,digest\nqwen-7b,q4,verified\n")
    path = written(tmp_path, s__yaml=f"now: {NOW}\nfleet: {{machines: {{table: tables/m.csv}}}}")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for source in (path, Path("../s.yaml")):
        (machine,) = load(source).fleet.machines
        assert [model.id for model in machine.models] == ["qwen-7b"]
    absolute = f"now: {NOW}\nfleet: {{machines: {{table: {tmp_path}/tables/m.csv}}}}"
    assert load(written(tmp_path, t__yaml=absolute)) == load(path)


def test_a_csv_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    snapshot = written(
        tmp_path, s__yaml=f"now: {NOW}\nruns: {{table: r.csv}}", r__csv=b"name\n\x00\x01"
    )
    said = f"runs.table: {tmp_path}/r.csv: is binary; a .csv file is text in UTF-8"
    assert problem(snapshot) == f"{snapshot}:2: {said}"


def test_a_long_cell_is_not_repeated(tmp_path: Path) -> None:
    table = f'name,gpus.ids\nr,"[{"GPU-a, " * 99}]"\n'
    snapshot = written(tmp_path, s__yaml=f"now: {NOW}\nruns: {{table: r.csv}}", r__csv=table)
    assert problem(snapshot).endswith('; write a;b or ["a", "b"]')


def test_a_list_of_names_may_stand_in_a_table_of_one_column(tmp_path: Path) -> None:
    run = "{name: r, node_selection: {names: {table: n.csv}}}"
    path = written(tmp_path, s__yaml=f"now: {NOW}\nruns: [{run}]", n__csv="name\n01\nm-{1..2}\n")
    assert load(path).runs[0].node_selection.names == ("01", "m-1", "m-2")
    written(tmp_path, n__csv="name,site\n01,a\n")
    assert problem(path).endswith("n.csv:1: has 2 columns; a list of plain values has one")


def test_a_label_called_table_is_no_table(tmp_path: Path) -> None:
    path = written(tmp_path, s__yaml=f"now: {NOW}\nruns: [{{name: r, labels: {{table: x.csv}}}}]")
    assert load(path).runs[0].labels == {"table": "x.csv"}


def test_a_row_is_found_below_lines_without_a_row(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        s__yaml=f"now: {NOW}\nruns: {{table: r.csv}}",
        r__csv='name,state,labels.a\r\n\r\nx,pending,"1\r\n2"\r\n,,\r\n   \r\ny,sleeping,\r\n',
    )
    assert problem(path).startswith(f"{tmp_path}/r.csv:7: runs[y].state: 'sleeping'")
