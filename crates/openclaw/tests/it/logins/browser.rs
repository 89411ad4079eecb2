//! A browser that does nothing by itself: one connection for each page, and no redirects.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use url::Url;

/// How long a page may take: who shows it may be waiting for somebody else.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the browser was shown.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Shown {
    /// A header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Opens an address.
pub(crate) fn get(address: &str) -> Shown {
    let url = Url::parse(address).unwrap();
    let host = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let mut stream = TcpStream::connect(&host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers = lines.filter_map(|line| line.split_once(':'));
    Shown {
        status: status.parse().unwrap(),
        headers: headers
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

/// Opens the address of a login, and tells where the browser is sent back to.
pub(crate) fn sent_to(address: &str) -> String {
    let shown = get(address);
    let location = shown.header("location");
    location.unwrap_or_else(|| panic!("{shown:?}")).to_owned()
}

/// A parameter of an address.
pub(crate) fn parameter(address: &str, name: &str) -> String {
    let url = Url::parse(address).unwrap();
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(known, _)| known == name);
    let (_, value) = found.unwrap_or_else(|| panic!("no `{name}`: {address}"));
    value.into_owned()
}
