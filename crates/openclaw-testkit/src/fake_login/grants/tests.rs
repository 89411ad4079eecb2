use super::*;

const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-a-proper-one";
const HERE: &str = "http://127.0.0.1:1/mcp";
const BACK: &str = "http://127.0.0.1:2/callback";
const MANNER: Manner = Manner {
    lifetime: Duration::from_secs(10),
    refreshes: true,
    rotates: true,
    grace: Duration::ZERO,
    single: false,
};

fn allowed() -> Allowed {
    Allowed {
        client: "client".to_owned(),
        scopes: vec!["tools".to_owned(), "admin".to_owned()],
        resource: Some(HERE.to_owned()),
    }
}

fn code(grants: &mut Grants, now: Instant) -> String {
    let request = CodeRequest {
        allowed: allowed(),
        redirect_uri: BACK.to_owned(),
        challenge: URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes())),
    };
    grants.give_code(request, now)
}

fn description(outcome: Result<Given, Refused>) -> String {
    let refused = outcome.unwrap_err();
    assert_eq!(refused.error, "invalid_grant");
    refused.description
}

#[test]
fn a_code_is_exchanged_by_whom_it_was_given_to_and_by_nobody_else() {
    let (mut grants, now) = (Grants::default(), Instant::now());
    let code = code(&mut grants, now);
    let other = VERIFIER.replace('a', "b");
    for (client, redirect_uri, verifier, after, words) in [
        ("other", BACK, VERIFIER, 0, "the code is somebody else's"),
        (
            "client",
            "http://127.0.0.1:3/callback",
            VERIFIER,
            0,
            "redirect_uri is not that of the code",
        ),
        ("client", BACK, &other, 0, "code_verifier does not fit"),
        ("client", BACK, "short", 0, "code_verifier is no proper one"),
        ("client", BACK, VERIFIER, 600, "the code has expired"),
    ] {
        let then = now + Duration::from_secs(after);
        let refused = grants.redeem(&code, client, redirect_uri, verifier, MANNER, then);
        assert_eq!(description(refused), words);
    }
    let given = grants.redeem(&code, "client", BACK, VERIFIER, MANNER, now);
    assert!(given.unwrap().refresh.is_some());
}

#[test]
fn a_code_that_comes_twice_ends_what_it_was_exchanged_for() {
    let (mut grants, now) = (Grants::default(), Instant::now());
    let code = code(&mut grants, now);
    let mut redeem = || grants.redeem(&code, "client", BACK, VERIFIER, MANNER, now);
    let given = redeem().unwrap();
    assert_eq!(description(redeem()), "the code was used before");
    let scopes = grants.scopes_of(&given.access, &[HERE], now);
    assert_eq!(scopes, Err(Useless::Revoked));
}

#[test]
fn an_access_token_is_good_at_its_own_resource_for_its_life() {
    let (mut grants, now) = (Grants::default(), Instant::now());
    let access = grants.give(allowed(), MANNER, now).access;
    let scopes = grants.scopes_of(&access, &["http://other", HERE], now);
    assert_eq!(scopes.unwrap(), ["tools", "admin"]);
    let elsewhere = grants.scopes_of(&access, &["http://127.0.0.1:1/second"], now);
    assert_eq!(elsewhere, Err(Useless::OtherResource));
    let later = grants.scopes_of(&access, &[HERE], now + MANNER.lifetime);
    assert_eq!(later, Err(Useless::Expired));
    let unknown = grants.scopes_of("access-of-nobody", &[HERE], now);
    assert_eq!(unknown, Err(Useless::Unknown));
}

#[test]
fn a_refresh_token_that_comes_again_ends_the_whole_login() {
    let (mut grants, now) = (Grants::default(), Instant::now());
    let first = grants.give(allowed(), MANNER, now).refresh.unwrap();
    let second = grants.renew(&first, "client", None, MANNER, now).unwrap();
    assert!(!second.is_repeat);
    let again = grants.renew(&first, "client", None, MANNER, now);
    assert_eq!(description(again), "the refresh token was used before");
    assert_eq!(grants.reuses, 1);
    let scopes = grants.scopes_of(&second.access, &[HERE], now);
    assert_eq!(scopes, Err(Useless::Revoked));
    let next = grants.renew(&second.refresh.unwrap(), "client", None, MANNER, now);
    assert_eq!(description(next), "the refresh token was revoked");
}

#[test]
fn with_grace_a_refresh_token_may_come_again_until_its_successor_is_used() {
    let manner = Manner {
        grace: Duration::from_secs(5),
        ..MANNER
    };
    let (mut grants, now) = (Grants::default(), Instant::now());
    let first = grants.give(allowed(), manner, now).refresh.unwrap();
    let mut renew = |token: &str, after: u64| {
        let then = now + Duration::from_secs(after);
        grants.renew(token, "client", None, manner, then)
    };
    let lost = renew(&first, 0).unwrap();
    let repeated = renew(&first, 4).unwrap();
    assert_eq!((lost.is_repeat, repeated.is_repeat), (false, true));
    let third = renew(&repeated.refresh.unwrap(), 4).unwrap().refresh;
    assert_eq!(
        description(renew(&first, 4)),
        "the refresh token was used before"
    );
    assert_eq!(
        description(renew(&third.unwrap(), 4)),
        "the refresh token was revoked"
    );
    // And not after the grace, even if nobody used the successor.
    let mut grants = Grants::default();
    let first = grants.give(allowed(), manner, now).refresh.unwrap();
    grants.renew(&first, "client", None, manner, now).unwrap();
    let late = grants.renew(&first, "client", None, manner, now + manner.grace);
    assert_eq!(description(late), "the refresh token was used before");
}

#[test]
fn without_rotation_a_refresh_token_stays() {
    let manner = Manner {
        rotates: false,
        ..MANNER
    };
    let (mut grants, now) = (Grants::default(), Instant::now());
    let token = grants.give(allowed(), manner, now).refresh.unwrap();
    for _ in 0..3 {
        let given = grants.renew(&token, "client", None, manner, now).unwrap();
        assert_eq!((given.refresh, given.is_repeat), (None, false));
    }
}

#[test]
fn a_refresh_token_is_its_clients_alone_and_allows_no_more_than_was_granted() {
    let (mut grants, now) = (Grants::default(), Instant::now());
    let token = grants.give(allowed(), MANNER, now).refresh.unwrap();
    let stolen = grants.renew(&token, "other", None, MANNER, now);
    assert_eq!(description(stolen), "the refresh token is somebody else's");
    let more = Some(vec!["tools".to_owned(), "root".to_owned()]);
    let more = grants.renew(&token, "client", more, MANNER, now);
    assert_eq!(more.unwrap_err().error, "invalid_scope");
    let fewer = Some(vec!["tools".to_owned()]);
    let given = grants.renew(&token, "client", fewer, MANNER, now).unwrap();
    assert_eq!(given.scopes, ["tools"]);
    assert_eq!(
        grants.scopes_of(&given.access, &[HERE], now).unwrap(),
        ["tools"]
    );
}

#[test]
fn tokens_that_are_given_back_are_useless_with_what_they_stand_for() {
    let (mut grants, now) = (Grants::default(), Instant::now());
    let given = grants.give(allowed(), MANNER, now);
    let (access, refresh) = (given.access, given.refresh.unwrap());
    assert!(!grants.take_back(&refresh, "other"));
    assert!(!grants.take_back("unknown", "client"));
    assert!(grants.scopes_of(&access, &[HERE], now).is_ok());
    assert!(grants.take_back(&access, "client"));
    assert_eq!(
        grants.scopes_of(&access, &[HERE], now),
        Err(Useless::Revoked)
    );
    let renewed = grants.renew(&refresh, "client", None, MANNER, now).unwrap();
    assert!(grants.take_back(&refresh, "client"));
    assert_eq!(
        grants.scopes_of(&renewed.access, &[HERE], now),
        Err(Useless::Revoked)
    );
}

#[test]
fn a_single_access_token_ends_those_before_it() {
    let manner = Manner {
        single: true,
        ..MANNER
    };
    let (mut grants, now) = (Grants::default(), Instant::now());
    let given = grants.give(allowed(), manner, now);
    let renewed = grants.renew(&given.refresh.unwrap(), "client", None, manner, now);
    let before = grants.scopes_of(&given.access, &[HERE], now);
    assert_eq!(before, Err(Useless::Revoked));
    let after = grants.scopes_of(&renewed.unwrap().access, &[HERE], now);
    assert!(after.is_ok());
}
