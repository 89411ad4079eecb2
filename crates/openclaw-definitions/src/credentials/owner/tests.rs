use std::path::Path;

use openclaw_config::{ConfigValue, Environment, Launch, load};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn location(config: &Path, profile: Option<&str>) -> Location {
    Location {
        config: config.to_owned(),
        state: config.parent().unwrap().to_owned(),
        profile: profile.map(str::to_owned),
        named: true,
    }
}

fn owner(config: &str) -> Owner {
    Owner::of(&location(Path::new(config), None))
}

fn token() -> Field {
    Field::Variable("GITHUB_TOKEN".to_owned())
}

#[test]
fn a_profile_has_a_service_of_its_own() {
    let service = |profile| Owner::of(&location(Path::new("/c/openclaw.json"), profile)).service;
    assert_eq!(service(None), "openclaw");
    assert_eq!(service(Some("work")), "openclaw-work");
}

#[test]
fn entries_of_a_configuration_are_told_from_all_others() {
    let ours = owner("/nowhere/openclaw.json");
    let account = ours.account("github", &token(), [1, 2, 3, 0xff]);
    assert!(account.starts_with("github.env.GITHUB_TOKEN-"), "{account}");
    assert!(account.ends_with("010203ff"), "{account}");
    let uri = format!("secret://keyring/openclaw/{account}");
    let definition = json!({
        "env": { "GITHUB_TOKEN": uri, "LEVEL": "7" },
        "headers": { "Authorization": { "prefix": "Bearer ", "secret": uri } },
        "auth": { "clientSecret": uri },
        "args": [uri],
    });
    let fields = |owner: &Owner, definition: &Json| {
        let entries = owner.entries_in(definition).into_iter();
        entries.map(|it| it.field).collect::<Vec<_>>()
    };
    assert_eq!(
        fields(&ours, &definition),
        [
            "env.GITHUB_TOKEN",
            "headers.Authorization",
            "auth.clientSecret"
        ]
    );
    // A copy of the file has made nothing of it, nor has another profile.
    let copy = owner("/nowhere/else/openclaw.json");
    assert!(fields(&copy, &definition).is_empty());
    let work = Owner::of(&location(Path::new("/nowhere/openclaw.json"), Some("work")));
    assert!(fields(&work, &definition).is_empty());
    let mark = &ours.mark;
    for other in [
        "secret://keyring/openclaw/github-token".to_owned(),
        "secret://keyring/openclaw/github.env.GITHUB_TOKEN".to_owned(),
        format!("secret://keyring/openclaw/x-{mark}0102030"),
        format!("secret://keyring/openclaw/x-{mark}0102030x"),
        format!("secret://keyring/mine/x-{mark}01020304"),
        "secret://env/GITHUB_TOKEN".to_owned(),
    ] {
        let definition = json!({ "env": { "A": other } });
        assert!(fields(&ours, &definition).is_empty(), "{other}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_has_the_same_owner_before_and_after_it_is_made_and_behind_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let owner = |path: &Path| Owner::of(&location(path, None));
    let file = link.join("a/openclaw.json");
    let before = owner(&file);
    fs::create_dir(real.join("a")).unwrap();
    fs::write(&file, "{}").unwrap();
    assert_eq!(owner(&file), before);
    assert_eq!(owner(&real.join("a/openclaw.json")), before);
    assert_ne!(owner(&real.join("b/openclaw.json")), before);
}

#[test]
fn what_would_be_stored_is_named_as_far_as_it_is_known() {
    assert_eq!(
        owner("/nowhere/openclaw.json").foreseen("github", &token()),
        "secret://keyring/openclaw/github.env.GITHUB_TOKEN-…"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_account_can_be_referred_to_from_a_file_whatever_the_names_are(
        server in prop_oneof![
            "[^/\\p{Cc}]{1,64}",
            // What a file would put variables into.
            "[a-z]{0,3}\\$?\\$\\{[A-C]\\}[a-z]{0,3}",
        ],
        name in any::<String>(),
        random in any::<[u8; 4]>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let location = location(&directory.path().join("openclaw.json"), Some("work"));
        let owner = Owner::of(&location);
        for field in [Field::Variable(name.clone()), Field::Header(name.clone()), Field::ApiKey] {
            let account = owner.account(&server, &field, random);
            prop_assert!(account.chars().count() <= LONGEST + 1 + ENDING);
            let reference = owner.reference(&account);
            prop_assert!(reference.is_some(), "{:?}", account);
            let uri = reference.as_ref().unwrap().to_string();
            let definition = json!({ "command": "x", "env": { "A_TOKEN": uri } });
            let entries = owner.entries_in(&definition);
            prop_assert_eq!(entries.len(), 1);
            prop_assert_eq!(&entries[0].account, &account);
            prop_assert_eq!(entries[0].ending().len(), ENDING);
            let text = json!({ "mcp": { "servers": { "s": definition } } });
            fs::write(&location.config, text.to_string()).unwrap();
            let loaded = load(&location, &Environment::new([("A", "1")], None, directory.path()));
            prop_assert!(loaded.report.is_in_files(entries[0].ending()));
            let config = loaded.config.unwrap();
            let found = config.servers().next().unwrap().definition.sound().unwrap();
            let Launch::Stdio(launch) = &found.launch else { panic!("a program") };
            let ConfigValue::Reference { secret, .. } = &launch.environment["A_TOKEN"] else {
                panic!("{:?}", launch.environment);
            };
            prop_assert_eq!(Some(secret), reference.as_ref());
        }
    }
}
