//! Servers that want more than was granted.

use super::*;

#[tokio::test]
async fn scopes_that_are_missing_are_remembered_for_the_next_login() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let token = process.token().await;
    let widen = |scopes| process.keeper.refused(Some(&token), insufficient(scopes));
    let error = widen(&["admin"]).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert!(error.to_string().contains(": admin"), "{error}");
    // Saying it again changes nothing.
    let stamp = process.logins.stamp();
    widen(&["admin", "tools"]).await.unwrap_err();
    assert_eq!(process.logins.stamp(), stamp);
    assert_eq!(process.kept().await.wanted_scopes, ["admin"]);
    // Everything else goes on.
    assert_eq!(process.token().await.secret(), token.secret());
    assert!(place.takes(&token).await);
    // Another process is where the person logs in.
    let logged_in = place.process().log_in().await;
    assert_eq!(logged_in.scopes, ["tools", "admin"]);
    assert!(process.kept().await.wanted_scopes.is_empty());
    // Who was refused with the old one tries again.
    widen(&["admin"]).await.unwrap();
    let newer = process.keeper.at_hand().unwrap();
    assert_ne!(newer.secret(), token.secret());
    assert_eq!(place.refresh_requests(), 0);
}

#[tokio::test]
async fn a_renewal_takes_no_scope_away_and_no_wish() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let token = process.token().await;
    let widen = process
        .keeper
        .refused(Some(&token), insufficient(&["admin"]));
    widen.await.unwrap_err();
    place.pass(HOUR);
    process.token().await;
    let kept = process.kept().await;
    assert_eq!(kept.wanted_scopes, ["admin"]);
    assert_eq!(kept.grant.unwrap().scopes, ["tools"]);
}

#[tokio::test]
async fn a_server_that_does_not_say_what_is_missing_is_not_asked_again() {
    let place = Place::new("");
    let process = place.logged_in().await;
    let token = process.token().await;
    let stamp = process.logins.stamp();
    for scopes in [&[][..], &["tools"]] {
        let widen = process.keeper.refused(Some(&token), insufficient(scopes));
        assert_eq!(widen.await.unwrap_err().remedy(), Remedy::Change);
    }
    assert_eq!(process.logins.stamp(), stamp);
    assert_eq!(place.token_requests(), 1, "that of the login");
}
