//! Where credentials are found: variables, files, programs.

use std::fs;

use openclaw_secret_stores::SecretErrorKind;

use super::*;
use crate::house::program;

const OTHER_ID: &str = "AKIAI44QH8DHBEXAMPLE";
const OTHER_KEY: &str = "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY";
const TOKEN: &str = "FwoGZXIvYXdzEXAMPLETOKENofaSession==";

/// A home directory with these files of AWS.
fn home(config: &str, credentials: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".aws")).unwrap();
    fs::write(home.path().join(".aws/config"), config).unwrap();
    fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
    home
}

/// What a program answers that knows credentials, and a command that runs it.
fn process(answer: &str) -> String {
    format!("\"{}\" say '{answer}'", program().display())
}

#[tokio::test]
async fn a_session_token_is_sent_and_hidden_with_the_key() {
    let service = keeper("the-secret-of-aws");
    let house = machine(
        &service,
        &[
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
            ("AWS_SESSION_TOKEN", TOKEN),
        ],
    );
    house.get("secret://aws/db").await.unwrap();
    let asked = service.asked().remove(0);
    assert_eq!(asked.header("x-amz-security-token"), Some(TOKEN));
    let authorization = asked.header("authorization").unwrap();
    assert!(
        authorization.contains("x-amz-security-token"),
        "{authorization}"
    );
    for secret in [SECRET_KEY, TOKEN, "the-secret-of-aws"] {
        let shown = house.redactor.redact(secret).into_owned();
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn half_of_the_variables_is_an_error_and_not_the_next_source() {
    let service = keeper("x");
    let files = home(
        "",
        &format!("[default]\naws_access_key_id={OTHER_ID}\naws_secret_access_key={OTHER_KEY}\n"),
    );
    let variables = with_service(&service, &[("AWS_ACCESS_KEY_ID", KEY_ID)]);
    let house = House::at(files, &variables);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    assert_eq!(
        error.to_string(),
        "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not"
    );
}

#[tokio::test]
async fn profiles_give_keys_and_a_region_and_an_address() {
    let service = keeper("the-secret-of-aws");
    let origin = service.origin();
    let config = format!(
        "[default]\nregion = ap-south-1\nendpoint_url = {origin}\n\
         [profile work]\nregion = us-west-2\nendpoint_url = {origin}\n"
    );
    let credentials = format!(
        "[default]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET_KEY}\n\
         [work]\naws_access_key_id = {OTHER_ID}\naws_secret_access_key = {OTHER_KEY}\n\
         aws_session_token = {TOKEN}\n"
    );
    for (variables, scope) in [
        (vec![], format!("{KEY_ID}/DATE/ap-south-1")),
        (
            vec![("AWS_PROFILE", "work")],
            format!("{OTHER_ID}/DATE/us-west-2"),
        ),
        (
            vec![
                ("AWS_DEFAULT_PROFILE", "work"),
                ("AWS_REGION", "eu-north-1"),
            ],
            format!("{OTHER_ID}/DATE/eu-north-1"),
        ),
    ] {
        let house = House::at(home(&config, &credentials), &variables);
        house.get("secret://aws/db").await.unwrap();
        let asked = service.asked().pop().unwrap();
        let date = &asked.header("x-amz-date").unwrap()[..8];
        let expected = format!(
            "{}/secretsmanager/aws4_request",
            scope.replace("DATE", date)
        );
        assert_eq!(signer(&asked), expected);
        for secret in [SECRET_KEY, OTHER_KEY, TOKEN] {
            assert!(!house.redactor.redact(secret).contains(secret));
        }
    }
}

#[tokio::test]
async fn variables_name_other_files_and_win_over_them() {
    let service = keeper("the-secret-of-aws");
    let files = home("", "");
    let path = files.path().join("elsewhere");
    fs::write(
        &path,
        format!("[default]\naws_access_key_id={OTHER_ID}\naws_secret_access_key={OTHER_KEY}\n"),
    )
    .unwrap();
    let path: &'static str = path.to_str().unwrap().to_owned().leak();
    let file = ("AWS_SHARED_CREDENTIALS_FILE", path);
    let keys = [
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
    ];
    let house = House::at(files, &with_service(&service, &[file]));
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(key_id(&service.asked()[0]), OTHER_ID);
    let house = House::at(
        house.home,
        &with_service(&service, &[file, keys[0], keys[1]]),
    );
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(key_id(&service.asked()[1]), KEY_ID);
}

#[tokio::test]
async fn keys_that_are_changed_in_a_file_are_the_new_ones_the_next_time() {
    let service = keeper("the-secret-of-aws");
    let keys =
        |id, key| format!("[default]\naws_access_key_id={id}\naws_secret_access_key={key}\n");
    let house = House::at(
        home("", &keys(KEY_ID, SECRET_KEY)),
        &with_service(&service, &[]),
    );
    house.get("secret://aws/db").await.unwrap();
    fs::write(
        house.path().join(".aws/credentials"),
        keys(OTHER_ID, OTHER_KEY),
    )
    .unwrap();
    house.get("secret://aws/db").await.unwrap();
    let ids: Vec<_> = service.asked().iter().map(key_id).collect();
    assert_eq!(ids, [KEY_ID, OTHER_ID]);
}

#[tokio::test]
async fn a_profile_that_is_missing_or_incomplete_is_named() {
    let service = keeper("x");
    for (config, words) in [
        (
            "[default]\n",
            "have no profile \"work\", which AWS_PROFILE names",
        ),
        ("[profile work]\naws_access_key_id = x\n", "has only one of"),
        (
            "[profile work]\nrole_arn = arn:aws:iam::123456789012:role/r\n",
            "`source_profile`",
        ),
        (
            "[profile work]\nrole_arn = a\nsource_profile = gone\n",
            "\"gone\" is not there",
        ),
        (
            "[profile work]\nrole_arn = a\nsource_profile = b\n[profile b]\nrole_arn = c\nsource_profile = work\n",
            "without an end",
        ),
        (
            "[profile work]\nrole_arn = a\nmfa_serial = m\n",
            "code from a device",
        ),
        ("[profile work]\nsso_session = s\n", "`sso-session` \"s\""),
        ("[profile work]\ncredential_process = 'x\n", "not closed"),
        (
            "[profile work]\ncredential_process = no-such-program-anywhere\n",
            "can't be run",
        ),
    ] {
        let variables = with_service(&service, &[("AWS_PROFILE", "work")]);
        let house = House::at(home(config, ""), &variables);
        let error = house.get("secret://aws/db").await.unwrap_err();
        assert_eq!(error.kind(), SecretErrorKind::Misconfigured, "{config}");
        assert!(error.to_string().contains(words), "{config}: {error}");
    }
    assert!(service.asked().is_empty());
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named_where_it_is_missed() {
    let service = keeper("the-secret-of-aws");
    let files = home("", "");
    fs::remove_file(files.path().join(".aws/config")).unwrap();
    fs::create_dir(files.path().join(".aws/config")).unwrap();
    let house = House::at(files, &with_service(&service, &[]));
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    assert!(error.to_string().contains("cannot read"), "{error}");
    assert!(error.to_string().contains(".aws/config"), "{error}");
    let keys = [
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
    ];
    let house = House::at(house.home, &with_service(&service, &keys));
    assert!(house.get("secret://aws/db").await.is_ok());
}

#[tokio::test]
async fn a_program_gives_credentials_without_a_shell() {
    let service = keeper("the-secret-of-aws");
    let answer = format!(
        r#"{{"Version":1,"AccessKeyId":"{OTHER_ID}","SecretAccessKey":"{OTHER_KEY}","SessionToken":"{TOKEN}","Expiration":"2099-01-01T00:00:00Z"}}"#
    );
    let config = format!("[default]\ncredential_process = {}\n", process(&answer));
    let house = House::at(home(&config, ""), &with_service(&service, &[]));
    house.get("secret://aws/db").await.unwrap();
    let asked = service.asked().remove(0);
    assert_eq!(key_id(&asked), OTHER_ID);
    assert_eq!(asked.header("x-amz-security-token"), Some(TOKEN));
    assert!(!house.redactor.redact(OTHER_KEY).contains(OTHER_KEY));
}

#[tokio::test]
async fn a_program_that_gives_no_credentials_is_an_error_without_what_it_wrote() {
    let service = keeper("x");
    let path = program();
    let fail = format!("\"{}\" fail {OTHER_KEY}", path.display());
    let flood = format!("\"{}\" flood 200000", path.display());
    let half = process(&format!(
        r#"{{"Version":1,"SecretAccessKey":"{OTHER_KEY}"}}"#
    ));
    for (command, words) in [
        (fail, "failed"),
        (flood, "more than 65536 bytes"),
        (process(OTHER_KEY), "does not answer with JSON"),
        (process(r#"{"Version":2}"#), "another `Version`"),
        (half, "`AccessKeyId`"),
    ] {
        let config = format!("[default]\ncredential_process = {command}\n");
        let house = House::at(home(&config, ""), &with_service(&service, &[]));
        let error = house.get("secret://aws/db").await.unwrap_err();
        let shown = format!("{error:?}");
        assert!(shown.contains(words), "{command}: {shown}");
        assert!(!shown.contains(OTHER_KEY), "{shown}");
    }
    assert!(service.asked().is_empty());
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_at_the_deadline() {
    let service = keeper("x");
    let config = format!(
        "[default]\ncredential_process = \"{}\" hang\n",
        program().display()
    );
    let mut house = House::at(home(&config, ""), &with_service(&service, &[]));
    house.settings.timeout = std::time::Duration::from_millis(500);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_refused_without_being_shown() {
    let service = keeper("x");
    let house = machine(
        &service,
        &[
            ("AWS_ACCESS_KEY_ID", "AKIA\nEVIL: yes"),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
            ("AWS_SESSION_TOKEN", "to\nken-of-a-session"),
        ],
    );
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    let shown = format!("{error:?}");
    assert!(
        !shown.contains("EVIL") && !shown.contains("ken-of"),
        "{shown}"
    );
    assert!(service.asked().is_empty());
}

#[tokio::test]
async fn credentials_that_are_over_are_not_sent() {
    let service = keeper("x");
    let answer = format!(
        r#"{{"Version":1,"AccessKeyId":"{OTHER_ID}","SecretAccessKey":"{OTHER_KEY}","Expiration":"2020-01-01T00:00:00Z"}}"#
    );
    let config = format!("[default]\ncredential_process = {}\n", process(&answer));
    let house = House::at(home(&config, ""), &with_service(&service, &[]));
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Refused);
    assert!(error.to_string().contains("have expired"), "{error}");
    assert!(error.hint_text().unwrap().contains("aws sso login"));
    assert!(service.asked().is_empty());
}
