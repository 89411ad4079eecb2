//! Skills: named to the model, and read by it.

use serde_json::json;

use crate::house::{House, entry, fake};
use crate::scripted::{Scripted, Step, answer_text};

fn skill(workspace: &std::path::Path, name: &str, frontmatter: &str, text: &str) {
    let directory = workspace.join("skills").join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let text = format!("---\nname: {name}\n{frontmatter}\n---\n\n{text}\n");
    std::fs::write(directory.join("SKILL.md"), text).unwrap();
}

#[tokio::test]
async fn a_model_is_told_of_skills_and_reads_them_with_their_files() {
    let fake = fake("--only-tools echo");
    let workspace = tempfile::tempdir().unwrap();
    skill(
        workspace.path(),
        "weather",
        "description: Tells the weather",
        "Look at {baseDir}/towns.txt.",
    );
    skill(
        workspace.path(),
        "hidden",
        "description: Not for models\ndisable-model-invocation: true",
        "x",
    );
    skill(
        workspace.path(),
        "absent",
        "description: Needs a program\nmetadata: { \"openclaw\": { \"requires\": { \"bins\": [\"no-such-program\"] } } }",
        "x",
    );
    let base = workspace.path().join("skills/weather");
    std::fs::write(base.join("towns.txt"), "Basel\n").unwrap();
    let config = json!({
        "mcp": { "servers": { "fake": entry(&fake) } },
        "agents": { "defaults": { "workspace": workspace.path() } },
    });
    let house = House::new(&config, &[&fake]);
    let calls = [
        json!({ "name": "weather" }),
        json!({ "name": "weather", "file": "towns.txt" }),
        json!({ "name": "weather", "file": "../hidden/SKILL.md" }),
        json!({ "name": "hidden" }),
        json!({ "name": "mcp" }),
        json!({}),
    ];
    let calls = calls.map(|arguments| ("read_skill", arguments));
    let model = Scripted::new([Step::Call("", calls.to_vec()), Step::Say("done")]);
    let report = house.reply(&model, "x").await.unwrap();
    let seen = model.seen();
    let prompt = &seen[0].stable;
    assert!(
        prompt.contains("<skill name=\"weather\">Tells the weather</skill>"),
        "{prompt}"
    );
    assert!(
        !prompt.contains("hidden") && !prompt.contains("absent"),
        "{prompt}"
    );
    let answers: Vec<String> = seen[1].answers().iter().map(|it| answer_text(it)).collect();
    let real = base.canonicalize().unwrap();
    assert_eq!(answers[0], format!("Look at {}/towns.txt.", real.display()));
    assert_eq!(answers[1].trim(), "Basel");
    assert!(answers[2].contains("can't be read"), "{}", answers[2]);
    assert!(answers[3].contains("There is no skill"), "{}", answers[3]);
    assert!(answers[4].contains("mcp_<server>_<tool>"), "{}", answers[4]);
    assert!(answers[5].contains("needs a name"), "{}", answers[5]);
    let failed: Vec<bool> = report.tool_calls.iter().map(|it| it.is_error).collect();
    assert_eq!(failed, [false, false, true, true, false, true]);
    house.finish().await;
}

#[tokio::test]
async fn whoever_denies_the_tool_has_no_skills_and_whoever_has_no_servers_not_that_of_ours() {
    let fake = fake("--only-tools echo");
    let config = json!({
        "mcp": { "servers": { "fake": entry(&fake) } },
        "tools": { "deny": ["read_skill"] },
    });
    for (config, has_servers) in [(config, true), (json!({}), false)] {
        let house = House::new(&config, &[&fake]);
        let model = Scripted::new([
            Step::Call("", vec![("read_skill", json!({ "name": "mcp" }))]),
            Step::Say("done"),
        ]);
        let report = house.reply(&model, "x").await.unwrap();
        let seen = &model.seen()[0];
        assert!(
            !seen.tools.contains(&"read_skill".to_owned()),
            "{has_servers}"
        );
        assert!(!seen.stable.contains("available-skills"), "{has_servers}");
        assert!(report.tool_calls[0].is_error);
        house.finish().await;
    }
}
