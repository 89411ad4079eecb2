//! The fake service of models, for the tests of this crate.

fn main() -> std::process::ExitCode {
    openclaw_testkit::fake_model::main()
}
