//! Where skills are found, which of two counts, and how they are called.

use openclaw_skills::{Dispatch, Origin, prompt_block};

use crate::fixture::{Fixture, names, obstacles};

#[test]
fn all_places_are_looked_at_and_the_first_counts() {
    let fixture = Fixture::new().config("skills: { load: { extraDirs: ['more'] } }");
    let places = [
        ("work/skills", Origin::Workspace),
        ("work/.agents/skills", Origin::Workspace),
        ("home/.agents/skills", Origin::User),
        ("state/skills", Origin::State),
        ("more", Origin::Extra),
    ];
    for (index, (place, _)) in places.iter().enumerate() {
        // Each has the skills of all that follow.
        for name in index..places.len() {
            let fields = format!("name: skill-{name}");
            let text = format!("---\n{fields}\ndescription: of {place}\n---\n");
            fixture.write(&format!("{place}/s{name}/SKILL.md"), text);
        }
    }
    let skills = fixture.find();
    assert_eq!(names(&skills).len(), places.len());
    // `work/skills` has all of them.
    for skill in skills.skills.iter().filter(|skill| skill.name != "mcp") {
        assert_eq!(skill.description, "of work/skills");
    }
    std::fs::remove_dir_all(fixture.path("work/skills")).unwrap();
    let skills = fixture.find();
    assert!(skills.get("skill-0").is_none());
    assert_eq!(
        skills.get("skill-1").unwrap().description,
        "of work/.agents/skills"
    );
    for (index, (place, origin)) in places.iter().enumerate().skip(1) {
        std::fs::remove_dir_all(fixture.path(&format!("{place}/s{}", places.len() - 1))).unwrap();
        fixture.skill(&format!("{place}/own"), &format!("name: own-{index}"));
        let skills = fixture.find();
        let own = skills.get(&format!("own-{index}")).unwrap();
        assert_eq!(own.origin, *origin);
    }
    assert_eq!(fixture.problems(), [] as [&str; 0]);
}

#[test]
fn directories_may_group_skills_by_one_level_and_a_root_may_be_a_skill() {
    let fixture = Fixture::new().config("skills: { load: { extraDirs: ['single'] } }");
    fixture.skill("work/skills/a", "");
    fixture.skill("work/skills/group/b", "");
    fixture.skill("work/skills/group/deeper/c", "");
    fixture.skill("work/skills/.hidden", "");
    fixture.skill("work/skills/node_modules/d", "");
    fixture.write("work/skills/README.md", "not a skill");
    fixture.skill("work/skills/a/inner", "");
    fixture.skill("single", "");
    assert_eq!(names(&fixture.find()), ["a", "b", "single"]);
}

#[test]
fn a_changed_file_is_noticed_the_next_time() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/a", "name: one");
    assert_eq!(names(&fixture.find()), ["one"]);
    // Of the same length, within the same second.
    fixture.skill("work/skills/a", "name: two");
    assert_eq!(names(&fixture.find()), ["two"]);
    std::fs::remove_dir_all(fixture.path("work/skills/a")).unwrap();
    assert_eq!(names(&fixture.find()), [] as [&str; 0]);
}

#[test]
fn two_skills_of_one_name_in_one_place_are_reported() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/a", "name: same");
    fixture.skill("work/skills/b", "name: same");
    let skills = fixture.find();
    let directory = skills.get("same").unwrap().directory().unwrap();
    assert!(directory.ends_with("a"));
    insta::assert_snapshot!(
        fixture.problems().join("\n"),
        @"work/skills/b/SKILL.md: `same` is the name of the skill in work/skills/a"
    );
}

#[test]
fn a_directory_that_is_named_and_not_there_is_reported() {
    let fixture = Fixture::new().config("skills: { load: { extraDirs: ['none'] } }");
    assert_eq!(fixture.problems(), ["none: there is no such directory"]);
}

#[test]
fn commands_are_typed_easily_and_never_replace_those_that_are_there() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/a", "name: Git Hub");
    fixture.skill("work/skills/b", "name: git-hub");
    fixture.skill("work/skills/c", "name: hidden\nuser-invocable: false");
    fixture.skill("work/skills/d", "name: MCP");
    fixture.skill("work/skills/e", "name: new");
    let skills = fixture.find();
    let command = |name: &str| {
        let skill = skills.get(name).unwrap();
        skill.command.as_ref().map(ToString::to_string)
    };
    assert_eq!(command("Git Hub").unwrap(), "git_hub");
    assert_eq!(command("git-hub").unwrap(), "git_hub_2");
    for name in ["hidden", "MCP", "new", "mcp"] {
        assert_eq!(command(name), None, "{name}");
    }
    assert_eq!(skills.of_command("GIT_HUB_2").unwrap().name, "git-hub");
    assert!(skills.of_command("new").is_none());
    insta::assert_snapshot!(fixture.problems().join("\n"), @"
    work/skills/d/SKILL.md: `/mcp` is another command: this skill is called with `/skill MCP`
    work/skills/e/SKILL.md: `/new` is another command: this skill is called with `/skill new`
    ");
}

#[test]
fn a_skill_of_the_workspace_replaces_that_of_the_program() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/x", "name: mcp");
    let skills = fixture.find();
    let mcp = skills.get("mcp").unwrap();
    assert_eq!((mcp.origin, &mcp.dispatch), (Origin::Workspace, &None));
    assert_eq!(mcp.command, None);
}

#[test]
fn what_a_skill_says_about_itself_is_read() {
    let fixture = Fixture::new();
    let fields = "homepage: https://x.example/\ndisable-model-invocation: true\n\
                  command-dispatch: tool\ncommand-tool: run_it\ncommand-arg-mode: raw\n\
                  something-else: [1, 2]\nmetadata: { clawdbot: { emoji: E } }";
    fixture.skill("work/skills/a", fields);
    let skills = fixture.find();
    let skill = skills.get("A").unwrap();
    let tool = "run_it".to_owned();
    assert_eq!(skill.dispatch, Some(Dispatch { tool }));
    assert_eq!(skill.homepage.as_deref(), Some("https://x.example/"));
    assert_eq!(skill.emoji.as_deref(), Some("E"));
    assert!(skill.user_invocable && !skill.model_invocable && skill.applies());
    assert_eq!(prompt_block(&skills.skills), "");
}

#[test]
fn what_people_are_shown_of_a_skill_stays_on_a_line_and_controls_no_terminal() {
    let fixture = Fixture::new();
    let evil = "\"a\\e[31m\\nb\\u202e\\r\\ac\"";
    let fields = format!(
        "homepage: {evil}\nmetadata: {{ openclaw: {{ emoji: {evil}, requires: {{ bins: [{evil}], \
         env: [{evil}] }} }} }}"
    );
    let text = format!("---\nname: s\ndescription: {evil}\n{fields}\n---\n");
    fixture.write("work/skills/s/SKILL.md", text);
    let skills = fixture.find();
    let skill = skills.get("s").unwrap();
    assert_eq!(skill.description, "a b c");
    let mut shown = obstacles(skill);
    assert_eq!(shown.len(), 2);
    shown.extend([
        skill.emoji.clone().unwrap(),
        skill.homepage.clone().unwrap(),
    ]);
    for text in shown {
        assert!(!text.contains(|it: char| it.is_control() || it == '\u{202e}'));
    }
}

#[test]
fn there_are_only_so_many_skills_and_directories() {
    let fixture = Fixture::new();
    for number in 0..230 {
        fixture.skill(&format!("work/skills/s{number:03}"), "");
    }
    let skills = fixture.find();
    assert_eq!(names(&skills).len(), 200);
    assert!(skills.get("s199").is_some() && skills.get("mcp").is_some());
    let problems = fixture.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("more than 200 skills"), "{problems:?}");

    let fixture = Fixture::new();
    for number in 0..1_200 {
        std::fs::create_dir_all(fixture.path(&format!("state/skills/d{number}"))).unwrap();
    }
    assert_eq!(
        fixture.problems(),
        ["state/skills: only the first 1000 entries are looked at"]
    );
}
