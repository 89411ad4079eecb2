use std::io::Write as _;

use openclaw_testkit::certificates::Authority;
use openclaw_testkit::stand_in::{Answer, StandIn};
use serde_json::json;

use super::*;
use crate::error::Remedy;
use crate::resource::OwnCertificate;
use crate::testing::{asking, field, resource, url};

fn fine() -> Answer {
    Answer::json(200, &json!({ "fine": true }))
}

fn redirect(status: u16, to: impl Into<String>) -> Answer {
    Answer::bytes(status, "text/html", "").header("location", to)
}

fn place(server: &StandIn, path: &str) -> Url {
    url(&format!("{}{path}", server.origin()))
}

#[tokio::test]
async fn a_document_is_asked_for_with_the_version_of_the_rules() {
    let server = StandIn::start(|_| fine()).unwrap();
    let answer = asking(&server.origin())
        .get(&place(&server, "/a?b=c"))
        .await;
    assert_eq!(answer.unwrap().status(), 200);
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(asked[0].header("accept"), Some("application/json"));
    assert_eq!(asked[0].query, "b=c");
}

#[tokio::test]
async fn ways_at_the_same_origin_are_followed_a_few_times() {
    let server = StandIn::start(|asked| match asked.path.as_str() {
        "/5" => fine(),
        "/loop" => redirect(302, "/loop"),
        path => {
            let number: u32 = path.trim_start_matches('/').parse().unwrap();
            redirect(308, format!("{}", number + 1))
        }
    });
    let server = server.unwrap();
    let asking = asking(&server.origin());
    let answer = asking.get(&place(&server, "/0")).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(server.asked().len(), 6);
    let error = asking.get(&place(&server, "/loop?x=secret")).await;
    let error = error.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert_eq!(
        error.to_string(),
        format!(
            "{}/loop leads on and on, more than 5 times",
            server.origin()
        )
    );
    assert_eq!(server.asked().len(), 12);
}

#[tokio::test]
async fn ways_to_others_are_not_followed() {
    let elsewhere = StandIn::start(|_| fine()).unwrap();
    let there = elsewhere.origin();
    let server = StandIn::start(move |asked| match asked.path.as_str() {
        "/other" => redirect(302, there.clone()),
        "/file" => redirect(302, "file:///etc/passwd"),
        _ => redirect(302, "http://["),
    });
    let server = server.unwrap();
    for path in ["/other", "/file", "/broken"] {
        let error = asking(&server.origin()).get(&place(&server, path)).await;
        let error = error.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        let expected = "leads to another server, and that is not followed";
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn nobody_is_followed_with_a_form() {
    let elsewhere = StandIn::start(|_| fine()).unwrap();
    let there = elsewhere.origin();
    let server = StandIn::start(move |_| redirect(307, there.clone())).unwrap();
    let asking = asking(&server.origin());
    let mut form = Form::default();
    form.hidden("code", &openclaw_secrets::Secret::new("c0de"));
    let answer = asking.post_form(&place(&server, "/token"), &form).await;
    assert_eq!(answer.unwrap().status(), 307);
    let (register, nothing) = (place(&server, "/register"), json!({}));
    let answer = asking.post_json(&register, &nothing).await;
    assert_eq!(answer.unwrap().status(), 307);
    assert!(elsewhere.asked().is_empty());
    let asked = server.asked();
    assert_eq!(field(&asked[0], "code").as_deref(), Some("c0de"));
    assert_eq!(
        asked[0].header("content-type"),
        Some("application/x-www-form-urlencoded")
    );
    assert_eq!(asked[1].header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn too_much_is_not_taken() {
    let server = StandIn::start(|_| Answer::bytes(200, JSON, vec![b' '; 10_000_000])).unwrap();
    let error = asking(&server.origin()).get(&place(&server, "/")).await;
    let error = error.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert!(
        error.to_string().contains("more than 1048576 bytes"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_is_not_waited_for() {
    let server = StandIn::start(|_| fine().after(Duration::from_mins(10))).unwrap();
    let error = asking(&server.origin()).get(&place(&server, "/slow")).await;
    let error = error.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait);
    assert_eq!(
        error.to_string(),
        format!("{}/slow does not answer within 10 seconds", server.origin())
    );
}

#[tokio::test]
async fn who_is_not_there_may_come_back() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = asking(&address).get(&url(&address)).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait);
    assert!(error.to_string().contains("can't be reached"), "{error}");
}

#[test]
fn what_may_be_asked_depends_on_where_the_server_is() {
    let (far, near) = ("https://mcp.example.com/mcp", "http://127.0.0.1:1/mcp");
    for (server, address, expected) in [
        (far, "https://auth.example.com/x", None),
        (
            far,
            "http://auth.example.com/x?secret",
            Some("only `https://` is"),
        ),
        (near, "http://auth.example.com/", Some("only `https://` is")),
        (
            far,
            "http://127.0.0.1/",
            Some("it is on this machine, and the server is not"),
        ),
        (
            far,
            "https://localhost/",
            Some("it is on this machine, and the server is not"),
        ),
        (
            far,
            "https://[::1]/",
            Some("it is on this machine, and the server is not"),
        ),
        (near, "http://localhost:2/", None),
        (near, "http://[::1]:2/", None),
        (near, "https://auth.example.com/", None),
        (far, "ftp://auth.example.com/", Some("only `https://` is")),
        (near, "ftp://127.0.0.1/", Some("only `https://` is")),
        (far, "javascript:alert(1)", Some("only `https://` is")),
        (
            far,
            "https://user@auth.example.com/",
            Some("it has a password in it"),
        ),
        (
            far,
            "https://:pw@auth.example.com/",
            Some("it has a password in it"),
        ),
    ] {
        let found = asking(server).check(&url(address)).err();
        assert_eq!(found.is_some(), expected.is_some(), "{address}");
        if let (Some(error), Some(expected)) = (found, expected) {
            assert_eq!(error.remedy(), Remedy::Change);
            let text = error.to_string();
            assert!(
                text.ends_with(&format!("is not asked: {expected}")),
                "{text}"
            );
            assert!(!text.contains("secret") && !text.contains("pw@"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_server_out_there_does_not_lead_in_here() {
    let inside = StandIn::start(|_| fine()).unwrap();
    let port = inside.address().port();
    // A number, so that where it is can be known without asking anybody.
    let asking = asking("https://203.0.113.7/mcp");
    for address in [
        "https://10.0.0.1/".to_owned(),
        "https://192.168.1.1/".to_owned(),
        "https://169.254.169.254/".to_owned(),
        "https://[fd00:ec2::254]/".to_owned(),
        "https://[::ffff:10.0.0.1]/".to_owned(),
        "https://0.0.0.0/".to_owned(),
        format!("https://0.0.0.0:{port}/"),
    ] {
        let error = asking.get(&url(&address)).await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change, "{error}");
        assert!(
            error.to_string().contains("not on a public network"),
            "{error}"
        );
    }
    assert!(inside.asked().is_empty());
}

#[tokio::test]
async fn a_name_is_what_it_leads_to() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.issue("localhost").unwrap().acceptor(None);
    let inside = StandIn::start_with_tls(acceptor.unwrap(), |_| fine()).unwrap();
    // The name of this machine is the only one that leads anywhere without anybody being asked.
    let by_name = url(&format!("https://localhost:{}/", inside.address().port()));
    let asking = asking("https://203.0.113.7/mcp");
    let others = asking.others.get_or_init(|| asking.others()).await;
    let request = Request::get(by_name.as_str()).body(Bytes::new()).unwrap();
    let error = others.http.send(request).await.unwrap_err();
    assert!(matches!(error, HttpError::Forbidden), "{error}");
    assert!(inside.asked().is_empty());
}

#[tokio::test]
async fn where_nothing_can_be_looked_up_it_may_be_different_later() {
    let asking = asking("https://nobody.invalid/mcp");
    let error = asking.get(&url("https://10.0.0.1/")).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait, "{error}");
}

#[tokio::test]
async fn who_is_inside_or_named_in_the_configuration_may_be_inside() {
    for (server, configured, internal, this_machine) in [
        ("https://203.0.113.7/mcp", None, false, false),
        ("https://10.1.2.3/mcp", None, true, false),
        (
            "https://203.0.113.7/mcp",
            Some("https://10.1.2.3/"),
            true,
            false,
        ),
        (
            "https://203.0.113.7/mcp",
            Some("https://127.0.0.1/"),
            false,
            true,
        ),
        ("http://localhost:1/mcp", None, false, true),
    ] {
        let mut resource = resource(server);
        resource.authorization_server = configured.map(url);
        let (allowed, is_certain) = Asking::new(&resource).unwrap().allowed().await;
        assert!(is_certain, "{server}");
        let expected = Allowed {
            this_machine,
            internal,
        };
        assert_eq!(allowed, expected, "{server} {configured:?}");
    }
}

#[tokio::test]
async fn certificates_are_checked_but_for_the_servers_own_where_that_is_said() {
    let authority = Authority::new().unwrap();
    let acceptor = || {
        let issued = authority.issue("127.0.0.1").unwrap();
        issued.acceptor(None).unwrap()
    };
    let own = StandIn::start_with_tls(acceptor(), |_| fine()).unwrap();
    let other = StandIn::start_with_tls(acceptor(), |_| fine()).unwrap();

    let mut resource = resource(&own.origin());
    resource.verify = false;
    let unverified = Asking::new(&resource).unwrap();
    let answer = unverified.get(&place(&own, "/")).await.unwrap();
    assert_eq!(answer.status(), 200);
    let error = unverified.get(&place(&other, "/")).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert!(error.to_string().contains("can't be secured"), "{error}");

    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(authority.pem().as_bytes()).unwrap();
    resource.verify = true;
    resource.authorities = Some(file.path().to_owned());
    let trusting = Asking::new(&resource).unwrap();
    for server in [&own, &other] {
        let answer = trusting.get(&place(server, "/")).await.unwrap();
        assert_eq!(answer.status(), 200);
    }
}

#[tokio::test]
async fn our_certificate_is_shown_to_the_server_itself_alone() {
    let authority = Authority::new().unwrap();
    let asking_for_one = || {
        let issued = authority.issue("127.0.0.1").unwrap();
        issued.acceptor(Some(&authority)).unwrap()
    };
    let own = StandIn::start_with_tls(asking_for_one(), |_| fine()).unwrap();
    let other = StandIn::start_with_tls(asking_for_one(), |_| fine()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let client = authority.issue("client").unwrap();
    let mut resource = resource(&own.origin());
    resource.authorities = Some(write("authority.pem", &authority.pem()));
    resource.identity = Some(OwnCertificate {
        certificate: write("client.pem", &client.certificate),
        key: Some(write("client.key", &client.key)),
    });
    let asking = Asking::new(&resource).unwrap();
    let answer = asking.get(&place(&own, "/")).await.unwrap();
    assert_eq!(answer.status(), 200);
    let error = asking.get(&place(&other, "/")).await.unwrap_err();
    assert!(error.to_string().contains("CertificateRequired"), "{error}");

    resource.identity = Some(OwnCertificate {
        certificate: directory.path().join("authority.pem"),
        key: None,
    });
    let error = Asking::new(&resource).err().unwrap().to_string();
    assert!(
        error.ends_with("has no certificate with its key in PEM"),
        "{error}"
    );
}

#[test]
fn authorities_that_are_none_are_told() {
    let mut resource = resource("https://mcp.example.com/");
    let file = tempfile::NamedTempFile::new().unwrap();
    resource.authorities = Some(file.path().to_owned());
    let error = Asking::new(&resource).err().unwrap();
    assert!(
        error.to_string().ends_with("has no certificate in PEM"),
        "{error}"
    );
    resource.authorities = Some("/nonexistent/authorities.pem".into());
    let error = Asking::new(&resource).err().unwrap();
    assert_eq!(
        error.to_string(),
        "cannot find /nonexistent/authorities.pem"
    );
}
