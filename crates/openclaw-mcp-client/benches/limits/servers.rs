//! Servers that do as little as a server can.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<Parameters<'a>>,
}

#[derive(Deserialize)]
struct Parameters<'a> {
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    bytes: Option<usize>,
}

/// The answer to a message, or nothing for a notification.
fn answer(line: &[u8]) -> Option<Vec<u8>> {
    let request: Request<'_> = serde_json::from_slice(line).expect("a message");
    let id = request.id?.get();
    let result = match request.method {
        "initialize" => r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#.to_owned(),
        "tools/call" => {
            let arguments = request.params.and_then(|it| it.arguments).expect("arguments");
            let text = match arguments.bytes {
                Some(bytes) => format!("\"{}\"", "x".repeat(bytes)),
                None => arguments.message.expect("a message").get().to_owned(),
            };
            format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)
        }
        _ => {
            let error = r#"{"code":-32601,"message":"unknown"}"#;
            return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into());
        }
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into())
}

/// Answers over the standard streams.
pub(crate) fn stdio() {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    while input
        .read_until(b'\n', &mut line)
        .is_ok_and(|count| count > 0)
    {
        if let Some(mut reply) = answer(&line) {
            reply.push(b'\n');
            if output
                .write_all(&reply)
                .and_then(|()| output.flush())
                .is_err()
            {
                return;
            }
        }
        line.clear();
    }
}

/// Answers over HTTP, at a port that it prints; ends with its input.
pub(crate) fn http() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("an address").port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    // The end of the input is the end of the server.
    let _ = std::io::stdin().read(&mut [0]);
}

fn serve(stream: TcpStream) {
    stream.set_nodelay(true).expect("no delay");
    let mut writer = stream.try_clone().expect("a second handle");
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    loop {
        let mut length = 0;
        let mut posts = true;
        loop {
            line.clear();
            if !reader.read_line(&mut line).is_ok_and(|count| count > 0) {
                return;
            }
            let lower = line.to_ascii_lowercase();
            if lower.starts_with("get ") || lower.starts_with("delete ") {
                posts = false;
            }
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let answered = if posts { answer(&body) } else { None };
        let reply = match answered {
            Some(body) => {
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
                );
                [head.into_bytes(), body].concat()
            }
            None if posts => b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec(),
            None => b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_vec(),
        };
        if writer.write_all(&reply).is_err() {
            return;
        }
    }
}
