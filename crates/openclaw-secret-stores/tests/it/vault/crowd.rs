//! Many at once.

use futures_util::future::join_all;
use serde_json::json;

use super::{house, vault};

const LOGIN: [(&str, &str); 2] = [
    ("VAULT_ROLE_ID", "role-of-tests"),
    ("VAULT_SECRET_ID", "secret-id-of-tests"),
];

/// References to so many secrets, in engines of both versions.
fn references(count: usize) -> Vec<(String, String)> {
    let one = |number| {
        let mount = if number % 2 == 0 { "secret" } else { "kv" };
        let reference = format!("secret://vault/{mount}/number-{number}");
        (reference, format!("value of {number}"))
    };
    (0..count).map(one).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_secrets_at_once_need_one_login() {
    let vault = vault();
    let references = references(200);
    vault
        .world()
        .role("role-of-tests", "secret-id-of-tests", 3600, &["*"]);
    for (number, (_, value)) in references.iter().enumerate() {
        let mount = if number % 2 == 0 { "secret" } else { "kv" };
        vault.world().put(
            mount,
            &format!("number-{number}"),
            json!({ "value": value }),
        );
    }

    // All of one server, as it starts.
    let together = house(&vault, &LOGIN);
    let texts: Vec<_> = references.iter().map(|(text, _)| text.as_str()).collect();
    let found = together.resolve(&texts).await;
    for (found, (reference, value)) in found.into_iter().zip(&references) {
        assert_eq!(found.unwrap().value.expose(), value, "{reference}");
    }
    assert_eq!(vault.logins(), 1);

    // One each of two hundred servers that start together.
    let apart = house(&vault, &LOGIN);
    let getting = references.iter().map(|(text, _)| apart.get(text));
    for (found, (reference, value)) in join_all(getting).await.into_iter().zip(&references) {
        assert_eq!(&found.unwrap(), value, "{reference}");
    }
    assert_eq!(vault.logins(), 2);

    // What is mounted is asked by those who come first, and not by everybody.
    let paths = vault.paths();
    let described = paths
        .iter()
        .filter(|path| path.contains("/internal/ui/mounts/"));
    assert!(described.count() <= 2 * 2 * 16);
    let read = paths.iter().filter(|path| path.contains("/number-"));
    let read = read.filter(|path| !path.contains("/internal/"));
    assert_eq!(read.count(), 400);
}
