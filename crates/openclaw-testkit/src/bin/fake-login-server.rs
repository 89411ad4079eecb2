//! The fake authorization server and what it protects, as a program of its own.

fn main() -> std::process::ExitCode {
    openclaw_testkit::fake_login::main()
}
