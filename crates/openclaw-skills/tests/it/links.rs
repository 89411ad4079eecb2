//! Links, pipes and what else can stand where a file is expected.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use crate::fixture::{Fixture, names};

fn pipe(fixture: &Fixture, name: &str) {
    let path = fixture.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, rustix::fs::Mode::RWXU, 0).unwrap();
}

#[test]
fn a_link_is_followed_as_long_as_it_stays_inside() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/a", "");
    fixture.skill("elsewhere/b", "");
    fixture.write("elsewhere/SKILL.md", "---\ndescription: x\n---\n");
    std::fs::create_dir(fixture.path("work/skills/group")).unwrap();
    std::fs::create_dir(fixture.path("work/skills/file")).unwrap();
    std::fs::create_dir(fixture.path("work/skills/shared")).unwrap();
    symlink("../a", fixture.path("work/skills/group/again")).unwrap();
    symlink("../../elsewhere/b", fixture.path("work/skills/out")).unwrap();
    symlink(
        "../../../elsewhere/SKILL.md",
        fixture.path("work/skills/file/SKILL.md"),
    )
    .unwrap();
    symlink("../a/SKILL.md", fixture.path("work/skills/shared/SKILL.md")).unwrap();
    assert_eq!(names(&fixture.find()), ["a", "shared"]);
    insta::assert_snapshot!(fixture.problems().join("\n"), @"
    work/skills/out: a link that leads out of the directory of skills is not followed
    work/skills/file/SKILL.md: a link that leads out of the directory of skills is not followed
    ");
}

#[test]
fn a_circle_of_links_ends() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/a", "");
    std::fs::create_dir(fixture.path("work/skills/group")).unwrap();
    symlink("..", fixture.path("work/skills/group/up")).unwrap();
    symlink(".", fixture.path("work/skills/self")).unwrap();
    symlink("two", fixture.path("work/skills/one")).unwrap();
    symlink("one", fixture.path("work/skills/two")).unwrap();
    let skills = fixture.find();
    assert_eq!(names(&skills), ["a"]);
    assert_eq!(skills.problems.len(), 2, "{:?}", skills.problems);
}

#[test]
fn the_directories_of_a_workspace_do_not_lead_out_of_it_and_those_of_the_user_may() {
    let fixture = Fixture::new();
    fixture.skill("elsewhere/b", "");
    symlink("../elsewhere", fixture.path("work/skills")).unwrap();
    assert_eq!(names(&fixture.find()), [] as [&str; 0]);
    assert_eq!(
        fixture.problems(),
        ["work/skills: a link that leads out of the workspace is not followed"]
    );
    std::fs::remove_file(fixture.path("work/skills")).unwrap();
    symlink("../elsewhere", fixture.path("state/skills")).unwrap();
    assert_eq!(names(&fixture.find()), ["b"]);
}

#[test]
fn a_pipe_or_a_directory_in_place_of_a_file_is_not_opened() {
    let fixture = Fixture::new();
    fixture.skill("work/skills/good", "");
    pipe(&fixture, "work/skills/pipe/SKILL.md");
    pipe(&fixture, "work/skills/only_a_pipe");
    std::fs::create_dir_all(fixture.path("work/skills/tree/SKILL.md")).unwrap();
    symlink("nowhere", fixture.path("work/skills/gone")).unwrap();
    fixture.write("state/skills", "a file");
    assert_eq!(names(&fixture.find()), ["good"]);
    insta::assert_snapshot!(fixture.problems().join("\n"), @"
    work/skills/gone: cannot be read: No such file or directory (os error 2)
    state/skills: cannot be read: Not a directory (os error 20)
    work/skills/pipe/SKILL.md: it is a pipe or a device, not a file
    work/skills/tree/SKILL.md: it is a directory, not a file
    ");
}
