//! `openclaw sessions`

use crate::program::Home;

#[test]
fn the_help_is_short() {
    insta::assert_snapshot!(Home::new().run(&["sessions", "-h"]));
}

#[test]
fn another_store_is_refused_with_the_one_that_there_is() {
    let run = Home::new().run(&["sessions", "--store", "redis"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("possible values: file"), "{run}");
    let run = Home::new().run(&["sessions", "list", "--store", "redis", "--json"]);
    assert_eq!(run.json()["error"]["code"], "usage");
}
