//! Variables as secrets.

use openclaw_config::{Definition, SecretProviderSettings};
use openclaw_secret_stores::{Remark, SecretErrorKind};

use crate::house::House;

#[tokio::test]
async fn a_variable_is_a_secret_that_is_hidden_at_once() {
    let house = House::new(&[("TOKEN", "tok-4711-abcdef")]);
    assert_eq!(house.redactor.redact("tok-4711-abcdef"), "tok-4711-abcdef");
    assert_eq!(
        house.get("secret://env/TOKEN").await.unwrap(),
        "tok-4711-abcdef"
    );
    assert_eq!(house.redactor.redact("is tok-4711-abcdef"), "is [REDACTED]");
}

#[tokio::test]
async fn a_missing_or_empty_variable_is_said_by_name() {
    let house = House::new(&[("EMPTY", ""), ("BREAK", "\n")]);
    let error = house.get("secret://env/TOKEN").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Missing);
    assert_eq!(error.to_string(), "the variable TOKEN is not set");
    assert!(error.hint_text().unwrap().contains("set TOKEN"));
    for name in ["EMPTY", "BREAK"] {
        let error = house
            .get(&format!("secret://env/{name}"))
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "it is empty", "{name}");
    }
}

#[tokio::test]
async fn only_variables_of_the_allowlist_are_read_by_a_provider_that_has_one() {
    let mut house = House::new(&[("ALLOWED", "first-value"), ("OTHER", "second-value")]);
    let some = |names: Option<Vec<String>>| {
        let settings = SecretProviderSettings::Environment { allowlist: names };
        Definition::Sound(settings.into())
    };
    let providers = &mut house.settings.providers;
    providers.insert("few".to_owned(), some(Some(vec!["ALLOWED".to_owned()])));
    providers.insert("all".to_owned(), some(None));
    let get = async |text| house.get(text).await;
    assert_eq!(
        get("secret-ref:env/few/ALLOWED").await.unwrap(),
        "first-value"
    );
    assert_eq!(
        get("secret-ref:env/all/OTHER").await.unwrap(),
        "second-value"
    );
    let error = get("secret-ref:env/few/OTHER").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Refused);
    // The entry that is meant where none is named needs not be written down.
    assert_eq!(
        get("secret-ref:env/default/OTHER").await.unwrap(),
        "second-value"
    );
    let error = get("secret-ref:env/none/OTHER").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    assert_eq!(error.to_string(), "there is no secret provider \"none\"");
}

#[tokio::test]
async fn a_secret_that_can_not_be_hidden_is_remarked_on() {
    let house = House::new(&[
        ("SHORT", "abc12"),
        ("WORD", "password"),
        ("GOOD", "long-enough-1"),
    ]);
    let answers = house
        .resolve(&[
            "secret://env/SHORT",
            "secret://env/WORD",
            "secret://env/GOOD",
        ])
        .await;
    let remarks: Vec<_> = answers.into_iter().map(|it| it.unwrap().remarks).collect();
    assert_eq!(
        remarks,
        [vec![Remark::NotHidden], vec![Remark::NotHidden], vec![]]
    );
}
