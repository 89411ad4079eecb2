use proptest::prelude::*;

use super::*;

fn found(entry: &Json) -> Vec<(String, String, String)> {
    let credentials = credentials(entry.as_object().unwrap()).into_iter();
    credentials
        .map(|it| {
            (
                it.field.to_string(),
                it.prefix,
                it.value.expose().to_owned(),
            )
        })
        .collect()
}

fn strings(fields: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    let fields = fields.iter();
    fields
        .map(|(field, prefix, value)| {
            (
                (*field).to_owned(),
                (*prefix).to_owned(),
                (*value).to_owned(),
            )
        })
        .collect()
}

#[test]
fn credentials_are_found_where_a_reference_can_stand() {
    let entry = json!({
        "command": "npx",
        "args": ["--token", "hunter2hunter2"],
        "env": { "GITHUB_TOKEN": "hunter2hunter2", "LOG_LEVEL": "debug", "N_TOKEN": 17 },
        "url": "https://u:hunter2hunter2@x.example",
        "headers": { "Authorization": "Bearer xyz123xyz", "X-Team": "a", "x-api-key": "k1k2k3k4" },
        "apiKey": "abcdef123456",
        "auth": { "clientId": "me", "clientSecret": "s3cr3ts3cr3t" },
        "oauth": { "clientSecret": "0123-0123-0123" },
    });
    let expected = strings(&[
        ("env.GITHUB_TOKEN", "", "hunter2hunter2"),
        ("headers.Authorization", "Bearer ", "xyz123xyz"),
        ("headers.x-api-key", "", "k1k2k3k4"),
        ("apiKey", "", "abcdef123456"),
        ("auth.clientSecret", "", "s3cr3ts3cr3t"),
        ("oauth.clientSecret", "", "0123-0123-0123"),
    ]);
    assert_eq!(found(&entry), expected);
}

#[test]
fn what_the_keyring_would_change_the_meaning_of_stays() {
    for value in [
        "secret://env/X",
        "${TOKEN}",
        "$TOKEN",
        "abc${TOKEN}def",
        "Bearer ${TOKEN}",
        "hunter2$${NOT}hunter2",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n",
        "hunter2\0hunter2",
        "true",
        "",
    ] {
        let entry = json!({ "env": { "A_TOKEN": value }, "headers": { "X-Token": value } });
        assert_eq!(found(&entry), [], "{value:?}");
    }
    let large = "x1".repeat(LARGEST);
    assert_eq!(found(&json!({ "env": { "A_TOKEN": large } })), []);
    let object = json!({ "prefix": "Bearer ", "secret": "secret://env/X" });
    assert_eq!(
        found(&json!({ "headers": { "Authorization": object } })),
        []
    );
}

#[test]
fn the_scheme_of_a_header_stays_in_the_definition() {
    for (name, value, prefix, secret) in [
        ("Authorization", "Bearer xyz123xyz", "Bearer ", "xyz123xyz"),
        (
            "authorization",
            "bearer  xyz123xyz",
            "bearer  ",
            "xyz123xyz",
        ),
        ("Authorization", "xyz123xyz", "", "xyz123xyz"),
        (
            "Authorization",
            "Custom-1 xyz123xyz",
            "Custom-1 ",
            "xyz123xyz",
        ),
        (
            "Proxy-Authorization",
            "Basic dTpwdTpw",
            "Basic ",
            "dTpwdTpw",
        ),
        ("X-Auth-Token", "Token xyz123xyz", "Token ", "xyz123xyz"),
        ("X-Auth-Token", "two words1", "", "two words1"),
        ("Authorization", "a=b c=d1e2f3", "", "a=b c=d1e2f3"),
    ] {
        let entry = json!({ "headers": { name: value } });
        let field = format!("headers.{name}");
        assert_eq!(found(&entry), strings(&[(&field, prefix, secret)]));
    }
}

#[test]
fn a_reference_takes_the_place_of_the_credential_and_of_nothing_else() {
    let mut entry = json!({
        "url": "https://x.example",
        "headers": { "X-Team": "a", "Authorization": "Bearer xyz123xyz", "Z": "z" },
        "apiKey": "abcdef123456",
        "auth": { "clientId": "me", "clientSecret": "s3cr3ts3cr3t" },
    });
    let entry = entry.as_object_mut().unwrap();
    for credential in credentials(entry) {
        let name = account("my server", &credential.field, 1);
        let reference = reference("openclaw", &name).unwrap();
        put(entry, &credential, &reference);
    }
    let expected = json!({
        "url": "https://x.example",
        "headers": {
            "X-Team": "a",
            "Authorization": {
                "prefix": "Bearer ",
                "secret": "secret://keyring/openclaw/my server.headers.Authorization",
            },
            "Z": "z",
        },
        "apiKey": "secret://keyring/openclaw/my server.apiKey",
        "auth": {
            "clientId": "me",
            "clientSecret": "secret://keyring/openclaw/my server.auth.clientSecret",
        },
    });
    assert_eq!(Json::Object(entry.clone()), expected);
    assert_eq!(credentials(entry), [], "nothing is left");
}

#[test]
fn a_profile_has_a_service_of_its_own() {
    assert_eq!(service(None), "openclaw");
    assert_eq!(service(Some("work")), "openclaw-work");
}

#[test]
fn what_a_person_stored_is_not_ours() {
    let referred = |uri: &str| Referred {
        server: "github".to_owned(),
        field: Field::Variable("GITHUB_TOKEN".to_owned()),
        prefix: String::new(),
        reference: uri.parse().unwrap(),
    };
    let ours = |uri| is_ours("openclaw", &referred(uri));
    assert!(ours("secret://keyring/openclaw/github.env.GITHUB_TOKEN"));
    assert!(ours("secret://keyring/openclaw/github.env.GITHUB_TOKEN-2"));
    for other in [
        "secret://keyring/openclaw/github-token",
        "secret://keyring/openclaw/github.env.GITHUB_TOKEN-old",
        "secret://keyring/openclaw/github.env.GITHUB_TOKEN_2",
        "secret://keyring/openclaw/gitlab.env.GITHUB_TOKEN",
        "secret://keyring/openclaw-work/github.env.GITHUB_TOKEN",
        "secret://keyring/mine/github.env.GITHUB_TOKEN",
        "secret://env/GITHUB_TOKEN",
    ] {
        assert!(!ours(other), "{other}");
    }
}

proptest! {
    #[test]
    fn an_account_can_be_referred_to_whatever_the_names_are(
        server in "[^/\\p{Cc}]{1,64}",
        name in any::<String>(),
        attempt in 1_usize..200,
    ) {
        for field in [Field::Variable(name.clone()), Field::Header(name.clone()), Field::ApiKey] {
            let account = account(&server, &field, attempt);
            let found = reference("openclaw-work", &account);
            let Some(SecretReference::Keyring { service, account: parsed, .. }) = &found else {
                panic!("{account:?}");
            };
            prop_assert_eq!(service, "openclaw-work");
            prop_assert_eq!(parsed, &account);
            let spelling = found.as_ref().unwrap().to_string();
            prop_assert_eq!(spelling.parse::<SecretReference>().ok(), found.clone());
            let referred = Referred {
                server: server.clone(),
                field,
                prefix: String::new(),
                reference: found.unwrap(),
            };
            prop_assert!(is_ours("openclaw-work", &referred));
        }
    }

    #[test]
    fn long_names_that_differ_have_different_accounts(length in 200_usize..400) {
        let name = "N".repeat(length);
        let (one, other) = (format!("{name}1"), format!("{name}2"));
        let account = |name: &str| account("s", &Field::Variable(name.to_owned()), 1);
        prop_assert_ne!(account(&one), account(&other));
        prop_assert!(account(&one).chars().count() <= LONGEST_ACCOUNT);
    }
}
