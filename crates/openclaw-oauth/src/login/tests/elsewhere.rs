//! Logins that begin in one process and end in another.

use super::*;

#[tokio::test]
async fn a_login_is_ended_by_another_process_also_after_the_first_is_gone() {
    let place = Place::new("");
    let first = place.process();
    let running = first.begin().await;
    let brought = visit(&running.begun().url).await;
    assert_eq!(running.begun().issuer, place.fake.issuer());
    assert_eq!(running.begun().ends_at, START + 10 * MINUTE);
    assert_eq!(running.begun().registration, Registration::Dynamic);
    drop((running, first));
    let logged_in = place.process().finish(&brought).await.unwrap();
    assert_eq!(
        logged_in,
        LoggedIn {
            issuer: place.fake.issuer(),
            scopes: vec!["tools".to_owned()],
            expires_at: Some(START + 60 * MINUTE),
            is_renewable: true,
        }
    );
    assert!(place.takes(&place.process().token().await).await);
}

#[tokio::test]
async fn a_code_by_itself_is_enough_where_the_issuer_need_not_be_named() {
    let place = Place::new("--fault silent-iss");
    let (first, second) = (place.process(), place.process());
    let begun = first.begin().await.begun().url.clone();
    let brought = visit(&begun).await;
    let (_, code) = brought
        .query_pairs()
        .find(|(name, _)| name == "code")
        .unwrap();
    let code = Secret::new(code.as_ref());
    second.desk.finish(&code).await.unwrap();
    assert!(place.takes(&first.token().await).await);
}

#[tokio::test]
async fn a_code_by_itself_is_not_enough_where_the_issuer_is_promised() {
    let place = Place::new("");
    let process = place.process();
    let begun = process.begin().await.begun().url.clone();
    let brought = visit(&begun).await;
    let (_, code) = brought
        .query_pairs()
        .find(|(name, _)| name == "code")
        .unwrap();
    let error = process.desk.finish(&Secret::new(code.as_ref())).await;
    let error = error.unwrap_err();
    assert!(error.hint_text().unwrap().contains("the whole address"));
    // The whole address does it then.
    process.finish(&brought).await.unwrap();
}

#[tokio::test]
async fn a_login_ends_once() {
    let place = Place::new("");
    let process = place.process();
    let begun = process.begin().await.begun().url.clone();
    let brought = visit(&begun).await;
    process.finish(&brought).await.unwrap();
    let grant = process.grant().await;
    for again in [&process, &place.process()] {
        let error = again.finish(&brought).await.unwrap_err();
        assert!(error.to_string().contains("no login"), "{error}");
    }
    assert_eq!(process.grant().await, grant);
    assert_eq!(place.token_requests(), 1, "the code is not shown twice");
}

#[tokio::test]
async fn two_logins_at_once_do_not_disturb_each_other() {
    let place = Place::new("");
    let (first, second) = (place.process(), place.process());
    let one = first.begin().await;
    let two = second.begin().await;
    assert_ne!(port(&one), port(&two));
    let (brought_one, brought_two) = (visit(&one.begun().url).await, visit(&two.begun().url).await);
    // Each is ended by whoever gets it.
    first.finish(&brought_two).await.unwrap();
    assert_eq!(first.grant().await.login, two.begun().login);
    second.finish(&brought_one).await.unwrap();
    assert_eq!(first.grant().await.login, one.begun().login);
    assert!(first.kept().await.pending.is_empty());
    assert!(place.takes(&first.token().await).await);
}

#[tokio::test]
async fn a_login_to_another_server_is_not_ended_by_this_ones_code() {
    let place = Place::new("");
    let process = place.process();
    let mut resource = place.resource();
    resource.url = place.fake.second_url().parse().unwrap();
    let second = place.process_for(resource);
    let begun = process.begin().await;
    let other = second.begin().await;
    let brought = visit(&begun.begun().url).await;
    let error = second.finish(&brought).await.unwrap_err();
    assert!(error.to_string().contains("for another server"), "{error}");
    assert_eq!(place.token_requests(), 0);
    process.finish(&brought).await.unwrap();
    second
        .finish(&visit(&other.begun().url).await)
        .await
        .unwrap();
    assert_ne!(
        process.grant().await.access_token,
        second.grant().await.access_token
    );
}

#[tokio::test]
async fn a_login_that_took_too_long_is_over() {
    let place = Place::new("");
    let process = place.process();
    let begun = process.begin().await.begun().url.clone();
    let brought = visit(&begun).await;
    place.pass(10 * MINUTE + 1);
    let error = place.process().finish(&brought).await.unwrap_err();
    assert!(error.to_string().contains("10 minutes"), "{error}");
    assert_eq!(place.token_requests(), 0);
    assert!(process.kept().await.pending.is_empty());
    // What is over is cleared away by the next.
    process.begin().await;
    place.pass(10 * MINUTE + 1);
    process.begin().await;
    assert_eq!(process.kept().await.pending.len(), 1);
}
