use super::*;

const PAGE: &str = "https://auth.example/authorize?state=hush-hush&scope=a%20b";

fn page() -> Url {
    Url::parse(PAGE).unwrap()
}

fn of(variables: &[(&str, &str)]) -> Browser {
    Browser::of(|name| {
        let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
        Some(OsString::from(value))
    })
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_display_no_browser_is_opened() {
    let absent = Browser::Absent(Absence::NoDisplay);
    assert_eq!(of(&[]), absent);
    assert_eq!(of(&[("DISPLAY", ""), ("BROWSER", "")]), absent);
    assert_eq!(of(&[("DISPLAY", ":0")]), Browser::Desktop);
    assert_eq!(of(&[("WAYLAND_DISPLAY", "wayland-0")]), Browser::Desktop);
    assert_eq!(of(&[("WSL_DISTRO_NAME", "Debian")]), Browser::Desktop);
}

#[test]
fn the_browser_of_a_machine_where_nobody_sits_is_not_opened() {
    let variables = [("SSH_CONNECTION", "::1 5 ::1 22"), ("DISPLAY", ":10")];
    assert_eq!(of(&variables), Browser::Absent(Absence::Remote));
}

#[test]
fn what_the_person_names_comes_first() {
    let variables = [
        ("SSH_TTY", "/dev/pts/1"),
        ("BROWSER", "/opt/editor/browser.sh"),
    ];
    assert!(matches!(of(&variables), Browser::Named(_)));
    // Text browsers need the terminal, so they are none here.
    let variables = [("SSH_TTY", "/dev/pts/1"), ("BROWSER", "w3m")];
    assert_eq!(of(&variables), Browser::Absent(Absence::Remote));
}

#[tokio::test]
async fn nothing_but_pages_is_opened() {
    let browser = of(&[("BROWSER", "true")]);
    for address in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "ssh://-oX",
        "data:,x",
    ] {
        let url = Url::parse(address).unwrap();
        assert_eq!(
            browser.open(&url).await,
            Err(NotOpened::NotWeb),
            "{address}"
        );
    }
}

#[tokio::test]
async fn what_is_said_does_not_have_the_address_in_it() {
    let browser = of(&[("BROWSER", "/does/not/exist %s")]);
    let error = browser.open(&page()).await.unwrap_err().to_string();
    assert!(error.starts_with("the browser could not be opened: /does/not/exist: "));
    let absent = Browser::Absent(Absence::Remote).open(&page()).await;
    let words = absent.unwrap_err().to_string();
    assert_eq!(
        words,
        "no browser is opened: you are connected from another machine"
    );
    for said in [error, words, format!("{browser:?}")] {
        assert!(!said.contains("hush"), "{said}");
    }
}

#[cfg(target_os = "linux")]
mod programs {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::*;

    /// Long enough for everything that does happen, on a busy machine.
    const SOON: Duration = Duration::from_mins(1);

    /// A folder with programs in it.
    struct Programs(TempDir);

    impl Programs {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Writes a program. `$HERE` is the folder.
        fn write(&self, name: &str, script: &str) -> &Self {
            let here = self.0.path().display();
            let path = self.path(name);
            let text = format!("#!/bin/sh\nHERE='{here}'\n{script}\n");
            std::fs::write(&path, text).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, mode).unwrap();
            self
        }

        /// What `BROWSER` is to name these programs.
        fn browser(&self, names: &[&str]) -> Browser {
            let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
            let list = std::env::join_paths(paths).unwrap();
            of(&[("BROWSER", list.to_str().unwrap())])
        }

        async fn said(&self, name: &str) -> String {
            let path = self.path(name);
            let said = async {
                loop {
                    match std::fs::read_to_string(&path) {
                        Ok(text) if text.ends_with('\n') => return text,
                        _ => tokio::time::sleep(Duration::from_millis(5)).await,
                    }
                }
            };
            timeout(SOON, said).await.unwrap()
        }
    }

    /// The fields of `/proc/PID/stat` behind the name: state, parent, group.
    fn stat(pid: &str) -> Option<Vec<String>> {
        let text = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).ok()?;
        let (_, fields) = text.rsplit_once(") ")?;
        Some(fields.split(' ').map(str::to_owned).collect())
    }

    #[tokio::test]
    async fn the_first_that_works_opens_the_page() {
        let programs = Programs::new();
        programs
            .write("refuses", "exit 3")
            .write("works", "printf '%s\\n' \"$#\" \"$@\" >\"$HERE/said\"")
            .write("unused", "echo too many >\"$HERE/unused.said\"");
        let browser = programs.browser(&["absent", "refuses", "works", "unused"]);
        browser.open_within(&page(), SOON).await.unwrap();
        assert_eq!(programs.said("said").await, format!("1\n{PAGE}\n"));
        assert!(!programs.path("unused.said").exists());
    }

    #[tokio::test]
    async fn the_first_reason_is_told() {
        let programs = Programs::new();
        programs.write("refuses", "exit 3");
        let browser = programs.browser(&["refuses", "absent"]);
        let error = browser.open_within(&page(), SOON).await.unwrap_err();
        let refuses = programs.path("refuses");
        let expected = format!("{}: it ended with exit status: 3", refuses.display());
        assert_eq!(error, NotOpened::Failed(expected));
    }

    #[tokio::test]
    async fn a_browser_goes_on_by_itself_and_leaves_nothing_behind() {
        let programs = Programs::new();
        let script = "echo noise; echo noise >&2; echo $$ >\"$HERE/pid\"\n\
                      while ! [ -e \"$HERE/end\" ]; do sleep 0.01; done";
        programs.write("stays", script);
        let browser = programs.browser(&["stays"]);
        let patience = Duration::from_millis(50);
        browser.open_within(&page(), patience).await.unwrap();
        let pid = programs.said("pid").await.trim().to_owned();
        let fields = stat(&pid).expect("it runs on");
        assert_eq!(fields[2], pid, "it is in a group of its own");
        for stream in 0..3 {
            let link = format!("/proc/{pid}/fd/{stream}");
            assert_eq!(std::fs::read_link(link).unwrap(), Path::new("/dev/null"));
        }
        std::fs::write(programs.path("end"), "").unwrap();
        let gone = async {
            while stat(&pid).is_some() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, gone).await.expect("it is no zombie");
    }

    /// Runs a test of this module once more, in a process where programs are looked for elsewhere.
    fn again(test: &str, folder: &Path) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg(format!("browser::tests::programs::{test}"))
            .env("OPENCLAW_TEST_FOLDER", folder)
            .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{said}");
    }

    #[tokio::test]
    async fn a_desktop_without_its_first_program_has_others() {
        if let Some(folder) = std::env::var_os("OPENCLAW_TEST_FOLDER") {
            // Whoever ran this looks at what the programs were given.
            assert!(folder.to_str().is_some());
            Browser::Desktop.open_within(&page(), SOON).await.unwrap();
            return;
        }
        let programs = Programs::new();
        programs
            .write("xdg-open", "echo \"$1\" >\"$HERE/first\"; exit 3")
            .write("gio", "echo \"$1\" \"$2\" >\"$HERE/second\"");
        again(
            "a_desktop_without_its_first_program_has_others",
            programs.0.path(),
        );
        assert_eq!(programs.said("first").await, format!("{PAGE}\n"));
        assert_eq!(programs.said("second").await, format!("open {PAGE}\n"));
    }
}
