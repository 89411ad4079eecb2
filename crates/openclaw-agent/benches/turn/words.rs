//! How long it takes from a word's arrival to its being passed on, beside the way that it has to take
//! anyway.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use openclaw_engine::ReplyEvent;
use openclaw_testkit::figures::{Report, median, micros};
use serde_json::json;

use crate::house::{Hearing, House, request};

const TURNS: usize = 100;

/// A service that says one word, notes when, and ends a little later.
fn service(said_at: Arc<Mutex<Option<Instant>>>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let said_at = Arc::clone(&said_at);
            std::thread::spawn(move || {
                // Whoever asks may leave at any time.
                let _ = answer(connection, &said_at);
            });
        }
    });
    address
}

fn answer(mut connection: TcpStream, said_at: &Mutex<Option<Instant>>) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut request = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        while !is_whole(&request) {
            let count = connection.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            request.extend_from_slice(&buffer[..count]);
        }
        request.clear();
        connection.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )?;
        let word = json!({ "choices": [{ "index": 0, "delta": { "content": "Hello" } }] });
        let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        std::thread::sleep(Duration::from_millis(3));
        *said_at.lock().expect("nobody panics") = Some(Instant::now());
        chunk(&mut connection, &format!("data: {word}\n\n"))?;
        std::thread::sleep(Duration::from_millis(3));
        chunk(&mut connection, &format!("data: {end}\n\ndata: [DONE]\n\n"))?;
        connection.write_all(b"0\r\n\r\n")?;
    }
}

fn chunk(connection: &mut TcpStream, text: &str) -> std::io::Result<()> {
    connection.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

/// Whether all of a request has come: its body is JSON that ends with the last brace.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1);
    let length = length.and_then(|it| it.lines().next()?.trim().parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
}

pub(crate) fn measure(report: &mut Report) {
    let said_at: Arc<Mutex<Option<Instant>>> = Arc::default();
    let address = service(Arc::clone(&said_at));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let house = House::new(&json!({
            "models": { "providers": { "local": { "baseUrl": format!("http://{address}/v1") } } },
            "agents": { "defaults": { "model": "local/some" } },
        }));
        let mut took = Vec::with_capacity(TURNS);
        for _ in 0..TURNS {
            let heard: Mutex<Option<Duration>> = Mutex::default();
            let hearing = Hearing(|event| {
                if let ReplyEvent::Partial { .. } = event {
                    let said = *said_at.lock().expect("nobody panics");
                    let mut heard = heard.lock().expect("nobody panics");
                    heard.get_or_insert(said.expect("a moment").elapsed());
                }
            });
            let reply = house.agents.reply(request("hello"), &hearing);
            Box::pin(reply).await.expect("a reply");
            let heard = heard.lock().expect("nobody panics").expect("a word");
            took.push(heard);
        }
        let slowest = took.iter().max().copied().unwrap_or_default();
        let middle = median(took);
        let is_kept = middle < Duration::from_millis(5);
        report.judge(
            "the first word, from its sending",
            &micros(middle),
            "5 ms",
            is_kept,
        );
        Report::say("… the slowest of a hundred", &micros(slowest));
        house.close().await;
    });
}
