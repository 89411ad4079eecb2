//! Logins that do not end well, and what is left of them.

use std::fs;

use super::*;
use crate::keeper::Refusal;

#[tokio::test]
async fn what_belongs_to_no_login_ends_none() {
    let place = Place::new("");
    let process = place.process();
    let running = process.begin().await;
    let brought = visit(&running.begun().url).await;
    let state = "a-state-that-nobody-has-ever-sent-to-anybody";
    for foreign in [
        with(&brought, "state", state).to_string(),
        format!("http://127.0.0.1/callback?error=access_denied&state={state}"),
    ] {
        let error = process.desk.finish(&Secret::new(foreign)).await;
        let error = error.unwrap_err();
        assert!(error.to_string().contains("no login"), "{error}");
    }
    assert_eq!(place.token_requests(), 0);
    process.finish(&brought).await.unwrap();
}

#[tokio::test]
async fn the_answer_of_another_issuer_does_not_end_the_login() {
    for fault in ["wrong-iss", "no-iss"] {
        let place = Place::new("");
        let process = place.process();
        let running = process.begin().await;
        place.fake.set_flags(&format!("--fault {fault}")).unwrap();
        let wrong = visit(&running.begun().url).await;
        process.finish(&wrong).await.unwrap_err();
        assert_eq!(place.token_requests(), 0, "{fault}: the code goes nowhere");
        assert_eq!(process.kept().await.pending.len(), 1, "{fault}");
        place.fake.set_flags("").unwrap();
        let right = visit(&running.begun().url).await;
        process.finish(&right).await.unwrap();
    }
}

#[tokio::test]
async fn a_refused_login_is_over_and_costs_no_login_that_there_is() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let grant = process.grant().await;
    let running = process.begin().await;
    place.fake.set_flags("--deny").unwrap();
    let brought = visit(&running.begun().url).await;
    let error = process.finish(&brought).await.unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
    let kept = process.kept().await;
    assert!(kept.pending.is_empty());
    assert_eq!(kept.grant, Some(grant));
}

#[tokio::test]
async fn a_passing_failure_leaves_the_login_to_be_ended_later() {
    for failure in ["503", "429", "hang-up"] {
        let place = Place::new(&format!("--fail-exchange {failure}"));
        let process = place.process();
        let running = process.begin().await;
        let brought = visit(&running.begun().url).await;
        let pending = process.kept().await.pending;
        for process in [&process, &place.process()] {
            let error = process.finish(&brought).await.unwrap_err();
            assert_eq!(error.remedy(), Remedy::Wait, "{failure}: {error}");
            assert_eq!(process.kept().await.pending, pending, "{failure}");
        }
        place.fake.set_flags("").unwrap();
        place.process().finish(&brought).await.unwrap();
        assert!(place.takes(&process.token().await).await, "{failure}");
    }
}

#[tokio::test]
async fn where_nothing_can_be_kept_nobody_is_asked() {
    let place = Place::new("");
    // What should be a directory is none: not even the administrator can write into it.
    fs::create_dir_all(place.tokens().parent().unwrap()).unwrap();
    fs::write(place.tokens(), "in the way").unwrap();
    let process = place.process();
    let error = not_begun(&process, Arrival::Here).await;
    assert_eq!(error.remedy(), Remedy::Change, "{error}");
    assert!(place.fake.asked().is_empty(), "{:?}", place.fake.asked());
    fs::remove_file(place.tokens()).unwrap();
    process.log_in().await;
}

#[tokio::test]
async fn where_nothing_can_be_kept_any_more_the_code_is_not_given_away() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new("");
    let process = place.process();
    let running = process.begin().await;
    let brought = visit(&running.begun().url).await;
    let path = process.logins.path();
    fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
    let error = process.finish(&brought).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change, "{error}");
    assert_eq!(place.token_requests(), 0);
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    process.finish(&brought).await.unwrap();
}

#[tokio::test]
async fn what_can_not_be_opened_gives_way_to_a_new_login() {
    let place = Place::new("");
    let process = place.logged_in().await;
    fs::write(process.logins.path(), "no login of ours").unwrap();
    // It may be a server that lets everybody in; if not, the reason is told.
    assert!(process.keeper.token().await.unwrap().is_none());
    let refusal = Refusal::Unauthorized(Challenge::default());
    let error = process.keeper.refused(None, refusal).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn, "{error}");
    assert!(error.to_string().contains("can't be opened"), "{error}");
    process.log_in().await;
    assert!(place.takes(&process.token().await).await);
}

#[tokio::test]
async fn a_busy_port_is_named_and_by_hand_it_goes_on() {
    let place = Place::new("");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let number = taken.local_addr().unwrap().port();
    let mut resource = place.resource();
    resource.redirect = Redirect::Here {
        host: "127.0.0.1".to_owned(),
        port: Some(number),
        path: "/callback".to_owned(),
    };
    let process = place.process_for(resource);
    let error = not_begun(&process, Arrival::Here).await;
    assert!(error.to_string().contains(&number.to_string()), "{error}");
    assert_eq!(place.fake.counters().registrations, 0);
    let challenge = Challenge::default();
    let begun = process.desk.begin(&challenge, Arrival::HereOrByHand, true);
    let running = Box::pin(begun).await.unwrap();
    assert!(!running.is_listening());
    let brought = visit(&running.begun().url).await;
    assert_eq!(brought.port(), Some(number));
    process.finish(&brought).await.unwrap();
}

#[tokio::test]
async fn who_logs_in_by_itself_begins_no_login() {
    let place = Place::new("");
    let mut resource = place.resource();
    resource.grant = Grant::ClientCredentials;
    let error = not_begun(&place.process_for(resource), Arrival::Here).await;
    assert!(error.to_string().contains("client_credentials"), "{error}");
    assert!(place.fake.asked().is_empty());
}

#[tokio::test]
async fn something_else_than_the_code_does_not_end_a_login() {
    let place = Place::new("--fault silent-iss");
    let process = place.process();
    let running = process.begin().await;
    let brought = visit(&running.begun().url).await;
    for nonsense in ["yes", "y", "http", "abc123"] {
        let error = process
            .desk
            .finish(&Secret::new(nonsense))
            .await
            .unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change, "{nonsense}: {error}");
    }
    process.finish(&brought).await.unwrap();
}

#[tokio::test]
async fn what_the_authorization_server_does_not_know_is_not_asked_for_again() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let scopes = ["tools", "no-such-thing"].map(str::to_owned).to_vec();
    let challenge = Challenge {
        scopes,
        ..Challenge::default()
    };
    let token = process.token().await;
    let refusal = Refusal::Insufficient(challenge);
    process
        .keeper
        .refused(Some(&token), refusal)
        .await
        .unwrap_err();
    let wanted = process.kept().await.wanted_scopes;
    assert_eq!(wanted, ["no-such-thing"]);
    let running = process.begin().await;
    assert_eq!(running.begun().scopes, ["tools", "no-such-thing"]);
    let mut denied = Url::parse(&running.begun().redirect_uri).unwrap();
    let state = running.begun().url.query_pairs();
    let state = state
        .into_iter()
        .find(|(name, _)| name == "state")
        .unwrap()
        .1;
    denied
        .query_pairs_mut()
        .append_pair("error", "invalid_scope")
        .append_pair("state", &state)
        .append_pair("iss", &running.begun().issuer);
    process.finish(&denied).await.unwrap_err();
    let again = process.begin().await;
    assert_eq!(again.begun().scopes, ["tools"]);
}

#[tokio::test]
async fn configured_scopes_are_what_is_asked_for_and_nothing_else() {
    let place = Place::new("");
    let mut resource = place.resource();
    resource.scopes = Some(vec!["tools".to_owned()]);
    let process = place.process_for(resource);
    process.log_in().await;
    let token = process.token().await;
    let challenge = Challenge {
        scopes: vec!["admin".to_owned()],
        ..Challenge::default()
    };
    let refusal = Refusal::Insufficient(challenge);
    let error = process
        .keeper
        .refused(Some(&token), refusal)
        .await
        .unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change, "{error}");
    assert!(error.hint_text().unwrap().contains("auth.scopes"));
    assert_eq!(process.begin().await.begun().scopes, ["tools"]);
}
