//! The name of a new server that was given none: what its host or program is known for.
//!
//! | given | name |
//! |---|---|
//! | `https://mcp.tavily.com/mcp` | `tavily` |
//! | `https://notes.workers.dev/sse` | `notes` |
//! | `http://localhost:3000` | `localhost` |
//! | `npx -y @modelcontextprotocol/server-everything` | `everything` |
//! | `npx @playwright/mcp@latest` | `playwright` |
//! | `uvx mcp-server-git` | `git` |
//! | `docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server` | `github` |
//! | `node /home/ada/weather/dist/index.js` | `weather` |

use std::path::Path;

use url::{Host, Url};

/// How long a name is made at most: as much as fits into the names of tools.
const LONGEST: usize = 30;
/// What a server is called whose program and host say nothing.
const FALLBACK: &str = "server";

/// Parts of a host that say what it does, not whose it is.
const ROLES: &[&str] = &[
    "mcp", "api", "www", "app", "server", "remote", "sse", "gateway",
];
/// Domains whose owner lends names below them to others.
const LENT: &[&str] = &[
    "workers.dev",
    "pages.dev",
    "vercel.app",
    "netlify.app",
    "fly.dev",
    "onrender.com",
    "herokuapp.com",
    "run.app",
    "railway.app",
    "hf.space",
    "github.io",
    "ngrok.app",
    "ngrok.io",
    "ngrok-free.app",
    "azurewebsites.net",
];
/// Second parts of a domain under a country that belong to nobody.
const SECOND: &[&str] = &[
    "co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "go",
];

/// Programs that run another one.
const RUNNERS: &[&str] = &[
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "uv",
    "docker",
    "podman",
    "deno",
    "node",
    "tsx",
    "python",
    "python3",
    "py",
    "ruby",
    "java",
    "sh",
    "bash",
    "zsh",
    "env",
    "cmd",
    "powershell",
    "pwsh",
    "wsl",
];
/// Words between such a program and what it runs.
const VERBS: &[&str] = &["exec", "dlx", "run", "x", "tool", "start", "container"];
/// Options of such programs that are followed by a value.
const VALUED: &[&str] = &[
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "--name",
    "-p",
    "--publish",
    "--package",
    "--network",
    "--net",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--entrypoint",
    "--platform",
    "--pull",
    "--with",
    "--python",
    "--directory",
    "--project",
    "-C",
    "-r",
    "--require",
    "--import",
    "--loader",
    "--index-url",
    "--add-host",
    "--gpus",
    "--registry",
];
/// File and directory names that say nothing.
const PLAIN: &[&str] = &[
    "index", "main", "server", "cli", "app", "mcp", "start", "run", "stdio", "__main__", "dist",
    "build", "src", "bin", "lib", "out", "target", "release", "debug", "latest",
];

/// The name for a server at an address.
pub(crate) fn of_address(url: &Url) -> String {
    let name = match url.host() {
        Some(Host::Domain(domain)) => of_domain(&domain.to_ascii_lowercase()),
        Some(Host::Ipv4(address)) if !address.is_loopback() => address.to_string(),
        Some(Host::Ipv6(address)) if !address.is_loopback() => address.to_string(),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => "localhost".to_owned(),
        None => String::new(),
    };
    cleaned(&name)
}

fn of_domain(domain: &str) -> String {
    let domain = domain.trim_end_matches('.');
    let lent = LENT.iter().find_map(|suffix| {
        domain
            .strip_suffix(suffix)?
            .strip_suffix('.')
            .filter(|rest| !rest.is_empty())
    });
    let mut parts: Vec<&str> = lent.unwrap_or(domain).split('.').collect();
    if lent.is_none() && parts.len() > 1 {
        let country = parts.pop().is_some_and(|part| part.len() == 2);
        let second = parts.last().is_some_and(|part| SECOND.contains(part));
        if country && second && parts.len() > 1 {
            parts.pop();
        }
    }
    let telling = parts.iter().rev().find(|part| !ROLES.contains(part));
    telling
        .or(parts.last())
        .copied()
        .unwrap_or_default()
        .to_owned()
}

/// The name for a server that is a program.
pub(crate) fn of_program(program: &str, arguments: &[String]) -> String {
    let own = stem(program);
    if !RUNNERS.contains(&own.as_str()) {
        return named(program);
    }
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        // `python -m` and `uvx --from` are followed by what is run, as others are by a value.
        if VALUED.contains(&argument.as_str()) {
            arguments.next();
        } else if !is_passed_over(argument) {
            return named(argument);
        }
    }
    cleaned(&own)
}

fn is_passed_over(argument: &str) -> bool {
    argument.is_empty()
        || argument.starts_with('-')
        || VERBS.contains(&argument)
        || RUNNERS.contains(&argument)
        // `env NAME=VALUE program`
        || argument
            .split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

/// The name in a path, a package or an image: its last part that says something.
fn named(text: &str) -> String {
    let text = text.replace('\\', "/");
    let telling = text
        .split('/')
        .rev()
        .map(|part| bare(&without_version(part)))
        .find(|part| part.chars().any(char::is_alphanumeric) && !PLAIN.contains(&part.as_str()));
    cleaned(&telling.unwrap_or_default())
}

/// The part before a version (`@1.2`, `==1.2`), a tag (`:latest`) or extras (`[cli]`), without the
/// `@` of a scope.
fn without_version(part: &str) -> String {
    let part = part.strip_prefix('@').unwrap_or(part);
    let end = part.find(['@', '=', ':', '[', '<', '>', '~', '!', '#', '?']);
    let part = part.get(..end.unwrap_or(part.len())).unwrap_or(part);
    stem(part)
}

/// A file name without its ending, in small letters.
fn stem(path: &str) -> String {
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_ending = |ending: &str| {
        [
            "js", "mjs", "cjs", "ts", "mts", "py", "rb", "sh", "jar", "exe", "cmd", "bat", "ps1",
        ]
        .contains(&ending.to_ascii_lowercase().as_str())
    };
    let ending = Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str());
    let name = match ending {
        Some(ending) if is_ending(ending) => {
            name.get(..name.len() - ending.len() - 1).unwrap_or(name)
        }
        _ => name,
    };
    name.to_lowercase()
}

/// A name without what all servers are called.
fn bare(name: &str) -> String {
    let mut name = name.replace(['_', '.', ' '], "-");
    for _ in 0..2 {
        for end in ["-server", "-mcp", "-stdio"] {
            if let Some(rest) = name.strip_suffix(end) {
                name = rest.to_owned();
            }
        }
        for start in ["mcp-", "server-"] {
            if let Some(rest) = name.strip_prefix(start) {
                name = rest.to_owned();
            }
        }
    }
    name
}

/// Small letters, digits, `-` and `_`, not too many of them, and never nothing.
fn cleaned(name: &str) -> String {
    let mut clean = String::new();
    for character in name.to_lowercase().chars() {
        let kept = character.is_ascii_alphanumeric() || character == '_';
        let character = if kept { character } else { '-' };
        if character != '-' || !(clean.is_empty() || clean.ends_with('-')) {
            clean.push(character);
        }
    }
    clean.truncate(LONGEST);
    let clean = clean.trim_matches(['-', '_']);
    if clean.is_empty() {
        FALLBACK.to_owned()
    } else {
        clean.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::ServerName;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_give_their_owners_names() {
        for (address, name) in [
            ("https://mcp.tavily.com/mcp", "tavily"),
            ("https://mcp.github.com/mcp", "github"),
            ("https://api.githubcopilot.com/mcp/", "githubcopilot"),
            ("https://docs.mcp.cloudflare.com/sse", "cloudflare"),
            ("https://mcp.example.co.uk", "example"),
            ("https://mcp.ai", "mcp"),
            ("https://notes.workers.dev/sse", "notes"),
            ("https://mcp.notes.workers.dev/sse", "notes"),
            ("http://localhost:3000/mcp", "localhost"),
            ("http://127.0.0.1:3000/mcp", "localhost"),
            ("http://[::1]/mcp", "localhost"),
            ("http://192.168.1.7/mcp", "192-168-1-7"),
            ("https://BÜCHER.example/mcp", "xn--bcher-kva"),
        ] {
            // The owner of a name in punycode is shown in it, with single dashes.
            let name = name.replace("--", "-");
            assert_eq!(of_address(&address.parse().unwrap()), name, "{address}");
        }
    }

    #[test]
    fn programs_give_what_they_run() {
        for (line, name) in [
            (
                "npx -y @modelcontextprotocol/server-everything",
                "everything",
            ),
            ("npx @playwright/mcp@latest --headless", "playwright"),
            ("npx -y mcp-remote https://x.example", "remote"),
            ("/usr/bin/uvx mcp-server-git --repository .", "git"),
            ("uvx --from git+x mcp-server-time", "git-x"),
            ("uv run --directory /srv/w weather.py", "weather"),
            ("pipx run mcp_server_fetch==1.2", "fetch"),
            (
                "docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:1",
                "github",
            ),
            ("docker run -i mcp/fetch", "fetch"),
            ("node /home/ada/weather/dist/index.js", "weather"),
            ("python3 -m weather_server", "weather"),
            ("C:\\tools\\npx.cmd -y server-x", "x"),
            ("/opt/github-mcp-server stdio", "github"),
            ("./server", "server"),
            ("npx", "npx"),
            ("env TOKEN=x npx -y server-memory", "memory"),
        ] {
            let mut words = line.split(' ').map(str::to_owned);
            let program = words.next().unwrap();
            let arguments: Vec<String> = words.collect();
            assert_eq!(of_program(&program, &arguments), name, "{line}");
        }
    }

    fn assert_name(name: &str) -> Result<(), TestCaseError> {
        prop_assert!(ServerName::new(name).is_ok(), "{name:?}");
        prop_assert!(name.len() <= LONGEST, "{name:?}");
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        prop_assert!(name.chars().all(fits), "{name:?}");
        Ok(())
    }

    proptest! {
        #[test]
        fn a_program_always_gives_a_name(
            program in any::<String>(),
            arguments in prop::collection::vec(any::<String>(), 0..4),
        ) {
            assert_name(&of_program(&program, &arguments))?;
        }

        #[test]
        fn a_host_always_gives_a_name(host in "[a-z0-9.-]{1,80}") {
            if let Ok(url) = Url::parse(&format!("https://{host}/")) {
                assert_name(&of_address(&url))?;
            }
        }
    }
}
