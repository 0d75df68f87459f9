"""The JSON Schema of a snapshot, for editors and for programs that write one."""

from __future__ import annotations

from typing import Any

from stowplan.model.snapshot import Snapshot

_TABLE = "Table"


def json_schema() -> dict[str, Any]:  # Any: whatever JSON can hold
    """Return the schema of a snapshot file (JSON Schema 2020-12).

    It is that of `Snapshot`, with one thing more: any list may stand in a table beside the file.
    """
    schema = _with_tables(Snapshot.model_json_schema(by_alias=True, mode="validation"))
    schema["$defs"][_TABLE] = {
        "title": _TABLE,
        "description": "A list that stands in a CSV or Parquet file, relative to this one.",
        "type": "object",
        "properties": {
            "table": {
                "title": "Table",
                "description": "The first row names the columns; nested fields have dots.",
                "type": "string",
                "pattern": r"\.([cC][sS][vV]|[pP][aA][rR][qQ][uU][eE][tT]|[pP][qQ])$",
            }
        },
        "required": ["table"],
        "additionalProperties": False,
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _with_tables(schema: Any) -> Any:  # Any: a part of a schema
    """Return a part of a schema in which every list may be a table."""
    if isinstance(schema, list):
        return [_with_tables(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {
        key: part if key in ("default", "enum", "const") else _with_tables(part)
        for key, part in schema.items()
    }
    if parts.get("type") != "array":
        return parts
    listed = {key: parts.pop(key) for key in ("type", "items") if key in parts}
    return {**parts, "anyOf": [listed, {"$ref": f"#/$defs/{_TABLE}"}]}
