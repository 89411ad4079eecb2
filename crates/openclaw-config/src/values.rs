//! The values of a configuration that may be credentials, each with the field it stands in.

use std::collections::BTreeMap;

use crate::config::{Gateway, ModelProvider};
use crate::raw::ConfigValue;
use crate::server::{Authorization, Launch, Server};

/// A value and the field it stands in, as people write it: `env.TOKEN`, `apiKey`.
pub type NamedValue<'c> = (String, &'c ConfigValue);

impl Server {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        match &self.launch {
            Launch::Stdio(launch) => named("env", &launch.environment),
            Launch::Remote(launch) => {
                let mut values = named("headers", &launch.headers);
                match &launch.authorization {
                    Authorization::Header(value) => {
                        values.push(("headers.authorization".to_owned(), value));
                    }
                    Authorization::ApiKey(value) => values.push(("apiKey".to_owned(), value)),
                    Authorization::OAuth(settings) => {
                        let secret = settings.client_secret.as_ref();
                        values.extend(secret.map(|it| ("auth.clientSecret".to_owned(), it)));
                    }
                }
                values
            }
        }
    }
}

impl ModelProvider {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        let mut values = named("headers", &self.headers);
        values.extend(self.api_key.as_ref().map(|key| ("apiKey".to_owned(), key)));
        values
    }
}

impl Gateway {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        let token = self.token.as_ref().map(|it| ("auth.token", it));
        let password = self.password.as_ref().map(|it| ("auth.password", it));
        let values = token.into_iter().chain(password);
        values
            .map(|(field, value)| (field.to_owned(), value))
            .collect()
    }
}

fn named<'c>(section: &str, values: &'c BTreeMap<String, ConfigValue>) -> Vec<NamedValue<'c>> {
    let values = values.iter();
    values
        .map(|(name, value)| (format!("{section}.{name}"), value))
        .collect()
}
