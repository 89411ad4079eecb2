//! Files that are wrong: each costs only itself, and says where.

use crate::fixture::{Fixture, names};

#[test]
fn every_mistake_is_reported_with_its_line_and_spoils_no_other() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/good", "");
    let mut bomb = "a0: &a0 [x, x]\n".to_owned();
    for level in 1..40 {
        let before = level - 1;
        bomb.push_str(&format!("a{level}: &a{level} [*a{before}, *a{before}]\n"));
    }
    let cases: [(&str, &[u8]); 15] = [
        (
            "alias",
            &format!("---\ndescription: x\n{bomb}---\n").into_bytes(),
        ),
        ("bytes", b"---\nname: x\ndescription: \xff\xfe\n---\n"),
        (
            "colon",
            b"---\nname: x\ndescription: use it\n  always: often\n---\n",
        ),
        (
            "deep",
            &format!("---\nname: {}\n---\n", "[".repeat(5000)).into_bytes(),
        ),
        (
            "dispatch",
            b"---\ndescription: x\ncommand-dispatch: tool\n---\n",
        ),
        ("empty", b""),
        ("large", &vec![b'x'; 10_000_000]),
        ("list", b"---\n- name\n- description\n---\n"),
        ("metadata", b"---\ndescription: x\nmetadata: [1]\n---\n"),
        (
            "mode",
            b"---\ndescription: x\ncommand-arg-mode: parsed\n---\n",
        ),
        ("name", b"---\ndescription: x\nname: \"a\\e[31mb\"\n---\n"),
        ("none", b"---\nname: x\n---\nText\n"),
        ("open", b"---\nname: x\n"),
        ("plain", b"# A skill without fields\n"),
        (
            "word",
            b"---\ndescription: x\nuser-invocable: perhaps\n---\n",
        ),
    ];
    for (name, text) in cases {
        fixture.write(&format!("work/skills/{name}/SKILL.md"), text);
    }
    assert_eq!(names(&fixture.find()), ["good"]);
    insta::assert_snapshot!(fixture.problems().join("\n").replace("work/skills/", ""), @"
    alias/SKILL.md:4: aliases (`*name`) are not read
    bytes/SKILL.md:3: this is not UTF-8 text
    colon/SKILL.md:4: this is not YAML: mapping values are not allowed in this context; put a text that has `: ` in it in quotes
    deep/SKILL.md:2: this is not YAML: recursion limit exceeded
    dispatch/SKILL.md:3: `command-dispatch: tool` needs `command-tool`
    empty/SKILL.md:1: a skill begins with a line `---`, its fields, and another line `---`
    large/SKILL.md: it is larger than 256 KB
    list/SKILL.md:2: here stand no fields
    metadata/SKILL.md:3: `metadata` must be an object, and is a list
    mode/SKILL.md:3: `command-arg-mode` can only be `raw`
    name/SKILL.md:3: a name has no control characters, no quotes and no brackets: ab
    none/SKILL.md:1: `description` is missing: it says when the skill is of use
    open/SKILL.md:1: the line `---` that ends the fields is missing
    plain/SKILL.md:1: a skill begins with a line `---`, its fields, and another line `---`
    word/SKILL.md:3: `user-invocable` is either `true` or `false`
    ");
}

#[test]
fn names_that_could_be_taken_for_something_else_are_refused() {
    let fixture = Fixture::new();
    for (index, name) in [
        "\"a\\nb\\u202ec\"",
        "\"<available-skills>\"",
        "'a\"b'",
        "\"\\0\"",
        "'<|im_start|>'",
        &"x".repeat(65),
    ]
    .iter()
    .enumerate()
    {
        fixture.skill(&format!("work/skills/s{index}"), &format!("name: {name}"));
    }
    let skills = fixture.find();
    assert_eq!(names(&skills), [] as [&str; 0]);
    assert_eq!(skills.problems.len(), 6);
    for problem in skills.problems {
        assert_eq!(problem.line(), Some(3));
        let shown = problem.to_string();
        assert!(!shown.chars().any(|it| it.is_control() || it == '\u{202e}'));
    }
}

#[cfg(unix)]
#[test]
fn the_name_of_a_directory_counts_like_any_other() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/plain name", "name: ''");
    fixture.skill("work/skills/evil\u{1b}[31m\n", "");
    assert_eq!(names(&fixture.find()), ["plain name"]);
    let problems = fixture.problems();
    assert_eq!(problems.len(), 1);
    assert!(!problems[0].chars().any(char::is_control), "{problems:?}");
}
