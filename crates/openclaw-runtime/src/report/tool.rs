//! Tools as plain data.

use openclaw_engine::ToolReport;
use openclaw_mcp::AgentTool;
use serde_json::Value;

/// A tool as the model sees it.
pub(crate) fn tool_report(tool: &AgentTool) -> ToolReport {
    let prepared = &tool.prepared;
    let annotations = &prepared.definition.annotations;
    let flags = [
        ("readOnlyHint", annotations.read_only),
        ("destructiveHint", annotations.destructive),
        ("idempotentHint", annotations.idempotent),
        ("openWorldHint", annotations.open_world),
    ];
    let flags = flags
        .into_iter()
        .filter_map(|(name, flag)| Some((name.to_owned(), Value::Bool(flag?))));
    let title = prepared.definition.title.as_ref();
    ToolReport {
        name: tool.name().as_str().to_owned(),
        server: tool.server.name().to_owned(),
        tool: prepared.definition.name.clone(),
        title: title.or(annotations.title.as_ref()).cloned(),
        description: prepared.description.as_str().to_owned(),
        input_schema: prepared.schema.clone(),
        annotations: flags.collect(),
        changed: prepared.is_changed(),
    }
}
