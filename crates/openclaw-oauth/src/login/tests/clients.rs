//! As whom somebody logs in.

use super::*;

#[tokio::test]
async fn a_client_that_registered_itself_is_used_again_on_the_same_port() {
    let place = Place::new("");
    let first = place.process();
    let running = first.begin().await;
    let (port_before, id) = (port(&running), running.begun().client_id.clone());
    first
        .finish(&visit(&running.begun().url).await)
        .await
        .unwrap();
    drop(running);
    for _ in 0..3 {
        let process = place.process();
        let again = process.begin().await;
        assert_eq!(port(&again), port_before);
        assert_eq!(again.begun().client_id, id);
        assert!(
            again.begun().why.contains("before"),
            "{}",
            again.begun().why
        );
        process
            .finish(&visit(&again.begun().url).await)
            .await
            .unwrap();
    }
    assert_eq!(place.fake.counters().registrations, 1);
}

#[tokio::test]
async fn a_client_whose_login_did_not_end_may_be_forgotten_and_registers_anew() {
    let place = Place::new("");
    let process = place.process();
    let first = process.begin().await.begun().client_id.clone();
    let second = process.begin().await;
    assert_ne!(second.begun().client_id, first);
    process
        .finish(&visit(&second.begun().url).await)
        .await
        .unwrap();
    let id = second.begun().client_id.clone();
    drop(second);
    assert_eq!(process.begin().await.begun().client_id, id);
}

#[tokio::test]
async fn where_the_port_is_taken_another_is_registered_and_both_are_remembered() {
    let place = Place::new("");
    let process = place.process();
    let first = process.begin().await;
    let second = process.begin().await;
    assert_ne!(port(&first), port(&second));
    assert_ne!(first.begun().client_id, second.begun().client_id);
    let (port_of_first, port_of_second) = (port(&first), port(&second));
    let ids = (
        first.begun().client_id.clone(),
        second.begun().client_id.clone(),
    );
    for running in [&first, &second] {
        process
            .finish(&visit(&running.begun().url).await)
            .await
            .unwrap();
    }
    // The last one that was registered is preferred, and the first is still known.
    drop(second);
    let third = process.begin().await;
    assert_eq!(
        (port(&third), &third.begun().client_id),
        (port_of_second, &ids.1)
    );
    drop((first, third));
    let mut resource = place.resource();
    resource.redirect = Redirect::Here {
        host: "127.0.0.1".to_owned(),
        port: Some(port_of_first),
        path: "/callback".to_owned(),
    };
    let fixed = place.process_for(resource).begin().await;
    assert_eq!(
        (port(&fixed), &fixed.begun().client_id),
        (port_of_first, &ids.0)
    );
    assert_eq!(place.fake.counters().registrations, 2);
}

#[tokio::test]
async fn a_client_whose_secret_expires_soon_registers_anew() {
    let place = Place::new("--secret-lifetime 3600 --authentication client_secret_basic");
    let real = Clock::system().now();
    place.set_clock(real);
    let process = place.process();
    process.log_in().await;
    let id = process.grant().await.client.id;
    place.set_clock(real + 40 * MINUTE);
    assert_eq!(process.begin().await.begun().client_id, id);
    place.set_clock(real + 50 * MINUTE);
    assert_ne!(process.begin().await.begun().client_id, id);
    assert_eq!(place.fake.counters().registrations, 2);
}

#[tokio::test]
async fn a_client_that_is_forgotten_between_beginning_and_end_is_not_used_again() {
    let place = Place::new("");
    let process = place.process();
    let begun = process.begin().await.begun().url.clone();
    let brought = visit(&begun).await;
    place.fake.forget_clients();
    let error = process.finish(&brought).await.unwrap_err();
    assert!(error.to_string().contains("not accepted"), "{error}");
    let kept = process.kept().await;
    assert!(kept.clients.is_empty() && kept.pending.is_empty());
    process.log_in().await;
    assert_eq!(place.fake.counters().registrations, 2);
}

#[tokio::test]
async fn a_configured_client_registers_nowhere_and_its_secret_is_not_kept() {
    let place = Place::new("--client by-hand:a-secret-of-its-own");
    place.keys.set_secret("a-secret-of-its-own");
    let mut resource = place.resource();
    resource.client_id = Some("by-hand".to_owned());
    let process = place.process_for(resource);
    let running = process.begin().await;
    assert_eq!(running.begun().registration, Registration::Configured);
    assert_eq!(running.begun().client_id, "by-hand");
    process
        .finish(&visit(&running.begun().url).await)
        .await
        .unwrap();
    let kept = process.kept().await;
    assert!(kept.clients.is_empty());
    assert_eq!(kept.grant.unwrap().client.secret, None);
    assert_eq!(place.fake.counters().registrations, 0);
}
