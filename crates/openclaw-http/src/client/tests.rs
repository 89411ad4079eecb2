use std::process::Command;

use h2::server::SendResponse;
use openclaw_testkit::certificates::Authority;
use openclaw_testkit::stand_in::{Answer, StandIn};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn get(address: &str) -> http::Request<Bytes> {
    http::Request::get(address).body(Bytes::new()).unwrap()
}

fn fine() -> Answer {
    Answer::json(200, &json!({}))
}

/// What a test that starts itself once more gives to the second run.
fn of_parent() -> Option<String> {
    std::env::var("OPENCLAW_TEST_ADDRESS").ok()
}

/// Runs a test of this module once more, in a process with other variables.
fn again(test: &str, address: &str, variables: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg(format!("client::tests::{test}"))
        .env("OPENCLAW_TEST_ADDRESS", address)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

fn client() -> Http {
    Http::new(HttpSettings::default())
}

fn trusting(trust: Trust) -> Http {
    Http::new(HttpSettings {
        trust,
        ..HttpSettings::default()
    })
}

#[test]
fn other_spellings_of_this_machine_are_this_machine() {
    for (address, expected) in [
        ("http://127.8.9.1/", true),
        ("http://[::ffff:127.0.0.1]/", true),
        ("http://LOCALHOST./", true),
        ("http://vault.localhost/", true),
        ("http://2130706433/", true),
        ("http://0x7f.1/", true),
        ("http://0.0.0.0/", false),
        ("http://169.254.169.254/", false),
        ("http://[::ffff:10.0.0.1]/", false),
        ("http://localhost.example.com/", false),
        ("http://user@example.com/127.0.0.1", false),
    ] {
        assert_eq!(is_this_machine(&url(address)), expected, "{address}");
    }
}

/// Forbids one address.
struct Not(std::net::IpAddr);

impl AddressRule for Not {
    fn allows(&self, address: std::net::IpAddr) -> bool {
        address != self.0 && !address.is_ipv6()
    }
}

#[tokio::test]
async fn a_forbidden_address_is_not_asked_whatever_it_is_called() {
    let server = StandIn::start(|_| fine()).unwrap();
    let http = Http::new(HttpSettings {
        addresses: Some(Arc::new(Not("127.0.0.1".parse().unwrap()))),
        ..HttpSettings::default()
    });
    let port = server.address().port();
    for host in ["127.0.0.1", "2130706433", "localhost"] {
        let error = http.send(get(&format!("http://{host}:{port}/"))).await;
        let error = error.unwrap_err();
        assert!(matches!(error, HttpError::Forbidden), "{host}: {error}");
        assert!(!error.is_passing());
    }
    assert!(server.asked().is_empty());
    let elsewhere = Http::new(HttpSettings {
        addresses: Some(Arc::new(Not("127.0.0.2".parse().unwrap()))),
        ..HttpSettings::default()
    });
    let answer = elsewhere
        .send(get(&format!("http://localhost:{port}/")))
        .await;
    assert_eq!(answer.unwrap().status(), 200);
}

#[tokio::test]
async fn what_everybody_could_read_is_not_sent() {
    let sent = client().send(get("http://vault.example.com/")).await;
    let error = sent.unwrap_err();
    assert!(matches!(error, HttpError::Readable), "{error}");
    assert!(!error.is_passing());
}

#[tokio::test]
async fn an_answer_may_be_large_but_not_too_large() {
    let server = StandIn::start(|asked| {
        let length = asked.path.trim_start_matches('/').parse().unwrap();
        Answer::bytes(200, "text/plain", vec![b'x'; length])
    });
    let server = server.unwrap();
    let http = client();
    let largest_answer = HttpSettings::default().largest_answer;
    let largest = format!("{}/{largest_answer}", server.origin());
    let answer = http.send(get(&largest)).await.unwrap();
    assert_eq!(answer.body().len(), largest_answer);
    let too_large = format!("{}/{}", server.origin(), largest_answer + 1);
    let error = http.send(get(&too_large)).await.unwrap_err();
    assert!(matches!(error, HttpError::TooLarge(_)), "{error}");
    assert!(!error.is_passing());
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = StandIn::start(|_| fine()).unwrap();
    let there = elsewhere.origin();
    let server = StandIn::start(move |_| fine_with_status(307).header("location", there.clone()));
    let server = server.unwrap();
    let mut request = get(&server.origin());
    let headers = request.headers_mut();
    headers.insert("x-vault-token", "hunter2-hunter2".parse().unwrap());
    let answer = client().send(request).await.unwrap();
    assert_eq!(answer.status(), 307);
    assert_eq!(answer.headers()["location"], elsewhere.origin());
    assert_eq!(server.asked().len(), 1);
    assert!(elsewhere.asked().is_empty());
}

fn fine_with_status(status: u16) -> Answer {
    Answer::json(status, &json!({}))
}

#[tokio::test]
async fn nobody_at_home_may_pass() {
    // The port was free a moment ago, and belongs to nobody now.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = client().send(get(&address)).await.unwrap_err();
    assert!(error.is_passing());
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(!error.to_string().contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn an_authority_of_our_own_is_needed_and_used() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.issue("127.0.0.1").unwrap().acceptor(None);
    let server = StandIn::start_with_tls(acceptor.unwrap(), |_| fine()).unwrap();

    let stranger = Authority::new().unwrap();
    let wrong = trusting(Trust {
        authorities: Certificate::from_pem_bundle(stranger.pem().as_bytes()).unwrap(),
        ..Trust::default()
    });
    for http in [client(), wrong] {
        let error = http.send(get(&server.origin())).await.unwrap_err();
        assert!(matches!(error, HttpError::Insecure(_)), "{error}");
        assert!(error.to_string().contains("UnknownIssuer"), "{error}");
        assert!(!error.is_passing());
    }
    assert!(server.asked().is_empty());

    let right = trusting(Trust {
        authorities: Certificate::from_pem_bundle(authority.pem().as_bytes()).unwrap(),
        ..Trust::default()
    });
    let answer = right.send(get(&server.origin())).await.unwrap();
    assert_eq!(answer.status(), 200);

    // The certificate is of the address, not of the name.
    let by_name = format!("https://localhost:{}/", server.address().port());
    let error = right.send(get(&by_name)).await.unwrap_err();
    assert!(matches!(error, HttpError::Insecure(_)), "{error}");
}

#[tokio::test]
async fn a_certificate_of_our_own_is_shown() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.issue("127.0.0.1").unwrap();
    let acceptor = acceptor.acceptor(Some(&authority)).unwrap();
    let server = StandIn::start_with_tls(acceptor, |_| fine()).unwrap();
    let authorities = || Certificate::from_pem_bundle(authority.pem().as_bytes()).unwrap();

    let nobody = trusting(Trust {
        authorities: authorities(),
        ..Trust::default()
    });
    let error = nobody.send(get(&server.origin())).await.unwrap_err();
    assert!(matches!(error, HttpError::Insecure(_)), "{error}");
    assert!(error.to_string().contains("CertificateRequired"), "{error}");

    let client = authority.issue("client").unwrap();
    let pem = format!("{}{}", client.certificate, client.key);
    let somebody = trusting(Trust {
        authorities: authorities(),
        identity: Some(Identity::from_pem(pem.as_bytes()).unwrap()),
        ..Trust::default()
    });
    let answer = somebody.send(get(&server.origin())).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_proxy_leads_away_from_this_machine_and_not_back_to_it() {
    if let Some(address) = of_parent() {
        let http = client();
        assert_eq!(http.send(get(&address)).await.unwrap().status(), 200);
        // A name that nobody has: only the proxy is asked for it.
        let far = http.send(get("https://vault.invalid/")).await;
        assert!(far.is_err());
        return;
    }
    let proxy = StandIn::start(|_| fine_with_status(502)).unwrap();
    let server = StandIn::start(|_| fine()).unwrap();
    let through = proxy.origin();
    let variables = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"];
    again(
        "a_proxy_leads_away_from_this_machine_and_not_back_to_it",
        &server.origin(),
        &variables.map(|name| (name, through.as_str())),
    );
    assert_eq!(server.asked().len(), 1);
    let asked = proxy.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].method, "CONNECT");
    assert_eq!(asked[0].header("host"), Some("vault.invalid:443"));
}

#[tokio::test]
async fn a_machine_without_authorities_can_ask_itself() {
    if let Some(address) = of_parent() {
        let http = client();
        assert_eq!(http.send(get(&address)).await.unwrap().status(), 200);
        let error = http.send(get("https://127.0.0.1:1/")).await.unwrap_err();
        assert!(error.to_string().contains("No CA certificates"), "{error}");
        return;
    }
    let server = StandIn::start(|_| fine()).unwrap();
    let variables = [
        ("SSL_CERT_FILE", "/nonexistent"),
        ("SSL_CERT_DIR", "/nonexistent"),
    ];
    again(
        "a_machine_without_authorities_can_ask_itself",
        &server.origin(),
        &variables,
    );
    assert_eq!(server.asked().len(), 1);
}

/// A body in several pieces, one of which is large.
fn in_pieces() -> Outgoing {
    let large = Bytes::from(vec![b'x'; 5_000_000]);
    ["before ".into(), large, " after".into()]
        .into_iter()
        .collect()
}

fn post(address: &str) -> http::Request<Outgoing> {
    http::Request::post(address).body(in_pieces()).unwrap()
}

#[tokio::test]
async fn a_body_in_pieces_arrives_whole_and_its_length_is_told() {
    let server = StandIn::start(|_| fine()).unwrap();
    let http = client();
    for _ in 0..2 {
        http.open(post(&server.origin())).await.unwrap();
    }
    for asked in server.asked() {
        assert_eq!(asked.header("content-length"), Some("5000013"));
        assert_eq!(asked.header("transfer-encoding"), None);
        assert!(asked.body == in_pieces().into_vec());
    }
    assert_eq!(server.asked().len(), 2);
}

/// Takes one request over HTTP/2; what it says its length is, and its body.
async fn taken(listener: TcpListener, acceptor: TlsAcceptor) -> (Option<String>, Vec<u8>) {
    let (stream, _) = listener.accept().await.unwrap();
    let stream = acceptor.accept(stream).await.unwrap();
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let (request, mut respond): (_, SendResponse<Bytes>) =
        connection.accept().await.unwrap().unwrap();
    // Nothing moves on the connection unless it is asked for more.
    tokio::spawn(async move { while connection.accept().await.is_some() {} });
    let length = request.headers().get("content-length").cloned();
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data.unwrap();
        body.flow_control().release_capacity(data.len()).unwrap();
        bytes.extend_from_slice(&data);
    }
    let response = http::Response::new(());
    respond.send_response(response, true).unwrap();
    (length.map(|it| it.to_str().unwrap().to_owned()), bytes)
}

#[tokio::test]
async fn a_body_in_pieces_arrives_whole_over_the_second_version_too() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.issue("127.0.0.1").unwrap().acceptor(None);
    let mut config = (**acceptor.unwrap().config()).clone();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("https://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(taken(listener, TlsAcceptor::from(Arc::new(config))));
    let http = trusting(Trust {
        authorities: Certificate::from_pem_bundle(authority.pem().as_bytes()).unwrap(),
        ..Trust::default()
    });
    let answer = http.open(post(&address)).await.unwrap();
    assert_eq!(answer.status(), 200);
    let (length, body) = server.await.unwrap();
    assert_eq!(length.as_deref(), Some("5000013"));
    assert!(body == in_pieces().into_vec());
}
