//! The fake service of models as a program of its own; other crates build the same one as an example.

fn main() -> std::process::ExitCode {
    openclaw_testkit::fake_model::main()
}
