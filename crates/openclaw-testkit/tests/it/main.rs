//! The fake servers, talked to as they are: bytes in, bytes out.

#[cfg(test)]
mod conversation;
#[cfg(test)]
mod fake_login;
#[cfg(test)]
mod http_client;
#[cfg(test)]
mod http_faults;
#[cfg(test)]
mod http_good;
#[cfg(test)]
mod legacy_sse;
#[cfg(test)]
mod modern_http;
#[cfg(test)]
mod modern_stdio;
#[cfg(test)]
mod real;
#[cfg(test)]
mod stdio_faults;
#[cfg(test)]
mod stdio_good;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod web;
