//! Whom a proxy speaks for.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

/// The last address of `X-Forwarded-For`: the proxy added it, what stands before it is what it was told.
pub(super) fn address(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    let last = last.to_str().ok()?.rsplit(',').next()?.trim();
    let bare = last
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'))
        .unwrap_or(last);
    // Some proxies add the port.
    let with_port = || last.parse::<SocketAddr>().map(|it| it.ip());
    bare.parse().or_else(|_| with_port()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        address(&headers).map(|it| it.to_string())
    }

    #[test]
    fn the_last_address_of_the_last_line_counts() {
        for (lines, expected) in [
            (&["192.0.2.1"][..], Some("192.0.2.1")),
            (&["198.51.100.9, 192.0.2.1"], Some("192.0.2.1")),
            (&["192.0.2.9", "198.51.100.9,192.0.2.1 "], Some("192.0.2.1")),
            (&["192.0.2.1:4711"], Some("192.0.2.1")),
            (&["2001:db8::1"], Some("2001:db8::1")),
            (&["[2001:db8::1]"], Some("2001:db8::1")),
            (&["[2001:db8::1]:4711"], Some("2001:db8::1")),
            (&["192.0.2.1, unknown"], None),
            (&["192.0.2.1,"], None),
            (&[""], None),
            (&[], None),
        ] {
            assert_eq!(read(lines).as_deref(), expected, "{lines:?}");
        }
    }
}
