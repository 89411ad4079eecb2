//! Who counts as one, by where they call from.

use std::net::{IpAddr, Ipv6Addr};

/// An address, or a network of which somebody usually has all addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Whence {
    V4([u8; 4]),
    V6([u16; 4]),
}

impl From<IpAddr> for Whence {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) if address == Ipv6Addr::LOCALHOST => Self::V6([0, 0, 0, 1]),
            IpAddr::V6(address) => {
                let [first, second, third, fourth, ..] = address.segments();
                Self::V6([first, second, third, fourth])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_version_six_is_one_address_and_so_is_a_mapped_one() {
        let same = |one: &str, two: &str| {
            let whence = |text: &str| Whence::from(text.parse::<IpAddr>().unwrap());
            whence(one) == whence(two)
        };
        assert!(same("2001:db8::1", "2001:db8::ffff:2"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
    }
}
