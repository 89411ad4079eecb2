use openclaw_secrets::{
    ConfiguredSource, FilePath, SecretReference, SecretReferenceError, contains_secret_uri,
    is_secret_uri,
};
use proptest::prelude::*;

fn parse(text: &str) -> Result<SecretReference, SecretReferenceError> {
    text.parse()
}

#[test]
fn documented_spellings_are_read() {
    assert!(matches!(
        parse("secret://gcp/github-token").unwrap(),
        SecretReference::Gcp { project: None, name, version: None, .. } if name == "github-token"
    ));
    for text in [
        "secret://gcp/projects/p-1/secrets/key#7",
        "secret://gcp/projects/p-1/secrets/key/versions/7",
    ] {
        assert!(
            matches!(
                parse(text).unwrap(),
                SecretReference::Gcp { project: Some(project), name, version: Some(version), .. }
                    if project == "p-1" && name == "key" && version == "7"
            ),
            "{text}"
        );
    }
    for text in [
        "secret://aws/prod/db/main#AWSCURRENT?key=pass%20word",
        "secret://aws/prod/db/main?key=pass%20word#AWSCURRENT",
    ] {
        assert!(
            matches!(
                parse(text).unwrap(),
                SecretReference::Aws { name, version: Some(version), key: Some(key), .. }
                    if name == "prod/db/main" && version == "AWSCURRENT" && key == "pass word"
            ),
            "{text}"
        );
    }
    assert!(matches!(
        parse("secret://vault/secret/team/api#token").unwrap(),
        SecretReference::Vault { mount, path, field: Some(field), .. }
            if mount == "secret" && path == "team/api" && field == "token"
    ));
    assert!(matches!(
        parse("secret://env/GITHUB_TOKEN").unwrap(),
        SecretReference::Environment { variable, .. } if variable == "GITHUB_TOKEN"
    ));
    for text in [
        "secret://file/run/key#/a/b~1c",
        "secret://file//run/key#/a/b~1c",
    ] {
        assert!(
            matches!(
                parse(text).unwrap(),
                SecretReference::File { path: FilePath::Absolute { path, .. }, pointer: Some(pointer), .. }
                    if path == "/run/key" && pointer == "/a/b~1c"
            ),
            "{text}"
        );
    }
    assert!(matches!(
        parse("secret://file/~/.keys/github").unwrap(),
        SecretReference::File { path: FilePath::Home { path, .. }, pointer: None, .. }
            if path == ".keys/github"
    ));
    assert!(matches!(
        parse("secret://keyring/openclaw/github/token").unwrap(),
        SecretReference::Keyring { service, account, .. }
            if service == "openclaw" && account == "github/token"
    ));
    assert!(matches!(
        parse("secret://exec/op/vault/item/field").unwrap(),
        SecretReference::Configured { source: ConfiguredSource::Exec, provider, id, .. }
            if provider == "op" && id == "vault/item/field"
    ));
}

#[test]
fn objects_mean_the_same_as_addresses() {
    for (source, provider, id, shown) in [
        ("env", None, "TOKEN", "secret-ref:env/default/TOKEN"),
        ("file", Some("main"), "/a/b", "secret-ref:file/main//a/b"),
        ("exec", Some("op"), "a/b", "secret://exec/op/a/b"),
        ("store", None, "github", "secret://keyring/openclaw/github"),
        (
            "store",
            Some("default"),
            "github",
            "secret://keyring/openclaw/github",
        ),
        (
            "store",
            Some("mine"),
            "github",
            "secret://keyring/mine/github",
        ),
    ] {
        let reference = SecretReference::from_object(source, provider, id).unwrap();
        assert_eq!(reference.to_string(), shown);
        assert_eq!(parse(shown).unwrap(), reference);
    }
}

#[test]
fn mistakes_are_explained_with_the_right_spelling() {
    for (text, message) in [
        (
            "gcp/key",
            "not a secret reference: it must start with `secret://`, such as `secret://env/NAME`",
        ),
        (
            "secret://valt/a/b",
            "unknown secret provider `valt` (did you mean `vault`?); the providers are: aws, env, exec, file, gcp, keyring, vault",
        ),
        (
            "secret://ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "unknown secret provider `…`; the providers are: aws, env, exec, file, gcp, keyring, vault",
        ),
        (
            "secret://gcp",
            "empty `gcp` secret reference; write `secret://gcp/[projects/PROJECT/secrets/]NAME[#VERSION]`",
        ),
        (
            "secret://env/",
            "empty `env` secret reference; write `secret://env/NAME`",
        ),
        (
            "secret://vault/secret",
            "`vault` secret reference without a path; write `secret://vault/MOUNT/PATH[#FIELD]`",
        ),
        (
            "secret://vault/secret/../sys",
            "`vault` secret reference with an empty or dotted path segment; write `secret://vault/MOUNT/PATH[#FIELD]`",
        ),
        (
            "secret://keyring/openclaw",
            "`keyring` secret reference without an account; write `secret://keyring/SERVICE/ACCOUNT`",
        ),
        (
            "secret://aws/a?field=b",
            "`aws` secret reference with a parameter other than `key`; write `secret://aws/NAME[#VERSION-OR-STAGE][?key=FIELD]`",
        ),
        (
            "secret://gcp/a/b",
            "`gcp` secret reference with parts that do not belong together; write `secret://gcp/[projects/PROJECT/secrets/]NAME[#VERSION]`",
        ),
        (
            "secret://file/./key",
            "relative path in a `file` secret reference; write `secret://file/ABSOLUTE/PATH[#/json/pointer]` or `secret://file/~/PATH`",
        ),
        (
            "secret://file/etc/key#a",
            "bad JSON pointer in a `file` secret reference: it starts with `/`, and `~` is written `~0`; write `secret://file/ABSOLUTE/PATH[#/json/pointer]`",
        ),
        (
            "secret://env/A\nB",
            "control character at byte 14 of a secret reference; remove it",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
    assert_eq!(
        SecretReference::from_object("files", None, "x")
            .unwrap_err()
            .to_string(),
        "unknown secret source `files`; the sources are: env, file, exec, store"
    );
    assert_eq!(
        SecretReference::from_object("file", None, "")
            .unwrap_err()
            .to_string(),
        "`file` secret reference without an id; write `{\"source\": \"SOURCE\", \"provider\": \"ALIAS\", \"id\": \"ID\"}`"
    );
}

#[test]
fn bad_references_are_refused() {
    for text in [
        "secret://",
        "secret:///x",
        "secret://GCP/x",
        "secret://gcp/",
        "secret://gcp/x#",
        "secret://gcp/x y",
        "secret://gcp/projects/p/secrets/",
        "secret://gcp/projects//secrets/x",
        "secret://gcp/projects/p/secrets/x/versions/1#2",
        "secret://gcp/projects/p/secrets/x/versions/",
        "secret://aws/#v",
        "secret://aws/x#",
        "secret://aws/x?key=",
        "secret://aws/x?key=%FF",
        "secret://aws/x?key=%00",
        "secret://aws/x#a#b",
        "secret://aws/x?key=a?key=b",
        "secret://vault//x",
        "secret://vault/m//x",
        "secret://vault/m/x#",
        "secret://env/A=B",
        "secret://env/A/B",
        "secret://file",
        "secret://file/~",
        "secret://file/x#",
        "secret://file/x#/a~2",
        "secret://keyring//x",
        "secret://exec/op/",
        "secret-ref:file/x",
        "secret-ref:other/x/y",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    let long = format!("secret://aws/{}", "x".repeat(2048));
    assert_eq!(
        parse(&long),
        Err(SecretReferenceError::TooLong { length: long.len() })
    );
    assert!(SecretReference::from_object("store", Some("a/b"), "c").is_err());
    assert!(SecretReference::from_object("store", Some(""), "c").is_err());
    assert!(SecretReference::from_object("exec", None, "a\u{0}").is_err());
    assert!(SecretReference::from_object("exec", None, &"x".repeat(2040)).is_err());
}

#[test]
fn errors_never_repeat_what_follows_the_provider() {
    let pasted = "0aB1cD2eF3gH4iJ5kL6m";
    for provider in [
        "gcp", "aws", "vault", "env", "file", "keyring", "exec", "x", "",
    ] {
        for text in [
            format!("secret://{provider}/{pasted} \u{1}"),
            format!("secret://{provider}/{pasted}/ ?{pasted}#{pasted}#"),
            format!("secret://{provider}{pasted}"),
            format!("secret://{provider}{pasted}{pasted}"),
            format!("{pasted}://{pasted}"),
        ] {
            if let Err(error) = parse(&text) {
                assert!(!error.to_string().contains(pasted), "{text}: {error}");
                assert!(!format!("{error:?}").contains(pasted), "{text}: {error:?}");
            }
        }
    }
}

/// Texts that are nearly references.
fn candidate() -> impl Strategy<Value = String> {
    let provider = "(gcp|aws|vault|env|file|keyring|exec|other|)";
    prop_oneof![
        any::<String>(),
        (provider, any::<String>()).prop_map(|(name, rest)| format!("secret://{name}/{rest}")),
        (provider, "[a-z#?/~.:=% -]{0,30}")
            .prop_map(|(name, rest)| format!("secret://{name}/{rest}")),
        "secret://aws/[a-z/]{1,9}(#[a-z]{0,3})?([?]key=[a-z%0-9é]{0,9})?(#[a-z]{1,3})?",
        "secret://gcp/(projects/[a-z]{0,3}/secrets/)?[a-z]{0,4}(/versions/[a-z0-9]{0,2})?(#[0-9]{0,2})?",
        "secret-ref:(env|file|exec|store)/[a-z]{0,3}/[a-z/]{0,5}",
    ]
}

proptest! {
    #[test]
    fn what_is_read_is_written_so_that_it_reads_the_same(text in candidate()) {
        if let Ok(reference) = parse(&text) {
            let shown = reference.to_string();
            prop_assert_eq!(parse(&shown), Ok(reference), "{}", shown);
        }
    }

    #[test]
    fn objects_are_written_so_that_they_read_the_same(
        source in "(env|file|exec|store)",
        provider in proptest::option::of(any::<String>()),
        id in any::<String>(),
    ) {
        if let Ok(reference) = SecretReference::from_object(&source, provider.as_deref(), &id) {
            prop_assert_eq!(parse(&reference.to_string()), Ok(reference));
        }
    }

    #[test]
    fn every_text_is_read_or_refused(text in any::<String>()) {
        let _ = parse(&text);
        prop_assert!(!is_secret_uri(&text) || contains_secret_uri(&text));
    }
}
