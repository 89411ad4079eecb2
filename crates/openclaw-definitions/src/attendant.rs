//! Whoever waits while the keyring is asked.

/// Whoever waits while the keyring is asked: a person may have to give its password.
pub trait Attendant {
    /// Hears, once, that the keyring takes its time.
    fn waits(&mut self);

    /// Comes back when nobody wants to wait any longer.
    fn stopped(&mut self) -> impl Future<Output = ()>;
}

/// Nobody who could be told something. Whoever drops the question stops it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Attendant for Nobody {
    fn waits(&mut self) {}

    async fn stopped(&mut self) {
        std::future::pending::<()>().await;
    }
}
