use super::*;

fn reading(variables: &[(&str, &str)], configured: &Configured) -> Reading {
    let find = |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Reading::new(find, configured)
}

fn settings(variables: &[(&str, &str)]) -> Settings {
    let reading = reading(variables, &Configured::default());
    assert_eq!(reading.remarks, [""; 0]);
    reading.settings.unwrap()
}

fn enabled() -> Configured {
    Configured {
        enabled: true,
        traces: true,
        ..Configured::default()
    }
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example");

#[test]
fn nothing_is_exported_unless_somebody_says_where_to() {
    assert_eq!(reading(&[], &Configured::default()), Reading::default());
    let others = [
        ("OTEL_SERVICE_NAME", "x"),
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", " "),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=b"),
    ];
    assert_eq!(reading(&others, &Configured::default()), Reading::default());
    let without_traces = Configured {
        traces: false,
        ..enabled()
    };
    assert_eq!(reading(&[], &without_traces), Reading::default());
}

#[test]
fn the_address_is_that_of_traces() {
    for (name, value, endpoint) in [
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "https://c",
            "https://c/v1/traces",
        ),
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "https://c/a/",
            "https://c/a/v1/traces",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "https://c",
            "https://c/",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "http://[::1]:1/x",
            "http://[::1]:1/x",
        ),
    ] {
        assert_eq!(settings(&[(name, value)]).endpoint.as_str(), endpoint);
    }
    let configured = reading(&[], &enabled()).settings.unwrap();
    assert_eq!(
        configured.endpoint.as_str(),
        "http://localhost:4318/v1/traces"
    );
    let whole = Configured {
        endpoint: Some(Url::parse("https://c/v1/traces").unwrap()),
        ..enabled()
    };
    let configured = reading(&[], &whole).settings.unwrap();
    assert_eq!(configured.endpoint.as_str(), "https://c/v1/traces");
}

#[test]
fn variables_win_over_the_file() {
    let configured = Configured {
        endpoint: Some(Url::parse("https://file.example").unwrap()),
        service: Some("of-file".to_owned()),
        share: Some(0.5),
        interval: Some(Duration::from_secs(9)),
        ..enabled()
    };
    let file = reading(&[], &configured).settings.unwrap();
    assert_eq!(file.service, "of-file");
    assert_eq!(file.interval, Duration::from_secs(9));
    assert!(file.with_configured_headers);
    let share = Sampler::Share {
        share: 0.5,
        follows_parent: true,
    };
    assert_eq!(file.sampler, share);
    let variables = [
        ENDPOINT,
        ("OTEL_SERVICE_NAME", "of-variable"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("OTEL_BSP_SCHEDULE_DELAY", "100"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
    ];
    let both = reading(&variables, &configured).settings.unwrap();
    assert_eq!(both.endpoint.host_str(), Some("collector.example"));
    assert_eq!(both.service, "of-variable");
    assert_eq!(both.interval, Duration::from_millis(100));
    assert_eq!(both.timeout, Duration::from_millis(250));
    let none = Sampler::None {
        follows_parent: false,
    };
    assert_eq!(both.sampler, none);
    // A key of the file is for the address of the file.
    assert!(!both.with_configured_headers);
}

#[test]
fn what_is_for_traces_alone_wins() {
    let variables = [
        ENDPOINT,
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "https://traces.example/t",
        ),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=1"),
        (
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "Authorization=Basic%20eA%3D%3D, x-b = 2",
        ),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "3000"),
    ];
    let settings = settings(&variables);
    assert_eq!(settings.endpoint.as_str(), "https://traces.example/t");
    let names: Vec<&str> = settings
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["authorization", "x-b"]);
    assert_eq!(settings.timeout, Duration::from_secs(3));
}

#[test]
fn headers_are_decoded_and_secret() {
    let text = "Authorization=Basic%20eA%3D%3D, x-b = 2";
    let settings = settings(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_HEADERS", text)]);
    let headers: Vec<(&str, &str)> = settings
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    assert_eq!(headers, [("authorization", "Basic eA=="), ("x-b", "2")]);
    assert!(!format!("{settings:?}").contains("eA=="));
}

#[test]
fn attributes_say_more_about_the_program() {
    let attributes = "deployment.environment.name=home, service.name=mine, a=b%2Cc,nonsense";
    let settings = settings(&[ENDPOINT, ("OTEL_RESOURCE_ATTRIBUTES", attributes)]);
    assert_eq!(settings.service, "mine");
    let expected = [("a", "b,c"), ("deployment.environment.name", "home")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(settings.resource, expected);
}

#[test]
fn every_sampler_of_the_specification_is_known() {
    let follows_parent = true;
    for (word, sampler) in [
        (
            "always_on",
            Sampler::All {
                follows_parent: false,
            },
        ),
        ("parentbased_always_on", Sampler::All { follows_parent }),
        ("parentbased_always_off", Sampler::None { follows_parent }),
        (
            "parentbased_traceidratio",
            Sampler::Share {
                share: 0.25,
                follows_parent,
            },
        ),
    ] {
        let variables = [
            ENDPOINT,
            ("OTEL_TRACES_SAMPLER", word),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ];
        assert_eq!(settings(&variables).sampler, sampler);
    }
}

#[test]
fn what_switches_it_off_wins() {
    for off in [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_SDK_DISABLED", "TRUE"),
        ("OTEL_TRACES_EXPORTER", "none"),
    ] {
        assert_eq!(reading(&[ENDPOINT, off], &enabled()), Reading::default());
    }
}

#[test]
fn what_can_not_be_used_is_told_without_its_value() {
    for (name, value, is_on) in [
        ("OTEL_TRACES_EXPORTER", "jaeger-s3cret", false),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "collector:4317-s3cret",
            false,
        ),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc-s3cret", false),
        ("OTEL_TRACES_SAMPLER", "s3cret", true),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "s3cret", true),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a b=s3cret", true),
    ] {
        let reading = reading(&[ENDPOINT, (name, value)], &Configured::default());
        assert_eq!(reading.settings.is_some(), is_on, "{name}");
        let [remark] = &reading.remarks[..] else {
            panic!("{name}: {:?}", reading.remarks);
        };
        assert!(
            remark.contains(name) && !remark.contains("s3cret"),
            "{remark}"
        );
    }
}

#[test]
fn an_address_that_others_can_read_along_with_is_told() {
    let far = [(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "http://collector.example:4318",
    )];
    let reading = reading(&far, &Configured::default());
    assert!(reading.settings.is_some());
    assert!(reading.remarks[0].contains("without encryption"));
}
