//! What it costs to look for skills, which is done for every turn: `cargo bench -p openclaw-skills`.
//!
//! Budget: 50 skills in under 5 ms.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

use std::fs;
use std::path::Path;

use divan::{Bencher, black_box};
use openclaw_config::{Environment, Location, load};
use openclaw_skills::{Setup, Skills, prompt_block};

fn main() {
    divan::main();
}

/// Skills of the size that people write, each with a program that is looked for in vain.
#[divan::bench(args = [10, 50, 200])]
fn find(bencher: Bencher<'_, '_>, count: usize) {
    let directory = tempfile::tempdir().expect("a directory");
    for number in 0..count {
        let path = directory
            .path()
            .join(format!("state/skills/skill-{number}"));
        fs::create_dir_all(&path).expect("a directory");
        let text = format!(
            "---\nname: skill-{number}\ndescription: Does number {number} whenever somebody asks for \
             it, and nothing else.\nhomepage: https://example.com/\nmetadata:\n  {{\n    \"openclaw\": {{\n      \
             \"emoji\": \"x\",\n      \"requires\": {{ \"bins\": [\"program-{number}\"], \"env\": [\"HOME\"] }},\n    \
             }},\n  }}\n---\n\n{}",
            "A line of instructions, as they are written for models.\n".repeat(100)
        );
        fs::write(path.join("SKILL.md"), text).expect("a file");
    }
    let location = Location {
        config: directory.path().join("openclaw.json"),
        state: directory.path().join("state"),
        profile: None,
        named: false,
    };
    let variables = [(
        "PATH",
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    )];
    let environment = Environment::new(variables, Some(directory.path()), Path::new("/"));
    let config = load(&location, &environment)
        .config
        .expect("a configuration");
    let setup = Setup {
        config: &config,
        agent: &config.agents[&config.default_agent],
        state: &location.state,
        commands: &["mcp"],
        tool_name: "mcp_<server>_<tool>",
    };
    bencher.bench_local(|| {
        let skills = Skills::find(black_box(&setup));
        assert_eq!(skills.skills.len(), count + 1);
        black_box(prompt_block(&skills.skills))
    });
}
