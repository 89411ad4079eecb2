//! Which addresses authorization servers may have.
//!
//! What a server names is asked by this machine, which may stand where the server does not: behind
//! a firewall, in a cloud. A server out there must not make us knock at doors in here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use openclaw_http::AddressRule;

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Out there.
    Public,
    /// To this machine.
    ThisMachine,
    /// To a network that is not public: of a house, a company, a provider.
    Internal,
    /// To nobody who grants tokens: neighbours on the wire, many at once, the metadata service of a
    /// cloud.
    Nowhere,
}

impl Place {
    /// Where an address leads. One that has another in it leads where that one does.
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_version_4(address),
            IpAddr::V6(address) => of_version_6(address),
        }
    }
}

fn of_version_4(address: Ipv4Addr) -> Place {
    match address.octets() {
        [127, ..] => Place::ThisMachine,
        // This network, link-local, multicast, reserved, broadcast; the metadata services of
        // Alibaba and Oracle, and what Azure has beside its own. The range for benchmarks
        // (198.18.0.0/15) counts as public: proxies use it for names that they look up themselves.
        [0 | 224..=255, ..]
        | [169, 254, ..]
        | [100, 100, 100, 200]
        | [192, 0, 0, _]
        | [168, 63, 129, 16] => Place::Nowhere,
        // RFC 1918, RFC 6598.
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Place::Internal,
        _ => Place::Public,
    }
}

fn of_version_6(address: Ipv6Addr) -> Place {
    let embedded = |high: u16, low: u16| {
        let [first, second] = high.to_be_bytes();
        let [third, fourth] = low.to_be_bytes();
        of_version_4(Ipv4Addr::new(first, second, third, fourth))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Place::ThisMachine,
        // Unspecified, Teredo, discard, link-local, multicast; the metadata services of AWS and
        // Google.
        [0, 0, 0, 0, 0, 0, 0, 0]
        | [0x2001 | 0x100, 0, ..]
        | [0xfe80..=0xfebf | 0xff00..=0xffff, ..]
        | [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23]
        | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => Place::Nowhere,
        // An IPv4 address in another form (RFC 4291 §2.5.5), or behind a translator: NAT64 (RFC
        // 6052, RFC 8215) and 6to4 (RFC 3056).
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        // Unique local, and what site-local was.
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Place::Internal,
        _ => Place::Public,
    }
}

/// The places that a connection may lead to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// This machine too.
    pub(crate) this_machine: bool,
    /// Internal networks too.
    pub(crate) internal: bool,
}

impl Allowed {
    /// Allows what leads to where `addresses` lead. All of them have to lead there: who looks up a
    /// name of his own can add any address to it.
    pub(crate) fn internal_like(&mut self, addresses: &[IpAddr]) {
        let is_internal = |address: &IpAddr| Place::of(*address) == Place::Internal;
        self.internal |= !addresses.is_empty() && addresses.iter().all(is_internal);
    }
}

impl AddressRule for Allowed {
    fn allows(&self, address: IpAddr) -> bool {
        match Place::of(address) {
            Place::Public => true,
            Place::ThisMachine => self.this_machine,
            Place::Internal => self.internal,
            Place::Nowhere => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: &str) -> Place {
        Place::of(address.parse().unwrap())
    }

    #[test]
    fn every_address_leads_to_one_place() {
        for (expected, addresses) in [
            (
                Place::Public,
                [
                    "1.1.1.1",
                    "172.15.0.1",
                    "172.32.0.1",
                    "100.63.0.1",
                    "100.128.0.1",
                    "198.18.0.7",
                    "2606:4700::1111",
                    "::ffff:1.1.1.1",
                    "64:ff9b::1.1.1.1",
                    "2002:101:101::",
                ]
                .as_slice(),
            ),
            (
                Place::ThisMachine,
                &[
                    "127.0.0.1",
                    "127.255.0.9",
                    "::1",
                    "::ffff:127.0.0.1",
                    "::127.0.0.1",
                    "64:ff9b::127.0.0.1",
                    "2002:7f00:1::",
                ],
            ),
            (
                Place::Internal,
                &[
                    "10.0.0.1",
                    "172.16.0.1",
                    "172.31.255.255",
                    "192.168.1.1",
                    "100.64.0.1",
                    "100.127.255.255",
                    "fd12::1",
                    "fc00::1",
                    "fec0::1",
                    "::ffff:10.0.0.1",
                    "64:ff9b::192.168.0.1",
                    "64:ff9b:1::10.1.2.3",
                    "2002:a00:1::",
                ],
            ),
            (
                Place::Nowhere,
                &[
                    "0.0.0.0",
                    "0.1.2.3",
                    "169.254.169.254",
                    "100.100.100.200",
                    "192.0.0.192",
                    "168.63.129.16",
                    "224.0.0.1",
                    "240.0.0.1",
                    "255.255.255.255",
                    "::",
                    "fe80::1",
                    "febf::1",
                    "ff02::1",
                    "fd00:ec2::254",
                    "fd20:ce::254",
                    "::ffff:169.254.169.254",
                    "64:ff9b::169.254.169.254",
                    "2002:a9fe:a9fe::",
                    "2001:0:1:2::3",
                    "100::1",
                ],
            ),
        ] {
            for address in addresses {
                assert_eq!(place(address), expected, "{address}");
            }
        }
    }

    #[test]
    fn who_is_inside_may_lead_inside_and_never_nowhere() {
        let parse = |texts: &[&str]| -> Vec<IpAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        for (own, internal) in [
            (parse(&["10.0.0.1"]), true),
            (parse(&["10.0.0.1", "fd12::1"]), true),
            (parse(&["10.0.0.1", "1.1.1.1"]), false),
            (parse(&["127.0.0.1"]), false),
            (parse(&["169.254.1.1"]), false),
            (Vec::new(), false),
        ] {
            let mut allowed = Allowed::default();
            allowed.internal_like(&own);
            assert!(allowed.allows("1.1.1.1".parse().unwrap()));
            let inside = allowed.allows("192.168.0.1".parse().unwrap());
            assert_eq!(inside, internal, "{own:?}");
            for never in ["127.0.0.1", "169.254.169.254", "::"] {
                assert!(!allowed.allows(never.parse().unwrap()), "{never}");
            }
        }
        let here = Allowed {
            this_machine: true,
            internal: false,
        };
        assert!(here.allows("127.0.0.1".parse().unwrap()));
        assert!(!here.allows("10.0.0.1".parse().unwrap()));
    }
}
