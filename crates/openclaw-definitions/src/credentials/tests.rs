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
        "secret:/env/X",
        "secrets://env/X",
        "Secret:env/X",
        "secret//env/X",
        "Bearer secret:/env/X",
        "hunter2\0hunter2",
        "true",
        "",
    ] {
        let entry = json!({ "env": { "A_TOKEN": value }, "headers": { "X-Token": value } });
        assert_eq!(found(&entry), [], "{value:?}");
    }
    let large = "x".repeat(LARGEST);
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
        let uri = format!("secret://keyring/openclaw/x.{}", credential.field);
        put(entry, &credential, &uri.parse().unwrap());
    }
    let expected = json!({
        "url": "https://x.example",
        "headers": {
            "X-Team": "a",
            "Authorization": {
                "prefix": "Bearer ",
                "secret": "secret://keyring/openclaw/x.headers.Authorization",
            },
            "Z": "z",
        },
        "apiKey": "secret://keyring/openclaw/x.apiKey",
        "auth": {
            "clientId": "me",
            "clientSecret": "secret://keyring/openclaw/x.auth.clientSecret",
        },
    });
    assert_eq!(Json::Object(entry.clone()), expected);
    assert_eq!(credentials(entry), [], "nothing is left");
}

#[test]
fn a_key_with_a_line_break_at_its_end_can_be_kept() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n";
    let entry = json!({ "env": { "SSH_PRIVATE_KEY": key } });
    assert_eq!(found(&entry), strings(&[("env.SSH_PRIVATE_KEY", "", key)]));
    // A word that begins alike is no reference.
    let entry = json!({ "env": { "A_TOKEN": "secretary-0123/4" } });
    assert_eq!(found(&entry).len(), 1);
}

#[test]
fn a_reference_in_the_place_of_a_credential_is_found() {
    let entry = json!({ "env": { "A_TOKEN": "hunter2hunter2" }, "headers": { "Authorization": "Bearer xyz123xyz" } });
    let given = credentials(entry.as_object().unwrap());
    let uri = "secret://keyring/s/a";
    let written = json!({
        "env": { "A_TOKEN": uri },
        "headers": { "Authorization": { "prefix": "Bearer ", "secret": uri } },
    });
    for credential in &given {
        let reference = reference_in(&written, credential);
        assert_eq!(reference.unwrap().to_string(), uri);
    }
    for other in [
        json!({ "env": { "A_TOKEN": "hunter2hunter2" }, "headers": { "Authorization": uri } }),
        json!({ "env": {}, "headers": { "Authorization": { "prefix": "Token ", "secret": uri } } }),
        json!({}),
    ] {
        let found = given.iter().find_map(|it| reference_in(&other, it));
        assert_eq!(found, None, "{other}");
    }
}
