//! Renewals that fail, and what is made of that.

use super::*;
use crate::client::Registration;
use url::Url;

#[tokio::test]
async fn a_passing_failure_costs_nothing_while_the_token_is_good() {
    for failure in ["503", "429", "hang-up"] {
        let place = Place::new("");
        let process = place.logged_in().await;
        let token = process.token().await;
        let grant = process.grant().await;
        place
            .fake
            .set_flags(&format!("--fail-refresh {failure}"))
            .unwrap();
        place.set_clock(START + HOUR - MINUTE);
        assert!(process.token().await.is(&token), "{failure}");
        assert_eq!(place.refresh_requests(), 1, "{failure}");
        assert!(process.keeper.at_hand().unwrap().is(&token), "{failure}");
        assert_eq!(process.grant().await, grant, "{failure}: all is kept");
        // Until it has expired.
        place.set_clock(START + HOUR);
        assert!(process.keeper.at_hand().is_none(), "{failure}");
        let error = process.keeper.token().await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Wait, "{failure}: {error}");
        assert_eq!(process.grant().await, grant, "{failure}: all is kept");
        // And it is as before when all is well again.
        place.fake.set_flags("").unwrap();
        place.pass(2 * MINUTE);
        assert!(place.takes(&process.token().await).await, "{failure}");
        assert_eq!(process.grant().await.login, grant.login, "{failure}");
    }
}

#[tokio::test]
async fn a_failing_authorization_server_is_asked_less_and_less_often() {
    let place = Place::new("--fail-refresh 503");
    let process = place.logged_in().await;
    let token = process.token().await;
    let begun = START + HOUR;
    place.set_clock(begun);
    let mut asked_at = Vec::new();
    // Somebody wants a token ten times a second, for five minutes.
    for tick in 0..3_000 {
        place.set_clock(begun + tick * 100);
        let before = place.refresh_requests();
        let outcome = if tick % 2 == 0 {
            process.keeper.token().await.map(drop)
        } else {
            process.keeper.refused(Some(&token), unauthorized()).await
        };
        assert_eq!(outcome.unwrap_err().remedy(), Remedy::Wait);
        if place.refresh_requests() > before {
            asked_at.push(tick / 10);
        }
    }
    assert_eq!(asked_at, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    place.fake.set_flags("").unwrap();
    place.pass(MINUTE);
    assert!(place.takes(&process.token().await).await);
    // The next trouble begins anew.
    place.fake.set_flags("--fail-refresh 503").unwrap();
    place.pass(HOUR);
    process.keeper.token().await.unwrap_err();
    place.fake.set_flags("").unwrap();
    place.pass(SECOND);
    process.token().await;
}

#[tokio::test]
async fn many_who_meet_the_same_trouble_at_once_ask_once() {
    let place = Place::new("--fail-refresh 503 --token-delay 20");
    let process = place.logged_in().await;
    place.pass(HOUR);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let keeper = Arc::clone(&process.keeper);
        tasks.spawn(async move { keeper.token().await.unwrap_err().remedy() });
    }
    while let Some(remedy) = tasks.join_next().await {
        assert_eq!(remedy.unwrap(), Remedy::Wait);
    }
    assert_eq!(place.refresh_requests(), 1);
}

#[tokio::test]
async fn a_clock_that_is_set_back_keeps_nobody_waiting() {
    let place = Place::new("--fail-refresh 503");
    let process = place.logged_in().await;
    let token = process.token().await;
    place.pass(24 * HOUR);
    process.keeper.token().await.unwrap_err();
    place.fake.set_flags("").unwrap();
    place.fake.revoke_access();
    place.set_clock(START);
    process
        .keeper
        .refused(Some(&token), unauthorized())
        .await
        .unwrap();
    assert!(place.takes(&process.keeper.at_hand().unwrap()).await);
}

#[tokio::test]
async fn trouble_with_one_token_is_not_held_against_the_next() {
    let place = Place::new("");
    let (ours, theirs) = (place.logged_in().await, place.process());
    // Nobody could renew this, again and again.
    place.fake.set_flags("--fail-refresh 503").unwrap();
    for _ in 0..8 {
        place.pass(HOUR);
        ours.keeper.token().await.unwrap_err();
    }
    place.fake.set_flags("").unwrap();
    // Somebody else could.
    theirs.token().await;
    let token = ours.token().await;
    let before = place.refresh_requests();
    place.fake.revoke_access();
    ours.keeper
        .refused(Some(&token), unauthorized())
        .await
        .unwrap();
    assert_eq!(place.refresh_requests(), before + 1);
}

#[tokio::test]
async fn the_want_of_a_login_is_not_held_against_the_login() {
    let place = Place::new("");
    let process = place.process();
    for _ in 0..8 {
        place.pass(MINUTE);
        let error = process.keeper.refused(None, unauthorized()).await;
        assert_eq!(error.unwrap_err().remedy(), Remedy::LogIn);
    }
    process.log_in().await;
    let token = process.token().await;
    place.fake.revoke_access();
    process
        .keeper
        .refused(Some(&token), unauthorized())
        .await
        .unwrap();
    assert!(place.takes(&process.keeper.at_hand().unwrap()).await);
}

#[tokio::test]
async fn a_grant_that_has_ended_is_remembered_and_nobody_asks_again() {
    let place = Place::new("");
    let process = place.logged_in().await;
    place.fake.revoke_all();
    place.pass(HOUR);
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert!(error.to_string().contains("the login has ended"), "{error}");
    assert_eq!(place.refresh_requests(), 1);
    for process in [process, place.process(), place.process()] {
        for _ in 0..3 {
            place.pass(2 * MINUTE);
            let again = process.keeper.token().await.unwrap_err();
            assert_eq!(
                (again.remedy(), again.to_string()),
                (Remedy::LogIn, error.to_string())
            );
        }
        let state = process.keeper.state().await.unwrap().unwrap();
        assert_eq!(state.ended, Some(error.to_string()));
        assert!(!state.is_renewable);
    }
    assert_eq!(place.refresh_requests(), 1);
    // The client is still known, and a login mends it.
    let process = place.logged_in().await;
    assert_eq!(place.fake.counters().registrations, 1);
    assert!(place.takes(&process.token().await).await);
    assert_eq!(process.keeper.state().await.unwrap().unwrap().ended, None);
}

#[tokio::test]
async fn a_token_that_can_not_be_renewed_any_more_is_used_until_it_expires() {
    let place = Place::new("--fail-refresh invalid_grant");
    let process = place.logged_in().await;
    let token = process.token().await;
    place.set_clock(START + HOUR - MINUTE);
    assert!(process.token().await.is(&token));
    assert!(process.grant().await.ended.is_some());
    for process in [process, place.process()] {
        assert!(place.takes(&process.token().await).await);
        assert!(
            process.keeper.at_hand().is_some(),
            "it costs no lock each time"
        );
        place.set_clock(START + HOUR - 1);
        assert!(process.keeper.at_hand().is_some());
        place.set_clock(START + HOUR);
        assert!(
            process.keeper.at_hand().is_none(),
            "an expired one is not shown"
        );
        let error = process.keeper.token().await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::LogIn);
        place.set_clock(START + HOUR - MINUTE);
    }
    assert_eq!(place.refresh_requests(), 1);
}

#[tokio::test]
async fn a_client_that_nobody_knows_any_more_is_forgotten_and_registers_anew() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let before = process.grant().await.client;
    assert_eq!(before.registration, Registration::Dynamic);
    place.fake.forget_clients();
    place.pass(HOUR);
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert!(process.kept().await.clients.is_empty());
    // Elsewhere it is known, too.
    let other = place.process();
    other.keeper.token().await.unwrap_err();
    assert_eq!(place.refresh_requests(), 1);
    other.log_in().await;
    assert_eq!(place.fake.counters().registrations, 2);
    let after = other.grant().await.client;
    assert_ne!(after.id, before.id);
    assert!(place.takes(&process.token().await).await);
}

#[tokio::test]
async fn a_secret_that_was_changed_is_used_without_a_new_login() {
    let place = Place::new("--client by-hand:the-first-secret");
    place.keys.set_secret("the-first-secret");
    let mut resource = place.resource();
    resource.client_id = Some("by-hand".to_owned());
    let process = place.process_for(resource);
    process.log_in().await;
    let grant = process.grant().await;
    assert_eq!(
        grant.client.secret, None,
        "it is kept where it was configured"
    );
    // Somebody changes it there, and forgets to do so here.
    place
        .fake
        .set_flags("--client by-hand:the-second-secret")
        .unwrap();
    place.pass(HOUR);
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert!(error.hint_text().unwrap().contains("auth.clientId"));
    assert!(!error.to_string().contains("the-first-secret"), "{error}");
    assert_eq!(process.grant().await, grant, "the login is still good");
    place.keys.set_secret("the-second-secret");
    place.pass(MINUTE);
    assert!(place.takes(&process.token().await).await);
    assert_eq!(process.grant().await.login, grant.login);
}

#[tokio::test]
async fn what_nobody_understands_is_no_reason_to_give_a_login_up() {
    for (failure, remedy) in [("html", Remedy::Wait), ("invalid_request", Remedy::Change)] {
        let place = Place::new(&format!("--fail-refresh {failure}"));
        let process = place.logged_in().await;
        let grant = process.grant().await;
        place.pass(HOUR);
        let error = process.keeper.token().await.unwrap_err();
        assert_eq!(error.remedy(), remedy, "{failure}: {error}");
        assert_eq!(process.grant().await, grant, "{failure}");
        place.fake.set_flags("").unwrap();
        place.pass(MINUTE);
        assert!(place.takes(&process.token().await).await, "{failure}");
    }
}

#[tokio::test]
async fn who_refuses_what_is_new_is_not_given_another_one_at_once() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let first = process.token().await;
    process
        .keeper
        .refused(Some(&first), unauthorized())
        .await
        .unwrap();
    let second = process.token().await;
    assert_eq!(place.refresh_requests(), 1);
    // It was taken, and is refused later: that is another matter.
    process
        .keeper
        .refused(Some(&second), unauthorized())
        .await
        .unwrap();
    assert_eq!(place.refresh_requests(), 2);
    let third = process.token().await;
    process.keeper.in_vain(&third);
    for _ in 0..3 {
        let refused = process.keeper.refused(Some(&third), unauthorized()).await;
        let error = refused.unwrap_err();
        assert_eq!(error.remedy(), Remedy::LogIn, "{error}");
        assert!(error.to_string().contains("though its token is new"));
    }
    assert_eq!(place.refresh_requests(), 2);
    // Not for ever: a server can come to its senses.
    place.pass(MINUTE);
    process
        .keeper
        .refused(Some(&third), unauthorized())
        .await
        .unwrap();
    assert_eq!(place.refresh_requests(), 3);
}

#[tokio::test]
async fn nobody_waits_long_for_a_renewal_that_is_early_and_it_goes_on() {
    let place = Place::new("--token-delay 1500");
    let process = place.logged_in().await;
    let token = process.token().await;
    place.set_clock(START + HOUR - MINUTE);
    let begun = std::time::Instant::now();
    assert!(process.token().await.is(&token), "the old one does");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    // What was begun comes to its end, and is seen then.
    place.until_refreshes(1).await;
    let until = std::time::Instant::now() + SOON;
    while process.grant().await.access_token == *token.secret() {
        assert!(std::time::Instant::now() < until, "it was not saved");
        tokio::task::yield_now().await;
    }
    assert!(!process.token().await.is(&token));
    assert_eq!(place.refresh_requests(), 1);
}

#[tokio::test]
async fn a_status_alone_does_not_end_a_login() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let grant = process.grant().await;
    // Something that stands before the authorization server wants to know who we are.
    let gate = openclaw_testkit::stand_in::StandIn::start(|_| {
        openclaw_testkit::stand_in::Answer::bytes(401, "text/html", "<html>log in</html>")
    })
    .unwrap();
    let other = Url::parse(&format!("{}/token", gate.origin())).unwrap();
    process
        .logins
        .change(SOON, move |kept| {
            Box::pin(async move {
                if let Some(grant) = &mut kept.grant {
                    grant.token_endpoint = other;
                }
                Ok(())
            })
        })
        .await
        .unwrap();
    place.pass(HOUR);
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change, "{error}");
    let after = process.grant().await;
    assert_eq!(after.ended, None);
    assert_eq!(after.refresh_token, grant.refresh_token);
}
