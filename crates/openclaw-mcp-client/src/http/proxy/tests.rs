//! What the variables mean.

use super::*;

fn proxies(variables: &'static [(&'static str, &'static str)]) -> Proxies {
    Proxies::new(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

fn proxy(proxies: &Proxies, address: &str) -> Option<String> {
    let proxy = proxies.for_address(&address.parse().unwrap()).unwrap()?;
    Some(format!("{:?} {}", proxy.kind, proxy.authority))
}

#[test]
fn the_usual_variables_count_in_both_spellings() {
    let both = proxies(&[
        ("http_proxy", "plain.example:1"),
        ("HTTPS_PROXY", "http://secure.example:2/"),
        ("ALL_PROXY", "http://all.example:3"),
        ("no_proxy", "inner.example, 10.0.0.0/8"),
    ]);
    let used = |address| proxy(&both, address);
    assert_eq!(used("http://a.example/").unwrap(), "Http plain.example:1");
    assert_eq!(used("https://a.example/").unwrap(), "Http secure.example:2");
    assert_eq!(used("https://x.inner.example/"), None);
    assert_eq!(used("http://10.1.2.3/"), None);
    let all = proxies(&[("all_proxy", "socks5h://all.example")]);
    assert_eq!(
        proxy(&all, "https://a.example/").unwrap(),
        "Socks5 { looks_up_here: false } all.example:1080"
    );
    let default = proxies(&[("ALL_PROXY", "https://[::2]")]);
    assert_eq!(
        proxy(&default, "https://a.example/").unwrap(),
        "Https [::2]:443"
    );
    assert_eq!(proxy(&proxies(&[]), "https://a.example/"), None);
}

#[test]
fn an_empty_variable_gives_way_to_the_other_spelling() {
    let empty = proxies(&[
        ("HTTPS_PROXY", " "),
        ("https_proxy", "http://lower.example:1"),
        ("HTTP_PROXY", ""),
        ("ALL_PROXY", "http://all.example:3"),
        ("NO_PROXY", ""),
        ("no_proxy", "inner.example"),
    ]);
    let used = |address| proxy(&empty, address);
    assert_eq!(used("https://a.example/").unwrap(), "Http lower.example:1");
    assert_eq!(used("http://a.example/").unwrap(), "Http all.example:3");
    assert_eq!(used("http://inner.example/"), None);
}

#[test]
fn this_machine_is_never_reached_through_a_proxy() {
    let all = proxies(&[("ALL_PROXY", "http://all.example:3")]);
    for address in [
        "http://localhost:1/",
        "http://LOCALHOST./",
        "http://app.localhost/",
        "https://127.0.0.1/",
        "http://127.9.9.9:8080/",
        "http://[::1]:3/",
        "http://[::ffff:127.0.0.1]/",
    ] {
        assert_eq!(proxy(&all, address), None, "{address}");
    }
    assert!(proxy(&all, "http://localhost.example/").is_some());
}

#[test]
fn a_password_is_sent_in_requests_only_where_the_proxy_reads_them() {
    let all = proxies(&[("ALL_PROXY", "http://user:p%40ss@all.example:3")]);
    let authorization = |address: &str| all.request_authorization(&address.parse().unwrap());
    let value = authorization("http://a.example/").unwrap();
    assert_eq!(value, "Basic dXNlcjpwQHNz");
    assert!(value.is_sensitive());
    assert_eq!(authorization("https://a.example/"), None);
    assert_eq!(authorization("http://localhost/"), None);
    let shown = format!("{all:?}");
    assert!(
        shown.contains("all.example:3") && !shown.contains("user"),
        "{shown}"
    );
    assert!(
        !shown.contains("p@ss") && !shown.contains("p%40ss"),
        "{shown}"
    );
    let socks = proxies(&[("ALL_PROXY", "socks5://user:pass@all.example")]);
    let uri = "http://a.example/".parse().unwrap();
    assert_eq!(socks.request_authorization(&uri), None);
}

#[test]
fn user_and_password_are_told_from_the_host() {
    let odd = proxies(&[("ALL_PROXY", "http://u:p@ss:w@proxy.example:1")]);
    let uri = "https://a.example/".parse().unwrap();
    let found = odd.for_address(&uri).unwrap().unwrap();
    assert_eq!(found.authority, "proxy.example:1");
    let user = found.user.as_ref().unwrap();
    assert_eq!(
        (user.name.as_str(), user.password.expose()),
        ("u", "p@ss:w")
    );
    let name = proxies(&[("ALL_PROXY", "http://only@proxy.example:1")]);
    let found = name.for_address(&uri).unwrap().unwrap();
    assert_eq!(found.user.as_ref().unwrap().password.expose(), "");
}

#[test]
fn a_proxy_that_cannot_be_understood_is_not_passed_by() {
    for value in [
        "htp://hunter2.example:1",
        "http://hunter2.example:99999",
        "http://u:hunter2#x@proxy.example:1",
        "http://u:1#hunter2@proxy.example:1",
        "http://u:1/hunter2@proxy.example:1",
        "http://u:1?hunter2@proxy.example:1",
        "http://",
        "http://u:hunter2@",
        "http://u:%ffhunter2@proxy.example",
        "http://\u{fffd}hunter2.example",
    ] {
        let named = Proxies::new(|name| (name == "https_proxy").then(|| value.to_owned()));
        let error = named
            .for_address(&"https://a.example/".parse().unwrap())
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the address of the proxy in `https_proxy` cannot be understood",
            "{value}"
        );
        assert!(!format!("{named:?}").contains("hunter2"), "{value}");
        // What would not go through it is not concerned.
        let other = named.for_address(&"http://a.example/".parse().unwrap());
        assert!(other.unwrap().is_none());
        let local = named.for_address(&"https://localhost/".parse().unwrap());
        assert!(local.unwrap().is_none());
    }
}
