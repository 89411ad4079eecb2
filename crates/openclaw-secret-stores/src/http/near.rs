//! What stores are asked without a proxy, and may be asked without TLS.

use openclaw_http::{Http, HttpSettings, Trust, is_this_machine};
use url::{Host, Url};

/// How large an answer may be. Secrets are far smaller; a document that one is a field of may be
/// larger than the secret.
const LARGEST_ANSWER: usize = 2 * 1024 * 1024;

/// Asks stores, trusting what is said beside the usual authorities.
pub(crate) fn store_client(trust: Trust) -> Http {
    Http::new(HttpSettings {
        trust,
        largest_answer: LARGEST_ANSWER,
        is_near,
        addresses: None,
    })
}

/// Whether an address is of this machine, or of the metadata service that a cloud gives to it.
pub(crate) fn is_near(url: &Url) -> bool {
    is_this_machine(url)
        || match url.host() {
            Some(Host::Ipv4(address)) => address.is_link_local(),
            Some(Host::Ipv6(address)) => {
                address.is_unicast_link_local()
                    // AWS: the metadata service, and what gives pods their credentials.
                    || matches!(
                        address.segments(),
                        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23]
                    )
            }
            Some(Host::Domain(name)) => name.trim_end_matches('.') == "metadata.google.internal",
            None => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_and_its_metadata_service_are_near() {
        for (address, near, this_machine) in [
            ("http://127.0.0.1:8200/", true, true),
            ("http://127.8.9.1/", true, true),
            ("http://[::1]/", true, true),
            ("http://[::ffff:127.0.0.1]/", true, true),
            ("http://localhost:1/", true, true),
            ("http://LOCALHOST./", true, true),
            ("http://vault.localhost/", true, true),
            // Other spellings of 127.0.0.1.
            ("http://2130706433/", true, true),
            ("http://0x7f.1/", true, true),
            ("http://169.254.169.254/", true, false),
            ("http://169.254.170.2/", true, false),
            ("http://[fd00:ec2::254]/", true, false),
            ("http://[fd00:ec2::23]/", true, false),
            ("http://[fe80::1]/", true, false),
            ("http://metadata.google.internal/", true, false),
            ("http://metadata.google.internal./", true, false),
            ("http://10.0.0.1/", false, false),
            ("http://0.0.0.0/", false, false),
            ("http://192.168.1.1/", false, false),
            ("http://[fd00:ec2::255]/", false, false),
            ("http://[fd00:ec2:1::23]/", false, false),
            ("http://[::ffff:10.0.0.1]/", false, false),
            ("http://localhost.example.com/", false, false),
            ("http://notlocalhost/", false, false),
            ("http://127.0.0.1.example.com/", false, false),
            ("http://metadata.google.internal.example.com/", false, false),
            ("http://user@example.com/127.0.0.1", false, false),
        ] {
            let url = Url::parse(address).unwrap();
            assert_eq!(is_near(&url), near, "{address}");
            assert_eq!(is_this_machine(&url), this_machine, "{address}");
        }
    }
}
