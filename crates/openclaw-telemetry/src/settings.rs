//! Whether traces are exported, where and how: the variables of the OpenTelemetry specification, then the
//! settings of the file.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use openclaw_secrets::Secret;
use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// What programs call us where nobody says otherwise.
const SERVICE: &str = "openclaw";
/// Where a collector is where nobody says otherwise.
const COLLECTOR: &str = "http://localhost:4318";
/// The path of traces at a collector.
const TRACES: &str = "v1/traces";
/// The only way in which we speak.
const PROTOCOL: &str = "http/protobuf";
/// How long a collector may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long spans wait for others to go with.
const INTERVAL: Duration = Duration::from_secs(5);
/// The longest time that a variable can name.
const LONGEST: Duration = Duration::from_hours(1);
/// How many attributes somebody may add to what is said about this program.
const MOST_ATTRIBUTES: usize = 64;

/// How traces are exported.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where to.
    pub endpoint: Url,
    /// Headers of the variables; they win over those of the file.
    pub headers: Vec<(String, Secret)>,
    /// Whether those of the file are sent as well: they are for the address that stands beside them.
    pub with_configured_headers: bool,
    /// What we are called.
    pub service: String,
    /// What else is said about this program.
    pub resource: Vec<(String, String)>,
    /// Which traces are recorded.
    pub sampler: Sampler,
    /// How long a collector may take to answer.
    pub timeout: Duration,
    /// How long spans wait for others to go with.
    pub interval: Duration,
}

/// Which traces are recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler {
    /// All.
    All {
        /// Whether the program that a trace comes from decides, where there is one.
        follows_parent: bool,
    },
    /// None; which trace something belongs to is passed on nevertheless.
    None {
        /// Whether the program that a trace comes from decides, where there is one.
        follows_parent: bool,
    },
    /// So many of them, from 0 to 1.
    Share {
        /// How many.
        share: f64,
        /// Whether the program that a trace comes from decides, where there is one.
        follows_parent: bool,
    },
}

impl Sampler {
    /// Whether the program that a trace comes from decides, where there is one.
    pub fn follows_parent(self) -> bool {
        match self {
            Self::All { follows_parent }
            | Self::None { follows_parent }
            | Self::Share { follows_parent, .. } => follows_parent,
        }
    }
}

/// What the file says.
#[derive(Clone, Debug, Default)]
pub struct Configured {
    /// Whether anything is exported.
    pub enabled: bool,
    /// Whether traces are.
    pub traces: bool,
    /// Where to.
    pub endpoint: Option<Url>,
    /// What we are called.
    pub service: Option<String>,
    /// How many traces are recorded, from 0 to 1.
    pub share: Option<f64>,
    /// How long spans wait for others to go with.
    pub interval: Option<Duration>,
}

/// Gets the headers that go with every export, from wherever their secrets are.
pub type HeaderSource = Arc<dyn Fn() -> PendingHeaders + Send + Sync>;

/// Headers that are still to come.
pub type PendingHeaders =
    Pin<Box<dyn Future<Output = Result<Vec<(String, Secret)>, String>> + Send>>;

/// What variables and file come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// How traces are exported, if they are.
    pub settings: Option<Settings>,
    /// What a person should know: variables that can't be used, an address that others can read along with.
    pub remarks: Vec<String>,
}

impl Reading {
    /// Reads the variables and what the file says. Variables win; empty ones count as not set.
    pub fn new(variable: impl Fn(&str) -> Option<String>, configured: &Configured) -> Self {
        let mut reader = Reader {
            variable: &variable,
            remarks: Vec::new(),
        };
        let settings = reader.settings(configured);
        Self {
            settings,
            remarks: reader.remarks,
        }
    }
}

struct Reader<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    remarks: Vec<String>,
}

impl Reader<'_> {
    fn settings(&mut self, configured: &Configured) -> Option<Settings> {
        if self
            .get("OTEL_SDK_DISABLED")
            .is_some_and(|it| it.eq_ignore_ascii_case("true"))
        {
            return None;
        }
        match self.get("OTEL_TRACES_EXPORTER").as_deref() {
            None | Some("otlp") => {}
            Some("none") => return None,
            Some(_) => {
                self.remark("OTEL_TRACES_EXPORTER", "`otlp` and `none` are known");
                return None;
            }
        }
        let given = self.of_traces("ENDPOINT");
        let is_given = given.is_some();
        let endpoint = match (given, &configured.endpoint) {
            (Some((name, text)), _) => self.given_endpoint(&name, &text)?,
            (None, _) if !configured.enabled || !configured.traces => return None,
            (None, Some(endpoint)) => with_path(endpoint.clone()),
            (None, None) => with_path(Url::parse(COLLECTOR).ok()?),
        };
        let protocol = self.of_traces("PROTOCOL");
        if let Some((name, protocol)) = protocol
            && protocol != PROTOCOL
        {
            self.remark(
                &name,
                "only `http/protobuf` is spoken, so traces are not exported",
            );
            return None;
        }
        if !is_private(&endpoint) {
            let host = endpoint.host_str().unwrap_or_default();
            self.remarks.push(format!(
                "traces go to {host} without encryption: everybody between can read along"
            ));
        }
        let mut resource = self.resource();
        let named = resource.remove("service.name");
        let service = self.get("OTEL_SERVICE_NAME").or(named);
        Some(Settings {
            headers: self.headers(),
            with_configured_headers: !is_given,
            service: service
                .or_else(|| configured.service.clone())
                .unwrap_or_else(|| SERVICE.to_owned()),
            resource: resource.into_iter().collect(),
            sampler: self.sampler(configured),
            timeout: self.timeout(),
            interval: self
                .milliseconds("OTEL_BSP_SCHEDULE_DELAY")
                .or(configured.interval)
                .unwrap_or(INTERVAL),
            endpoint,
        })
    }

    fn get(&self, name: &str) -> Option<String> {
        let value = (self.variable)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// A variable for traces alone, or the one for everything.
    fn of_traces(&self, what: &str) -> Option<(String, String)> {
        [
            format!("OTEL_EXPORTER_OTLP_TRACES_{what}"),
            format!("OTEL_EXPORTER_OTLP_{what}"),
        ]
        .into_iter()
        .find_map(|name| self.get(&name).map(|value| (name, value)))
    }

    /// Values may be credentials, and are never repeated.
    fn remark(&mut self, name: &str, why: &str) {
        let remark = format!("the variable {name} can't be used: {why}");
        self.remarks.push(remark);
    }

    /// The address that a variable names.
    fn given_endpoint(&mut self, name: &str, text: &str) -> Option<Url> {
        let url = Url::parse(text).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            self.remark(name, "it is no `https://` or `http://` address");
            return None;
        };
        // The one for traces alone is used as it is.
        Some(if name.contains("_TRACES_") {
            url
        } else {
            with_path(url)
        })
    }

    fn headers(&mut self) -> Vec<(String, Secret)> {
        let Some((name, text)) = self.of_traces("HEADERS") else {
            return Vec::new();
        };
        let pairs = pairs(&text).into_iter();
        let mut headers = Vec::new();
        for (key, value) in pairs {
            let is_name =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let is_sendable = |byte: u8| (b' '..=b'~').contains(&byte) || byte == b'\t';
            if key.is_empty() || !key.bytes().all(is_name) || !value.bytes().all(is_sendable) {
                self.remark(&name, "a header in it can't be sent");
                continue;
            }
            headers.push((key.to_ascii_lowercase(), Secret::new(value)));
        }
        headers
    }

    fn resource(&self) -> BTreeMap<String, String> {
        let text = self.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let pairs = pairs(&text).into_iter();
        pairs
            .filter(|(name, _)| !name.is_empty())
            .take(MOST_ATTRIBUTES)
            .collect()
    }

    fn sampler(&mut self, configured: &Configured) -> Sampler {
        let usual = match configured.share {
            Some(share) => Sampler::Share {
                share,
                follows_parent: true,
            },
            None => Sampler::All {
                follows_parent: true,
            },
        };
        let Some(word) = self.get("OTEL_TRACES_SAMPLER") else {
            return usual;
        };
        let (follows_parent, root) = match word.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, word.as_str()),
        };
        match root {
            "always_on" => Sampler::All { follows_parent },
            "always_off" => Sampler::None { follows_parent },
            "traceidratio" => Sampler::Share {
                share: self.share(),
                follows_parent,
            },
            _ => {
                self.remark("OTEL_TRACES_SAMPLER", "there is no such sampler here");
                usual
            }
        }
    }

    fn share(&mut self) -> f64 {
        let Some(text) = self.get("OTEL_TRACES_SAMPLER_ARG") else {
            return 1.0;
        };
        match text.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => share,
            Ok(_) | Err(_) => {
                self.remark("OTEL_TRACES_SAMPLER_ARG", "it is no number from 0 to 1");
                1.0
            }
        }
    }

    fn timeout(&mut self) -> Duration {
        let name = self.of_traces("TIMEOUT").map(|(name, _)| name);
        let given = name.and_then(|name| self.milliseconds(&name));
        given.unwrap_or(TIMEOUT)
    }

    fn milliseconds(&mut self, name: &str) -> Option<Duration> {
        let text = self.get(name)?;
        match text.parse().map(Duration::from_millis) {
            Ok(time) if !time.is_zero() && time <= LONGEST => Some(time),
            Ok(_) | Err(_) => {
                self.remark(name, "it is no number of milliseconds up to an hour");
                None
            }
        }
    }
}

/// `name=value,name=value`, with what is special in percent signs.
fn pairs(text: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        percent_decode_str(text.trim())
            .decode_utf8_lossy()
            .into_owned()
    };
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// The address of traces at a collector, whose own address may name them already.
fn with_path(mut url: Url) -> Url {
    let path = url.path().trim_end_matches('/');
    if !path.ends_with(TRACES) {
        let path = format!("{path}/{TRACES}");
        url.set_path(&path);
    }
    url
}

/// Whether nobody between can read along.
fn is_private(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    };
    url.scheme() == "https" || is_here
}

#[cfg(test)]
mod tests;
