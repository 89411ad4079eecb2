//! Clients that log in on their own account.

use super::*;
use crate::resource::Resource;

const CLIENT: &str = "--client robot:the-secret-of-the-robot";

fn robot(place: &Place) -> Resource {
    place.keys.set_secret("the-secret-of-the-robot");
    let mut resource = place.resource();
    resource.grant = Grant::ClientCredentials;
    resource.client_id = Some("robot".to_owned());
    resource
}

fn tokens(place: &Place) -> u64 {
    place.fake.counters().client_credentials
}

#[tokio::test]
async fn a_client_gets_its_tokens_by_itself_one_for_all_who_need_it() {
    let place = Place::new(&format!("{CLIENT} --token-delay 20"));
    let process = place.process_for(robot(&place));
    let other = place.process_for(robot(&place));
    for round in 1..=3 {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..16 {
            let keeper = Arc::clone(if number % 2 == 0 {
                &process.keeper
            } else {
                &other.keeper
            });
            tasks.spawn(async move { keeper.token().await.unwrap().unwrap() });
        }
        while let Some(token) = tasks.join_next().await {
            assert!(place.takes(&token.unwrap()).await);
        }
        assert_eq!(tokens(&place), round);
        assert!(process.keeper.at_hand().is_some());
        place.pass(HOUR);
    }
    let grant = process.grant().await;
    assert_eq!(grant.refresh_token, None);
    assert_eq!(place.refresh_requests(), 0);
    assert!(process.keeper.state().await.unwrap().unwrap().is_renewable);
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_by_another() {
    let place = Place::new(CLIENT);
    let process = place.process_for(robot(&place));
    let token = process.token().await;
    place.fake.revoke_all();
    process
        .keeper
        .refused(Some(&token), unauthorized())
        .await
        .unwrap();
    assert!(place.takes(&process.keeper.at_hand().unwrap()).await);
    assert_eq!(tokens(&place), 2);
}

#[tokio::test]
async fn a_client_gets_wider_tokens_without_a_person() {
    let place = Place::new(CLIENT);
    let process = place.process_for(robot(&place));
    let token = process.token().await;
    assert_eq!(process.grant().await.scopes, ["tools"]);
    let widen = process
        .keeper
        .refused(Some(&token), insufficient(&["admin"]));
    widen.await.unwrap();
    assert_eq!(process.grant().await.scopes, ["tools", "admin"]);
    assert!(!process.keeper.at_hand().unwrap().is(&token));
    // And keeps what it has got.
    place.pass(HOUR);
    process.token().await;
    assert_eq!(process.grant().await.scopes, ["tools", "admin"]);
    assert_eq!(tokens(&place), 3);
}

#[tokio::test]
async fn trouble_is_waited_out_and_a_wrong_secret_is_said() {
    let place = Place::new(CLIENT);
    let process = place.process_for(robot(&place));
    let token = process.token().await;
    place.fake.set_flags("--fault down-metadata").unwrap();
    place.set_clock(START + HOUR - MINUTE);
    assert!(process.token().await.is(&token));
    place.set_clock(START + HOUR);
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait, "{error}");
    place
        .fake
        .set_flags("--client robot:another-secret")
        .unwrap();
    place.pass(MINUTE);
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change, "{error}");
    place.keys.set_secret("another-secret");
    place.pass(MINUTE);
    assert!(place.takes(&process.token().await).await);
}

#[tokio::test]
async fn another_client_gets_a_token_of_its_own() {
    let place = Place::new(&format!("{CLIENT} --client other:the-secret-of-the-robot"));
    let first = place.process_for(robot(&place)).token().await;
    let mut resource = robot(&place);
    resource.client_id = Some("other".to_owned());
    let process = place.process_for(resource);
    let token = process.token().await;
    assert_ne!(token.secret(), first.secret());
    assert_eq!(process.grant().await.client.id, "other");
    assert!(process.keeper.at_hand().unwrap().is(&token));
    assert_eq!(tokens(&place), 2);
}

#[tokio::test]
async fn what_was_granted_to_a_person_is_not_what_a_client_has_and_the_other_way_round() {
    let place = Place::new(CLIENT);
    let mut person = robot(&place);
    person.grant = Grant::AuthorizationCode;
    let logged_in = place.process_for(person.clone());
    logged_in.log_in().await;
    let of_person = logged_in.token().await;
    let process = place.process_for(robot(&place));
    let own = process.token().await;
    assert_ne!(own.secret(), of_person.secret());
    assert_eq!(tokens(&place), 1);
    let error = place.process_for(person).keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn, "{error}");
}

#[tokio::test]
async fn what_can_never_be_opened_is_replaced() {
    let place = Place::new(CLIENT);
    let process = place.process_for(robot(&place));
    std::fs::create_dir_all(process.logins.path().parent().unwrap()).unwrap();
    std::fs::write(process.logins.path(), "no login of ours").unwrap();
    assert!(place.takes(&process.token().await).await);
    let saved = process.grant().await.access_token;
    assert_eq!(saved, *process.token().await.secret());
    assert_eq!(tokens(&place), 1);
}

#[tokio::test]
async fn what_can_not_be_opened_now_is_left_alone_and_a_secret_is_shown_to_nobody_new() {
    let place = Place::new(CLIENT);
    let known = place.process_for(robot(&place));
    known.token().await;
    let path = known.logins.path();
    let mut file: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    file["data"]["key"] = serde_json::json!("0000000000000000");
    file["data"]["keyPlace"] = serde_json::json!("keyring");
    std::fs::write(path, file.to_string()).unwrap();
    let before = std::fs::read(path).unwrap();

    // Whom the secret was shown to is not known without the file.
    let process = place.process_for(robot(&place));
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait, "{error}");
    assert_eq!(tokens(&place), 1);

    // Unless the configuration says who it is.
    let mut resource = robot(&place);
    resource.authorization_server = Some(place.fake.issuer().parse().unwrap());
    let process = place.process_for(resource.clone());
    let token = process.token().await;
    assert!(place.takes(&token).await);
    assert!(process.keeper.at_hand().unwrap().is(&token));
    assert_eq!(tokens(&place), 2);

    // And one that gives nothing is not asked with every request.
    place.keys.set_secret("a-secret-that-nobody-knows");
    let process = place.process_for(resource);
    let asked = place.token_requests();
    for _ in 0..5 {
        process.keeper.token().await.unwrap_err();
    }
    assert_eq!(place.token_requests(), asked + 1);
    assert_eq!(std::fs::read(path).unwrap(), before);
}
