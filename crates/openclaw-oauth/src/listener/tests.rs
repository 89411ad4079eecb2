use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::*;

/// Long enough for everything that does happen, on a busy machine.
const SOON: Duration = Duration::from_mins(1);

fn here(host: &str, path: &str) -> Redirect {
    Redirect::Here {
        host: host.to_owned(),
        port: None,
        path: path.to_owned(),
    }
}

fn listening() -> CallbackListener {
    within(LIMITS)
}

fn within(limits: Limits) -> CallbackListener {
    let redirect = here("127.0.0.1", "/callback");
    let bound = CallbackListener::bind_within(&redirect, None, limits);
    bound.unwrap()
}

fn port(listener: &CallbackListener) -> u16 {
    Url::parse(listener.redirect_uri()).unwrap().port().unwrap()
}

async fn connected(port: u16) -> TcpStream {
    let address = (Ipv4Addr::LOCALHOST, port);
    TcpStream::connect(address).await.unwrap()
}

/// Everything that comes until the connection ends.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A connection that is cut off has said what it had to say.
    let _ = timeout(SOON, stream.read_to_end(&mut bytes)).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Sends a request, and waits in the background for its answer.
async fn sent(port: u16, request: String) -> JoinHandle<String> {
    let mut stream = connected(port).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::spawn(rest(stream))
}

/// A request as a browser sends it.
fn get(port: u16, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/html\r\n\r\n")
}

async fn arrival(listener: &mut CallbackListener) -> Arrived {
    timeout(SOON, listener.next()).await.unwrap()
}

/// Comes back as a browser does, and fails unless that works.
async fn works(listener: &mut CallbackListener) {
    let port = port(listener);
    let page = sent(port, get(port, "/callback?code=right&state=s")).await;
    let arrived = arrival(listener).await;
    assert_eq!(arrived.query.expose(), "code=right&state=s");
    arrived.reply.success("tavily");
    let page = page.await.unwrap();
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("You are logged in to <bdi>tavily</bdi>"));
}

#[tokio::test]
async fn a_browser_that_comes_back_sees_how_it_went() {
    let mut listener = listening();
    works(&mut listener).await;
    let port = port(&listener);
    let page = sent(port, get(port, "/callback?error=access_denied")).await;
    let arrived = arrival(&mut listener).await;
    arrived.reply.failure("the login was refused");
    let page = page.await.unwrap();
    assert!(page.starts_with("HTTP/1.1 400 "), "{page}");
    assert!(page.contains("the login was refused"));
    assert!(page.contains("connection: close\r\n"), "{page}");
}

#[tokio::test]
async fn a_browser_that_is_told_nothing_is_sent_to_the_terminal() {
    let limits = Limits {
        reply: Duration::from_millis(50),
        ..LIMITS
    };
    let mut listener = within(limits);
    let port = port(&listener);
    let page = sent(port, get(port, "/callback?code=a")).await;
    drop(arrival(&mut listener).await);
    assert!(page.await.unwrap().contains("Go back to where you began"));

    let page = sent(port, get(port, "/callback?code=b")).await;
    let arrived = arrival(&mut listener).await;
    assert!(page.await.unwrap().starts_with("HTTP/1.1 202 "));
    // Too late, and nobody minds.
    arrived.reply.success("tavily");
}

#[tokio::test]
async fn what_brings_nothing_does_not_count() {
    let mut listener = listening();
    let port = port(&listener);
    let body = "code=a";
    let requests = [
        (get(port, "/favicon.ico"), 404),
        (get(port, "/"), 404),
        (get(port, "/callback/?code=a"), 404),
        (get(port, "/Callback?code=a"), 404),
        (get(port, "/callback"), 400),
        (get(port, "/callback?"), 400),
        (get(port, "/callback?code=a").replace("GET", "HEAD"), 405),
        (get(port, "/callback?code=a").replace("GET", "OPTIONS"), 405),
        (get(port, "/callback?code=a").replace("GET", "DELETE"), 405),
        (
            get(port, "/callback?code=a")
                .replace("GET", "POST")
                .replace("Accept: text/html", "Content-Length: 6")
                + body,
            405,
        ),
    ];
    for (request, status) in requests {
        let answer = sent(port, request.clone()).await.await.unwrap();
        let expected = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&expected), "{request}{answer}");
        assert_eq!(answer.contains("allow: GET"), status == 405, "{answer}");
    }
    works(&mut listener).await;
}

#[tokio::test]
async fn a_page_that_has_its_own_name_lead_here_gets_nothing() {
    let mut listener = listening();
    let port = port(&listener);
    let good = get(port, "/callback?code=a");
    let host = format!("Host: 127.0.0.1:{port}");
    let other = if port == 7 { 8 } else { 7 };
    let requests = [
        good.replace(&host, &format!("Host: evil.example:{port}")),
        good.replace(&host, "Host: evil.example"),
        good.replace(&host, "Host: 127.0.0.1"),
        good.replace(&host, &format!("Host: 127.0.0.1:{other}")),
        good.replace(&host, "X-Host: none"),
        good.replace(&host, &format!("{host}\r\nHost: evil.example")),
        good.replace("/callback", &format!("http://evil.example:{port}/callback")),
    ];
    for request in requests {
        let answer = sent(port, request.clone()).await.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 421 "), "{request}{answer}");
    }
    works(&mut listener).await;
}

#[tokio::test]
async fn a_second_browser_gets_its_own_answer() {
    let mut listener = listening();
    let port = port(&listener);
    let forged = sent(port, get(port, "/callback?code=forged&state=x")).await;
    let first = arrival(&mut listener).await;
    let honest = sent(port, get(port, "/callback?code=honest&state=y")).await;
    let second = arrival(&mut listener).await;
    second.reply.success("tavily");
    assert!(honest.await.unwrap().contains("You are logged in"));
    first.reply.failure("it belongs to another login");
    assert!(forged.await.unwrap().contains("another login"));
}

#[tokio::test]
async fn connections_that_say_nothing_do_not_keep_the_browser_out() {
    let mut listener = listening();
    let port = port(&listener);
    let begun = Instant::now();
    let mut silent = Vec::new();
    for number in 0..1000 {
        let mut stream = connected(port).await;
        if number % 2 == 0 {
            let half = b"GET /callback?code=a HTTP/1.1\r\nHost:";
            // It may have been cut off already.
            let _ = stream.write_all(half).await;
        }
        silent.push(stream);
    }
    works(&mut listener).await;
    assert!(begun.elapsed() < LIMITS.request, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn forged_answers_do_not_keep_the_browser_out() {
    let mut listener = listening();
    let port = port(&listener);
    let flood = tokio::spawn(async move {
        let mut pages = Vec::new();
        for number in 0..100 {
            pages.push(sent(port, get(port, &format!("/callback?code={number}"))).await);
        }
        for page in pages {
            assert!(page.await.unwrap().contains("another login"));
        }
    });
    for _ in 0..100 {
        let forged = arrival(&mut listener).await;
        forged.reply.failure("it belongs to another login");
    }
    flood.await.unwrap();
    works(&mut listener).await;
}

#[tokio::test]
async fn nonsense_is_survived() {
    let mut listener = listening();
    let port = port(&listener);
    let nonsense: [&[u8]; 6] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /callback?code=a HTTP/9.9\r\n\r\n",
        b"GET /callback?\xff\xfe HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    for bytes in nonsense {
        let mut stream = connected(port).await;
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = rest(stream).await;
        assert!(!answer.contains(" 200 "), "{answer}");
    }
    works(&mut listener).await;
}

#[tokio::test]
async fn cookies_of_other_programs_fit_and_endless_heads_do_not() {
    let mut listener = listening();
    let port = port(&listener);
    let with_cookies = |length: usize| {
        let cookies = format!("Cookie: a={}", "x".repeat(length));
        get(port, "/callback?code=a").replace("Accept: text/html", &cookies)
    };
    let page = sent(port, with_cookies(50_000)).await;
    arrival(&mut listener).await.reply.success("tavily");
    assert!(page.await.unwrap().contains("You are logged in"));

    let mut stream = connected(port).await;
    // It is cut off while it still sends.
    let _ = stream.write_all(with_cookies(1_000_000).as_bytes()).await;
    assert!(!rest(stream).await.contains(" 200 "));
    works(&mut listener).await;
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_ended() {
    let limits = Limits {
        request: Duration::from_millis(50),
        ..LIMITS
    };
    let mut listener = within(limits);
    let port = port(&listener);
    for beginning in [
        "",
        "GET",
        "GET /callback?code=a HTTP/1.1\r\nHost: 127.0.0.1",
    ] {
        let begun = Instant::now();
        let answer = sent(port, beginning.to_owned()).await.await.unwrap();
        assert!(begun.elapsed() < limits.reply, "{:?}", begun.elapsed());
        assert!(!answer.contains(" 200 "), "{answer}");
    }
    works(&mut listener).await;
}

#[tokio::test]
async fn answers_leave_before_listening_ends() {
    let mut listener = listening();
    let port = port(&listener);
    let told = sent(port, get(port, "/callback?code=a")).await;
    let arrived = arrival(&mut listener).await;
    let queued = sent(port, get(port, "/callback?code=b")).await;
    // It is in the queue as soon as it could be taken from there.
    while listener.arrivals.is_empty() {
        tokio::task::yield_now().await;
    }
    let silent = connected(port).await;
    arrived.reply.success("tavily");
    let begun = Instant::now();
    listener.finish().await;
    assert!(begun.elapsed() < LIMITS.farewell, "{:?}", begun.elapsed());
    assert!(told.await.unwrap().contains("You are logged in"));
    assert!(queued.await.unwrap().contains("Go back to where you began"));
    assert_eq!(rest(silent).await, "");
    let address = (Ipv4Addr::LOCALHOST, port);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_browser_that_nobody_answers_does_not_hold_up_the_end() {
    let limits = Limits {
        farewell: Duration::from_millis(50),
        ..LIMITS
    };
    let mut listener = within(limits);
    let port = port(&listener);
    let page = sent(port, get(port, "/callback?code=a")).await;
    let arrived = arrival(&mut listener).await;
    timeout(SOON, listener.finish()).await.unwrap();
    assert_eq!(page.await.unwrap(), "");
    drop(arrived);
}

#[tokio::test]
async fn a_dropped_listener_leaves_the_port() {
    let listener = listening();
    let (redirect, taken) = (here("127.0.0.1", "/callback"), port(&listener));
    drop(listener);
    let free = async {
        loop {
            let again = CallbackListener::bind(&redirect, Some(taken));
            if again.is_ok_and(|again| port(&again) == taken) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, free).await.unwrap();
}

#[tokio::test]
async fn the_address_is_spelt_as_configured() {
    for (host, path) in [
        ("127.0.0.1", "/callback"),
        ("localhost", "/oauth/callback"),
        ("127.0.0.1", "/"),
    ] {
        let listener = CallbackListener::bind(&here(host, path), None);
        let listener = listener.unwrap();
        let expected = format!("http://{host}:{}{path}", port(&listener));
        assert_eq!(listener.redirect_uri(), expected);
    }
}

#[tokio::test]
async fn a_path_is_compared_as_browsers_ask_for_it() {
    let redirect = here("127.0.0.1", "/zurück hier?from=login");
    let mut listener = CallbackListener::bind(&redirect, None).unwrap();
    assert!(listener.redirect_uri().ends_with("/zurück hier?from=login"));
    let port = port(&listener);
    let target = "/zur%C3%BCck%20hier?from=login&code=a";
    let page = sent(port, get(port, target)).await;
    let arrived = arrival(&mut listener).await;
    assert_eq!(arrived.query.expose(), "from=login&code=a");
    arrived.reply.success("tavily");
    assert!(page.await.unwrap().contains("You are logged in"));
}

#[tokio::test]
async fn this_machine_by_name_is_reached_at_both_addresses() {
    let redirect = here("localhost", "/callback");
    let mut listener = CallbackListener::bind(&redirect, None).unwrap();
    let port = port(&listener);
    let has_v6 = tokio::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0))
        .await
        .is_ok();
    let mut addresses = vec![IpAddr::from(Ipv4Addr::LOCALHOST)];
    addresses.extend(has_v6.then_some(IpAddr::from(Ipv6Addr::LOCALHOST)));
    for address in addresses {
        let mut stream = TcpStream::connect((address, port)).await.unwrap();
        let request = get(port, "/callback?code=a").replace("127.0.0.1", "localhost");
        stream.write_all(request.as_bytes()).await.unwrap();
        let page = tokio::spawn(rest(stream));
        arrival(&mut listener).await.reply.success("tavily");
        assert!(page.await.unwrap().contains("You are logged in"));
    }
}

#[tokio::test]
async fn what_cannot_be_listened_for_is_said() {
    let elsewhere = Redirect::Elsewhere(Url::parse("https://app.example/back").unwrap());
    let error = CallbackListener::bind(&elsewhere, None).unwrap_err();
    assert!(error.to_string().contains("not on this machine"));
    let error = CallbackListener::bind(&here("127.0.0.1", "/a#b"), None);
    assert!(error.unwrap_err().to_string().contains('#'));
}

#[tokio::test]
async fn what_is_brought_is_in_no_output() {
    let mut listener = listening();
    let port = port(&listener);
    let _page = sent(port, get(port, "/callback?code=hush-hush&state=quiet")).await;
    let arrived = arrival(&mut listener).await;
    let shown = format!("{arrived:?} {listener:?}");
    assert!(
        !shown.contains("hush-hush") && !shown.contains("quiet"),
        "{shown}"
    );
}
