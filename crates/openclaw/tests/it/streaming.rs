//! A service of models that says what a test tells it to, when the test tells it to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value as Json, json};

/// A model that a test speaks for. It ends with the process.
pub(crate) struct SpokenModel {
    port: u16,
    words: Sender<Option<String>>,
    asked: Receiver<Json>,
}

impl SpokenModel {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (words, spoken) = channel();
        let (ask, asked) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(stream, &spoken, &ask);
            }
        });
        Self { port, words, asked }
    }

    /// The settings with which an agent asks it.
    pub(crate) fn settings(&self) -> Json {
        json!({
            "agents": { "defaults": { "model": "spoken/model" } },
            "models": { "providers": { "spoken": {
                "baseUrl": format!("http://127.0.0.1:{}/v1", self.port),
                "api": "openai-completions",
                "models": [{ "id": "model" }],
            } } },
        })
    }

    /// Waits until it is asked, and gives what it is asked.
    pub(crate) fn is_asked(&self) -> Json {
        self.asked.recv().unwrap()
    }

    /// Says a piece of its answer.
    pub(crate) fn says(&self, piece: &str) {
        self.words.send(Some(piece.to_owned())).unwrap();
    }

    /// Ends its answer.
    pub(crate) fn ends(&self) {
        self.words.send(None).unwrap();
    }
}

fn serve(stream: TcpStream, spoken: &Receiver<Option<String>>, ask: &Sender<Json>) {
    let mut request = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if request.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    request.read_exact(&mut body).unwrap();
    let _ = ask.send(serde_json::from_slice(&body).unwrap_or(Json::Null));
    answer(stream, spoken);
}

/// Says what it is told to, until that is all or nobody listens any more.
fn answer(mut stream: TcpStream, spoken: &Receiver<Option<String>>) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let mut write = |text: String| stream.write_all(text.as_bytes()).is_ok();
    let mut goes_on = write(head.to_owned());
    while goes_on {
        let Ok(piece) = spoken.recv() else { return };
        let (delta, reason) = match &piece {
            Some(text) => (json!({ "content": text }), Json::Null),
            None => (json!({}), json!("stop")),
        };
        let chunk = json!({
            "id": "1",
            "object": "chat.completion.chunk",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }],
        });
        goes_on = write(format!("data: {chunk}\n\n")) && piece.is_some();
    }
    write("data: [DONE]\n\n".to_owned());
}
