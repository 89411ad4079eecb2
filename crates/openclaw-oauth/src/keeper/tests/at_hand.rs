//! What is at hand, and for how long.

use super::*;

#[tokio::test]
async fn a_token_is_at_hand_while_it_is_fresh_and_its_file_unchanged() {
    let place = Place::new("");
    let process = place.logged_in().await;
    assert!(process.keeper.at_hand().is_none(), "nothing was read yet");
    let token = process.token().await;
    assert!(process.keeper.at_hand().unwrap().is(&token));
    assert!(process.token().await.is(&token), "reading again is no news");
    // Somebody else writes, although not about the token.
    let other = place.process();
    other.begin().await;
    assert!(process.keeper.at_hand().is_none());
    assert!(process.token().await.is(&token));
    assert!(process.keeper.at_hand().unwrap().is(&token));
    // And somebody logs in anew.
    other.log_in().await;
    assert!(process.keeper.at_hand().is_none());
    let newer = process.token().await;
    assert_ne!(newer.secret(), token.secret());
    assert!(!newer.is(&token));
    other.desk.log_out().await.unwrap();
    assert!(process.keeper.at_hand().is_none());
    assert!(process.keeper.token().await.unwrap().is_none());
    assert!(process.keeper.at_hand().is_none());
    assert_eq!(place.refresh_requests(), 0);
}

#[tokio::test]
async fn a_token_is_renewed_when_it_is_time_and_no_sooner() {
    for (lifetime, renewal) in [(3600, 3540 * SECOND), (100, 75 * SECOND), (4, 3 * SECOND)] {
        let place = Place::new(&format!("--lifetime {lifetime}"));
        let process = place.logged_in().await;
        let token = process.token().await;
        place.set_clock(START + renewal - 1);
        assert!(process.keeper.at_hand().unwrap().is(&token), "{lifetime}");
        assert!(process.token().await.is(&token), "{lifetime}");
        assert_eq!(place.refresh_requests(), 0, "{lifetime}");
        place.set_clock(START + renewal);
        assert!(process.keeper.at_hand().is_none(), "{lifetime}");
        let renewed = process.token().await;
        assert!(!renewed.is(&token), "{lifetime}");
        assert!(place.takes(&renewed).await, "{lifetime}");
        assert!(process.keeper.at_hand().unwrap().is(&renewed), "{lifetime}");
        assert_eq!(place.refresh_requests(), 1, "{lifetime}");
        // Its life begins when it comes.
        place.set_clock(START + 2 * renewal - 1);
        assert!(process.keeper.at_hand().unwrap().is(&renewed), "{lifetime}");
        place.set_clock(START + 2 * renewal);
        process.token().await;
        assert_eq!(place.refresh_requests(), 2, "{lifetime}");
    }
}

#[tokio::test]
async fn a_token_without_an_end_is_used_until_a_server_refuses_it() {
    let place = Place::new("--fault no-expiry");
    let process = place.logged_in().await;
    let token = process.token().await;
    assert_eq!(
        process.keeper.state().await.unwrap().unwrap().expires_at,
        None
    );
    place.pass(24 * 365 * HOUR);
    assert!(process.keeper.at_hand().unwrap().is(&token));
    assert!(process.token().await.is(&token));
    assert_eq!(place.refresh_requests(), 0);
    place.fake.revoke_access();
    let refused = process.keeper.refused(Some(&token), unauthorized());
    refused.await.unwrap();
    assert_eq!(place.refresh_requests(), 1);
    assert!(place.takes(&process.keeper.at_hand().unwrap()).await);
}

#[tokio::test]
async fn a_clock_that_is_set_costs_a_renewal_at_most() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let token = process.token().await;
    // Back: it seems to have a long life.
    place.set_clock(START - 24 * HOUR);
    assert!(process.keeper.at_hand().unwrap().is(&token));
    let state = process.keeper.state().await.unwrap().unwrap();
    assert_eq!(state.expires_at, Some(START + HOUR));
    place.fake.revoke_access();
    let refused = process.keeper.refused(Some(&token), unauthorized());
    refused.await.unwrap();
    assert_eq!(place.refresh_requests(), 1);
    // Forward: it seems to have ended.
    place.set_clock(START + 24 * 365 * HOUR);
    assert!(process.keeper.at_hand().is_none());
    let token = process.token().await;
    assert_eq!(place.refresh_requests(), 2);
    // And right again.
    place.set_clock(START);
    assert!(process.keeper.at_hand().unwrap().is(&token));
    assert!(place.takes(&token).await);
    assert_eq!(place.refresh_requests(), 2);
}

#[tokio::test]
async fn where_nobody_has_logged_in_there_is_no_token_and_nobody_is_asked() {
    let place = Place::new("");
    let process = place.process();
    assert!(process.keeper.token().await.unwrap().is_none());
    assert!(process.keeper.at_hand().is_none());
    assert!(!process.keeper.is_kept());
    assert_eq!(process.keeper.state().await.unwrap(), None);
    assert!(place.fake.asked().is_empty());
    let error = process.keeper.refused(None, unauthorized()).await;
    assert_eq!(error.unwrap_err().remedy(), Remedy::LogIn);
    assert!(place.fake.asked().is_empty());
}

#[tokio::test]
async fn what_is_known_about_a_login_holds_no_part_of_it() {
    let place = Place::new("");
    let process = place.logged_in().await;
    assert!(process.keeper.is_kept());
    let state = process.keeper.state().await.unwrap().unwrap();
    assert_eq!(state.issuer, place.fake.issuer());
    assert_eq!(state.scopes, ["tools"]);
    assert_eq!(state.expires_at, Some(START + HOUR));
    assert!(state.is_renewable);
    assert_eq!(state.ended, None);
    assert_eq!(
        place.refresh_requests(),
        0,
        "asking how it is changes nothing"
    );
}

#[tokio::test]
async fn tokens_are_hidden_in_texts_until_they_were_replaced_long_ago() {
    let place = Place::new("");
    let process = place.logged_in().await;
    // What the desk has learned does not count here.
    let other = place.process();
    let mut tokens = Vec::new();
    for _ in 0..6 {
        tokens.push(other.token().await.secret().clone());
        place.pass(HOUR);
    }
    let is_hidden = |token: &Secret| {
        let text = format!("it said {}", token.expose());
        other.redactor.redact_learned(&text) == "it said [REDACTED]"
    };
    let hidden: Vec<bool> = tokens.iter().map(is_hidden).collect();
    assert_eq!(hidden, [false, false, true, true, true, true]);
    // Whoever logs in hides the token at once.
    process.log_in().await;
    let token = process.grant().await.access_token;
    let redacted = process.redactor.redact_learned(token.expose()).into_owned();
    assert_eq!(redacted, "[REDACTED]");
}

#[tokio::test]
async fn a_login_of_another_client_or_issuer_than_the_configured_one_is_not_used() {
    let place = Place::new("--client by-hand");
    place.logged_in().await;
    let mut resource = place.resource();
    resource.client_id = Some("by-hand".to_owned());
    let configured = place.process_for(resource.clone());
    let error = configured.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert!(error.to_string().contains("another client"), "{error}");
    configured.log_in().await;
    assert!(place.takes(&configured.token().await).await);
    // The same issuer by name is no other, with or without a slash.
    for address in [place.fake.issuer(), format!("{}/", place.fake.issuer())] {
        resource.authorization_server = Some(address.parse().unwrap());
        let named = place.process_for(resource.clone());
        assert!(place.takes(&named.token().await).await, "{address}");
    }
    resource.authorization_server = Some("http://127.0.0.1:9/".parse().unwrap());
    let elsewhere = place.process_for(resource);
    let error = elsewhere.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    let words = "another authorization server";
    assert!(error.to_string().contains(words), "{error}");
    assert!(
        place.takes(&configured.token().await).await,
        "it is still kept"
    );
}
