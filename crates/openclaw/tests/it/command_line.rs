//! Options, help, exit codes, broken pipes.

use std::process::Stdio;

use crate::program::Home;

#[test]
fn the_version_is_one_line() {
    let run = Home::new().run(&["--version"]);
    assert_eq!(run.code, Some(0));
    assert_eq!(
        run.stdout,
        format!("openclaw {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(run.stderr, "");
    assert_eq!(Home::new().run(&["-V"]).stdout, run.stdout);
}

#[test]
fn help_is_a_result_and_no_command_is_a_mistake() {
    let home = Home::new();
    let help = home.run(&["--help"]);
    insta::assert_snapshot!(help);
    let nothing = home.run(&[]);
    assert_eq!(nothing.code, Some(2));
    assert_eq!(nothing.stdout, "");
    assert!(nothing.stderr.contains("Usage:"), "{nothing}");
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let home = Home::new();
    for arguments in [
        &["confg"][..],
        &["config", "validte"],
        &["config", "validate", "--jsn"],
        &["--log-level", "loud", "config", "path"],
        &["completions", "tcsh"],
    ] {
        let run = home.run(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stdout, "", "{run}");
        assert!(run.stderr.starts_with("error: "), "{run}");
    }
    insta::assert_snapshot!(home.run(&["config", "validte"]));
}

#[test]
fn mistakes_are_json_where_json_is_wanted() {
    let run = Home::new().run(&["config", "validte", "--json"]);
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stderr, "");
    let error = &run.json()["error"];
    assert_eq!(error["code"], "usage");
    assert!(error["message"].as_str().unwrap().contains("validte"));
    assert!(
        error["hint"]
            .as_str()
            .unwrap()
            .contains("Usage: openclaw config")
    );
}

#[test]
fn a_profile_with_a_bad_name_is_refused() {
    let run = Home::new().run(&["--profile", "../x", "config", "path"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("profile"), "{run}");
}

#[test]
fn completions_and_manual_pages_are_made() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = home.run(&["completions", shell]);
        assert_eq!(run.code, Some(0));
        assert!(run.stdout.contains("validate"), "{shell}");
    }
    let run = home.run(&["man"]);
    assert!(run.stdout.contains(".TH openclaw 1"), "{run}");
    assert_eq!(home.run(&["man", "--output", "pages"]).code, Some(0));
    let mut pages: Vec<String> = std::fs::read_dir(home.path().join("pages"))
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert!(pages.contains(&"openclaw.1".to_owned()), "{pages:?}");
    assert!(
        pages.contains(&"openclaw-config-validate.1".to_owned()),
        "{pages:?}"
    );
    let blocked = home.run(&["man", "--output", "/dev/null/pages"]);
    assert_eq!(blocked.code, Some(1));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::new();
    let mut child = home
        .command(&["config", "schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The schema is larger than a pipe holds, so the writer is still at it.
    drop(child.stdout.take());
    let run = home.finish(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stderr, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_that_says_so() {
    let home = Home::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = home
        .command(&["config", "schema"])
        .stdout(full)
        .output()
        .unwrap();
    let run = home.finish(output);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("cannot write the output"), "{run}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_cannot_be_told_on_stdout_leaves_its_words_on_stderr() {
    let home = Home::new();
    for (arguments, code, words) in [
        (
            &["config", "validate", "--json"][..],
            1,
            "cannot write the output",
        ),
        (&["config", "validte", "--json"], 2, "validte"),
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = home.command(arguments).stdout(full).output().unwrap();
        let run = home.finish(output);
        assert_eq!(run.code, Some(code), "{run}");
        assert!(run.stderr.starts_with("error: "), "{run}");
        assert!(run.stderr.contains(words), "{run}");
    }
}

#[test]
fn a_command_that_only_looks_leaves_no_trace() {
    let home = Home::new();
    for arguments in [
        &["config", "validate"][..],
        &["config", "show"],
        &["config", "path"],
        &["config", "schema"],
        &["--version"],
        &["completions", "bash"],
    ] {
        assert_eq!(home.run(arguments).code, Some(0));
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}
