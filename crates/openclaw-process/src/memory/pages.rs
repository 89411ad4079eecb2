//! The pages of the program's own file, as the system has them in memory.

use std::time::Duration;
use std::{fs, io};

use rustix::{mm, time};

/// The time that this process has worked so far.
pub(super) fn spent() -> Duration {
    let spent = time::clock_gettime(time::ClockId::ProcessCPUTime);
    spent.try_into().unwrap_or_default()
}

/// Gives back what was only read.
pub(super) fn give_back() {
    let unneeded = match fs::read_to_string("/proc/self/smaps") {
        Ok(text) => untouched(&text, give_back as fn() as usize),
        Err(error) => return tracing::debug!("what is in memory can't be seen: {error}"),
    };
    for mapping in unneeded {
        if let Err(error) = mapping.give_back() {
            tracing::debug!("memory was not given back: {error}");
        }
    }
}

/// A part of the program's file, as it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: usize,
    end: usize,
}

impl Mapping {
    #[expect(unsafe_code, reason = "only the system can take pages back")]
    fn give_back(self) -> io::Result<()> {
        let start = std::ptr::with_exposed_provenance_mut(self.start);
        // SAFETY: this part of the program, as it was loaded, stays where it is for as long as the program
        // runs. It can't be written to, and nothing in it was changed in memory, such as addresses are when a
        // program is loaded. So whoever reads or runs it next finds what was there before, read from the file
        // again.
        unsafe { mm::madvise(start, self.end - self.start, mm::Advice::LinuxDontNeed)? };
        Ok(())
    }
}

/// The parts of the loaded program around this address which can't be written to and have not been, by what
/// the kernel says in `/proc/self/smaps`.
fn untouched(text: &str, address: usize) -> Vec<Mapping> {
    let all = described(text);
    let mut images = all.chunk_by(|one, next| {
        one.file.is_some() && one.file == next.file && one.mapping.end == next.mapping.start
    });
    let holds = |it: &Described<'_>| (it.mapping.start..it.mapping.end).contains(&address);
    // Where the program was loaded, and only there: what is mapped elsewhere of the same file may be gone
    // before it is given back, and something else be in its place.
    let image = images.find(|image| image.iter().any(holds));
    let parts = image.unwrap_or_default().iter();
    parts
        .filter(|it| it.file.is_some() && it.can_only_be_read && it.is_as_in_the_file())
        .map(|it| it.mapping)
        .collect()
}

/// What the kernel says about a mapping.
struct Described<'a> {
    mapping: Mapping,
    can_only_be_read: bool,
    /// The device and the number of the file, if it is one.
    file: Option<(&'a str, &'a str)>,
    /// How many kilobytes of it are no longer what is in the file, in memory and put away on a disk.
    anonymous: Option<u64>,
    swapped: Option<u64>,
}

impl Described<'_> {
    fn is_as_in_the_file(&self) -> bool {
        self.anonymous == Some(0) && self.swapped == Some(0)
    }
}

fn described(text: &str) -> Vec<Described<'_>> {
    let mut all: Vec<Described<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(head) = head(line) {
            all.push(head);
        } else if let Some((name, rest)) = line.split_once(':')
            && let Some(last) = all.last_mut()
        {
            let figure = || rest.trim().strip_suffix(" kB")?.parse().ok();
            match name {
                "Anonymous" => last.anonymous = figure(),
                "Swap" => last.swapped = figure(),
                _ => {}
            }
        }
    }
    all
}

/// Reads the first line about a mapping: `start-end rwxp offset device inode path`.
fn head(line: &str) -> Option<Described<'_>> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let mapping = Mapping {
        start: usize::from_str_radix(start, 16).ok()?,
        end: usize::from_str_radix(end, 16).ok()?,
    };
    let permissions = words.next()?;
    let (_offset, device, inode) = (words.next()?, words.next()?, words.next()?);
    Some(Described {
        mapping,
        can_only_be_read: permissions.starts_with("r-"),
        file: (inode != "0").then_some((device, inode)),
        anonymous: None,
        swapped: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
5500-5600 r--p 00000000 fd:00 77                         /usr/bin/openclaw
Size:                  4 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me sd
5600-5700 r-xp 00001000 fd:00 77                         /usr/bin/openclaw
Anonymous:             0 kB
Swap:                  0 kB
5700-5800 r--p 00002000 fd:00 77                         /usr/bin/openclaw
Anonymous:             4 kB
Swap:                  0 kB
5800-5900 rw-p 00003000 fd:00 77                         /usr/bin/openclaw
Anonymous:             0 kB
Swap:                  0 kB
5900-5a00 r--p 00004000 fd:00 77                         /usr/bin/openclaw
5a00-5b00 r--p 00005000 fd:00 77                         /usr/bin/openclaw
Anonymous:             0 kB
Swap:                  4 kB
6000-6100 r-xp 00000000 fd:00 78                         /usr/lib/libc.so.6
Anonymous:             0 kB
Swap:                  0 kB
6200-6300 r--p 00000000 fd:00 77                         /usr/bin/openclaw
Anonymous:             0 kB
Swap:                  0 kB
7000-7100 r--p 00000000 00:00 0                          [vvar]
Anonymous:             0 kB
Swap:                  0 kB
";

    #[test]
    fn only_what_is_as_in_the_own_file_is_given_back() {
        let found = untouched(SMAPS, 0x5680);
        let parts: Vec<_> = found.iter().map(|it| (it.start, it.end)).collect();
        assert_eq!(parts, [(0x5500, 0x5600), (0x5600, 0x5700)]);
        assert_eq!(untouched(SMAPS, 0x7010), []);
        assert_eq!(untouched(SMAPS, 0x9000), []);
        assert_eq!(untouched("nonsense\n-\nx-y\n", 0), []);
    }

    fn resident_of_files() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|it| it.strip_prefix("RssFile:"));
        let number = line.unwrap().trim().strip_suffix(" kB").unwrap();
        number.parse().unwrap()
    }

    /// Reads a byte of each page of the program's own file that it may read.
    #[expect(unsafe_code, reason = "nothing else reads all of it")]
    fn touch_all() -> u64 {
        let text = fs::read_to_string("/proc/self/smaps").unwrap();
        let mut sum = 0;
        for part in untouched(&text, give_back as fn() as usize) {
            for address in (part.start..part.end).step_by(4096) {
                let byte = std::ptr::with_exposed_provenance::<u8>(address);
                // SAFETY: it is a part of the loaded program that can be read, and stays where it is.
                sum += u64::from(unsafe { byte.read_volatile() });
            }
        }
        sum
    }

    #[test]
    fn what_is_given_back_is_as_it_was() {
        let before = touch_all();
        let held = resident_of_files();
        give_back();
        let left = resident_of_files();
        // Libraries stay, and so does what runs now.
        assert!(left < held * 3 / 4, "{left} of {held} kB are left");
        assert_eq!(touch_all(), before);
    }
}
