//! What a model is told it is and has.

use serde_json::json;

use crate::house::{House, entry, fake};
use crate::scripted::{Scripted, Step};

#[tokio::test]
async fn the_prompt_has_the_notice_once_the_workspace_and_the_servers_and_stays_the_same() {
    let fake = fake("--only-tools echo,add");
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("AGENTS.md"), "Speak like a sailor.\n").unwrap();
    let config = json!({
        "mcp": { "servers": {
            "fake": entry(&fake),
            "broken": { "command": "/nowhere/at/all" },
            "off": { "command": "x", "enabled": false },
        } },
        "agents": { "defaults": { "workspace": workspace.path() } },
    });
    let house = House::new(&config, &[&fake]);
    let model = Scripted::new([
        Step::Call("", vec![("mcp_fake_echo", json!({"message": "x"}))]),
        Step::Say("aye"),
        Step::Say("aye"),
    ]);
    house.reply(&model, "x").await.unwrap();
    house.reply(&model, "y").await.unwrap();
    let seen = model.seen();
    let prompt = &seen[0].stable;
    assert_eq!(prompt.matches("SECURITY NOTICE").count(), 1);
    assert!(prompt.contains("Speak like a sailor."), "{prompt}");
    assert!(prompt.contains("<skill name=\"mcp\">"), "{prompt}");
    assert_eq!(
        seen[0].current,
        "<available-mcp-servers>\n  \
         <server name=\"broken\" tools=\"0\" status=\"failed\"/>\n  \
         <server name=\"fake\" tools=\"2\" status=\"connected\"/>\n\
         </available-mcp-servers>\n\
         <available-mcp-resources>\n  \
         <resource server=\"fake\" name=\"blob\" uri=\"test://blob\"/>\n  \
         <resource server=\"fake\" name=\"changing\" uri=\"test://changing\"/>\n  \
         <resource server=\"fake\" name=\"text\" title=\"A text\" uri=\"test://text\"/>\n  \
         <template server=\"fake\" name=\"numbered\" uri=\"test://numbered/{number}\"/>\n\
         </available-mcp-resources>"
    );
    assert_eq!(
        seen[0].tools,
        [
            "mcp_fake_add",
            "mcp_fake_echo",
            "mcp_list_resources",
            "mcp_read_resource",
            "mcp_read_result",
            "read_skill"
        ]
    );
    for later in &seen[1..] {
        assert_eq!(
            (&later.stable, &later.current, &later.tools),
            (prompt, &seen[0].current, &seen[0].tools)
        );
    }
    house.finish().await;
}
