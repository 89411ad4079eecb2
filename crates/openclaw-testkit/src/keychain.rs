//! A real keyring for tests: GNOME Keyring on a session bus of its own, in a home of its own.
//!
//! `scripts/partners` gets the programs. No test reaches the keyring of the person who runs it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::leaks::{descendants, wait_until};
use crate::partners;

/// Leaves out the tests of a real keyring.
const SKIP: &str = "OPENCLAW_SKIP_KEYRING";
/// How long a program has to be ready.
const PATIENCE: Duration = Duration::from_secs(20);
/// The password of the keyring.
const PASSWORD: &str = "the password of a test";
/// A bus that knows nothing of the machine: no program is started by it but those of the test.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=@HOME@/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>@HOME@/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// A session bus, with a keyring on it unless the test wants none. Both end when this is dropped.
#[derive(Debug)]
pub struct Keychain {
    programs: PathBuf,
    home: PathBuf,
    bus: Child,
    daemon: Option<Child>,
}

impl Keychain {
    /// A bus with a keyring that is open.
    ///
    /// `None` where the person who runs the tests does not want those of a real keyring. That the
    /// programs are missing is an error.
    pub fn start() -> io::Result<Option<Self>> {
        let Some(mut keychain) = Self::without_keyring()? else {
            return Ok(None);
        };
        keychain.unlock()?;
        Ok(Some(keychain))
    }

    /// A bus that no keyring is on.
    pub fn without_keyring() -> io::Result<Option<Self>> {
        if std::env::var_os(SKIP).is_some_and(|value| !value.is_empty()) {
            return Ok(None);
        }
        let programs = programs()?;
        let home = new_home()?;
        write_prompter(&home)?;
        let config = home.join("bus.conf");
        fs::write(&config, BUS.replace("@HOME@", &home.display().to_string()))?;
        let mut option = OsString::from("--config-file=");
        option.push(&config);
        let bus = Command::new(programs.join("dbus-daemon"))
            .arg(option)
            .args(["--nofork", "--nopidfile"])
            .env_clear()
            .env("HOME", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log(&home)?)
            .spawn()?;
        let keychain = Self {
            programs,
            home,
            bus,
            daemon: None,
        };
        let socket = keychain.home.join("bus");
        keychain.ready("dbus-daemon", || socket.exists())?;
        Ok(Some(keychain))
    }

    /// Starts the keyring, or starts it anew, with its password.
    pub fn unlock(&mut self) -> io::Result<()> {
        self.start_daemon(true)
    }

    /// Starts the keyring anew without its password, so that what is in it is locked.
    pub fn lock(&mut self) -> io::Result<()> {
        self.start_daemon(false)
    }

    /// Ends the keyring at once, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            // It may have ended already.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    /// Makes the keyring wait for ever for the password that it asks for: what shows its window
    /// never comes up.
    pub fn stall_prompts(&self) -> io::Result<()> {
        fs::write(self.home.join("stall"), "")
    }

    /// Whether the keyring asks for its password, or did.
    pub fn is_prompting(&self) -> bool {
        self.prompts() > 0
    }

    /// How often it did.
    pub fn prompts(&self) -> usize {
        let lines = fs::read_to_string(self.home.join("prompts"));
        lines.unwrap_or_default().lines().count()
    }

    /// The accounts that a service has entries for.
    pub fn accounts(&self, service: &str) -> io::Result<Vec<String>> {
        let found = self.secret_tool(&["search", "--all", "service", service], b"")?;
        let text = [found.stdout, found.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let accounts = text
            .lines()
            .filter_map(|line| line.strip_prefix("attribute.username = "));
        let mut accounts: Vec<String> = accounts.map(str::to_owned).collect();
        accounts.sort();
        Ok(accounts)
    }

    /// The address of the bus.
    pub fn address(&self) -> String {
        format!("unix:path={}/bus", self.home.display())
    }

    /// The variables that lead a program to this keyring and to nothing else.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let path = |path: PathBuf| path.display().to_string();
        vec![
            ("DBUS_SESSION_BUS_ADDRESS", self.address()),
            ("XDG_RUNTIME_DIR", path(self.home.join("run"))),
            ("XDG_DATA_HOME", path(self.home.join("data"))),
        ]
    }

    /// Runs `secret-tool`, libsecret's own program, and gives it `input`.
    pub fn secret_tool(&self, arguments: &[&str], input: &[u8]) -> io::Result<Output> {
        let mut child = self
            .command("secret-tool")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        child.wait_with_output()
    }

    /// What `secret-tool` finds, if it finds something.
    pub fn lookup(&self, service: &str, account: &str) -> io::Result<Option<String>> {
        let arguments = ["lookup", "service", service, "username", account];
        let found = self.secret_tool(&arguments, b"")?;
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        Ok(found.status.success().then_some(text))
    }

    /// Stores something with `secret-tool`.
    pub fn store(&self, service: &str, account: &str, value: &[u8]) -> io::Result<()> {
        let label = ["store", "--label", "of a test"];
        let arguments = [&label[..], &["service", service, "username", account]].concat();
        let stored = self.secret_tool(&arguments, value)?;
        if stored.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&stored.stderr).into_owned();
        Err(io::Error::other(format!("secret-tool: {words}")))
    }

    fn start_daemon(&mut self, unlock: bool) -> io::Result<()> {
        self.kill();
        let control = self.home.join("run/keyring/control");
        // What an earlier one left would look like a sign of the new one.
        let _ = fs::remove_file(&control);
        let mut command = self.command("gnome-keyring-daemon");
        command.args(["--foreground", "--components=secrets"]);
        if unlock {
            command.arg("--unlock");
        }
        let mut daemon = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log(&self.home)?)
            .spawn()?;
        if let Some(mut stdin) = daemon.stdin.take()
            && unlock
        {
            stdin.write_all(PASSWORD.as_bytes())?;
        }
        self.daemon = Some(daemon);
        // It has its name on the bus when an answer comes, found or not; nobody is asked for a
        // password because nothing has this name.
        let is_there = || {
            let asked = self.secret_tool(&["search", "nothing", "has this"], b"");
            control.exists()
                && asked.is_ok_and(|it| {
                    it.status.success()
                        && !String::from_utf8_lossy(&it.stderr)
                            .to_lowercase()
                            .contains("error")
                })
        };
        self.ready("gnome-keyring-daemon", is_there)
    }

    /// A command that sees nothing of the machine but this bus.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command
            .env_clear()
            .env("HOME", &self.home)
            .envs(self.variables());
        command
    }

    fn ready(&self, program: &str, is_ready: impl FnMut() -> bool) -> io::Result<()> {
        if wait_until(PATIENCE, is_ready) {
            return Ok(());
        }
        let words = fs::read_to_string(self.home.join("log")).unwrap_or_default();
        let message = format!("{program} does not come up: {words}");
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }
}

impl Drop for Keychain {
    fn drop(&mut self) {
        // What the bus started would outlive it.
        let started = descendants(self.bus.id());
        self.kill();
        // It may have ended already.
        let _ = self.bus.kill();
        let _ = self.bus.wait();
        if !started.is_empty() {
            let started = started.iter().map(u32::to_string);
            let _ = Command::new("kill").arg("-KILL").args(started).status();
        }
        // What is left of it is in the directory for temporary files.
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// Writes what the bus starts to ask for a password: it never answers if it is to stall, and else
/// it is not to be had. It is there before the bus is, which reads the directory once.
fn write_prompter(home: &Path) -> io::Result<()> {
    let program = home.join("prompter");
    let lines = [
        "#!/bin/sh",
        "cd \"${0%/*}\"",
        "echo >>prompts",
        "[ -e stall ] || exit 1",
        "exec sleep 1000\n",
    ];
    let text = lines.join("\n");
    fs::write(&program, text)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700))?;
    let name = "org.gnome.keyring.SystemPrompter";
    let text = format!("[D-BUS Service]\nName={name}\nExec={}\n", program.display());
    fs::write(home.join(format!("services/{name}.service")), text)
}

/// Where the programs are.
fn programs() -> io::Result<PathBuf> {
    let programs = partners::place().join("keyring/bin");
    let wanted = ["dbus-daemon", "gnome-keyring-daemon", "secret-tool"];
    let missing = wanted.iter().filter(|name| !programs.join(name).exists());
    let missing: Vec<&str> = missing.copied().collect();
    if missing.is_empty() {
        return Ok(programs);
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "{} is not in {}: run `scripts/partners`; where it can't fetch them, install \
             dbus, gnome-keyring and libsecret-tools, or set {SKIP}=1 to leave out these tests",
            missing.join(", "),
            programs.display()
        ),
    ))
}

/// A home directory that is short enough for the paths of sockets.
fn new_home() -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let moment = since.map_or(0, |since| since.subsec_micros());
    let name = format!("keychain-{}-{count}-{moment}", std::process::id());
    let home = std::env::temp_dir().join(name);
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    for directory in ["", "run", "services", "data"] {
        builder.create(home.join(directory))?;
    }
    Ok(home)
}

fn log(home: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true).open(home.join("log"))
}
