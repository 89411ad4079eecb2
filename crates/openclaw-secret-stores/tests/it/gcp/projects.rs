//! Projects, versions and addresses.

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::fake_google::PROJECT;

use super::{Cloud, ENDPOINT, KEY, VALUE, assert_says};

#[tokio::test]
async fn the_first_of_all_places_that_name_a_project_counts() {
    let variables = [
        ("GOOGLE_CLOUD_PROJECT", "first"),
        ("GCLOUD_PROJECT", "second"),
        ("CLOUDSDK_CORE_PROJECT", "example.com:third"),
    ];
    for (from, project) in variables.iter().map(|it| it.1).chain([PROJECT]).enumerate() {
        let cloud = Cloud::of_service(&variables[from..]);
        cloud
            .google
            .add(project, "own-key", format!("value in {project}"));
        let value = cloud.get("secret://gcp/own-key").await.unwrap();
        assert_eq!(value, format!("value in {project}"));
    }
    let cloud = Cloud::of_service(&variables);
    cloud.google.add("named", "own-key", "value in named");
    let value = cloud
        .get("secret://gcp/projects/named/secrets/own-key")
        .await;
    assert_eq!(value.unwrap(), "value in named");
}

#[tokio::test]
async fn the_project_of_a_user_is_the_one_that_is_charged() {
    let cloud = Cloud::of_user(&[]);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    let cloud = Cloud::of_user(&[("GOOGLE_CLOUD_QUOTA_PROJECT", "charged")]);
    cloud.google.add("charged", "api-key", "value in charged");
    assert_eq!(cloud.get(KEY).await.unwrap(), "value in charged");
    let asked = cloud.google.accesses().remove(0);
    assert_eq!(asked.header("x-goog-user-project"), Some("charged"));
}

#[tokio::test]
async fn without_a_project_the_variable_for_it_is_named() {
    let cloud = Cloud::without_credentials(&[]);
    let mut user = cloud.google.authorized_user();
    user.as_object_mut().unwrap().remove("quota_project_id");
    cloud.write(&user);
    let references = [KEY, "secret://gcp/projects/test-project/secrets/api-key"];
    let mut answers = cloud.house.resolve(&references).await;
    let other = answers.remove(1).unwrap();
    assert_eq!(other.value.expose(), VALUE);
    let error = answers.remove(0).unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    let spelling = "secret://gcp/projects/PROJECT/secrets/api-key";
    assert_says(&error, &["GOOGLE_CLOUD_PROJECT", spelling]);
    let asked = cloud.google.accesses().remove(0);
    assert_eq!(asked.header("x-goog-user-project"), None);
}

#[tokio::test]
async fn a_variable_that_names_no_project_is_said_to_be_wrong() {
    let cloud = Cloud::of_service(&[("GOOGLE_CLOUD_PROJECT", "../../other?x=")]);
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(
        &error,
        &["GOOGLE_CLOUD_PROJECT is not the name of a project"],
    );
    assert_eq!(cloud.google.accesses().len(), 0);
}

#[tokio::test]
async fn versions_are_the_latest_or_the_one_that_is_named() {
    let cloud = Cloud::of_service(&[]);
    cloud.google.add(PROJECT, "api-key", "the second");
    for (reference, value) in [
        (KEY, "the second"),
        ("secret://gcp/api-key#latest", "the second"),
        ("secret://gcp/api-key#2", "the second"),
        ("secret://gcp/api-key#1", VALUE),
        (
            "secret://gcp/projects/test-project/secrets/api-key#1",
            VALUE,
        ),
        (
            "secret://gcp/projects/test-project/secrets/api-key/versions/1",
            VALUE,
        ),
    ] {
        assert_eq!(cloud.get(reference).await.unwrap(), value, "{reference}");
    }
    // A secret that was changed is the new one.
    cloud.google.add(PROJECT, "api-key", "the third\n");
    assert_eq!(cloud.get(KEY).await.unwrap(), "the third");
}

#[tokio::test]
async fn the_address_may_end_with_slashes_and_must_be_one() {
    let cloud = Cloud::of_service(&[]);
    let slashes = format!("{}//", cloud.google.origin());
    let other = Cloud::of_service(&[(ENDPOINT, &slashes)]);
    assert_eq!(other.get(KEY).await.unwrap(), VALUE);
    assert_eq!(
        cloud.google.accesses().len(),
        1,
        "the last one given counts"
    );
    for (address, says) in [
        ("secretmanager", "is not an address"),
        ("ftp://127.0.0.1/", "is not an address"),
        ("https://127.0.0.1/?x", "is not an address"),
        ("http://secretmanager.example.com", "only for this machine"),
    ] {
        let cloud = Cloud::of_service(&[(ENDPOINT, address)]);
        let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
        assert_says(&error, &[says]);
    }
}
