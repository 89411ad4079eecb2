//! Where models are.

use crate::expand::Text;
use crate::raw::RawCredential;
use crate::raw::address::Address;
use crate::raw::entries::Entries;
use crate::raw::variables::HeaderMap;
use crate::shape::{NonEmpty, Whole, object};

object! {
    /// The models.
    open RawModels as "models" {
        /// Where models are, by the name that stands before the `/` of a model.
        providers: Entries<RawProvider> = "providers";
    }
}

object! {
    /// A service that offers models.
    open RawProvider as "modelProvider" {
        /// The service's address: the bare host for `anthropic-messages`, ending in `/v1` for the
        /// OpenAI kinds and in `/v1beta` for Gemini.
        base_url: Address = "baseUrl";
        /// The key. Without it, the usual environment variable of the service.
        api_key: RawCredential = "apiKey";
        /// The protocol: `openai-completions`, `openai-responses`, `anthropic-messages`,
        /// `google-generative-ai`, `ollama`.
        api: Text = "api";
        /// HTTP headers for every request.
        headers: HeaderMap = "headers";
        /// How long a request may take, in seconds.
        timeout_seconds: Whole<1, 86_400> = "timeoutSeconds";
        /// Permits `http://` to other machines: whoever is between reads the key and everything
        /// that is said.
        allow_insecure_http: bool = "allowInsecureHttp", default false;
        /// What is known about its models.
        models: Vec<RawModelFacts> = "models";
    }
}

object! {
    /// What is known about a model.
    open RawModelFacts as "modelFacts" {
        /// Its name at the service.
        id: NonEmpty = "id";
        /// How many tokens it can hold.
        context_window: Whole<1, 1_000_000_000> = "contextWindow";
        /// How many tokens it may answer with.
        max_tokens: Whole<1, 1_000_000_000> = "maxTokens";
        /// What it takes: `text`, `image`, and `pdf` for documents (or `document`, or `file`). Where it
        /// is not set, its name and its service say.
        input: Vec<Text> = "input";
    }
}
