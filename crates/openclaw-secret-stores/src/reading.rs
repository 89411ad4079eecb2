//! Reading files that may lie on a network, on threads that may wait.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The files that are being read, each with a turn for those who want to.
static TURNS: LazyLock<Mutex<HashMap<PathBuf, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

/// Reads a file, or what belongs to it. There is one thread for it at a time: it goes on also when nobody waits for it any
/// longer, and whoever asks again and again for what is on a disk that does not answer would take one each time, until
/// there are none for anybody.
pub(crate) async fn read<T: Send + 'static>(
    path: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
) -> io::Result<T> {
    let turn = turns(path);
    let turn = turn.acquire_owned().await.map_err(io::Error::other)?;
    let path = path.to_owned();
    let reading = spawn_blocking(move || {
        let _turn = turn;
        read(&path)
    });
    reading.await.map_err(io::Error::other)
}

fn turns(path: &Path) -> Arc<Semaphore> {
    let mut all = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(turns) = all.get(path).and_then(Weak::upgrade) {
        return turns;
    }
    all.retain(|_, turns| turns.strong_count() > 0);
    let turns = Arc::new(Semaphore::new(1));
    all.insert(path.to_owned(), Arc::downgrade(&turns));
    turns
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_file_on_a_disk_that_does_not_answer_takes_one_thread_however_often_it_is_asked_for()
    {
        let begun = Arc::new(AtomicUsize::new(0));
        let (answer, disk) = mpsc::channel::<()>();
        let disk = Arc::new(Mutex::new(disk));
        let hanging = Path::new("/a/disk/that/hangs");
        for _ in 0..20 {
            let (begun, disk) = (Arc::clone(&begun), Arc::clone(&disk));
            let reading = read(hanging, move |_| {
                begun.fetch_add(1, Ordering::SeqCst);
                // Over when the test is.
                let _ = disk.lock().unwrap().recv();
            });
            let waited = timeout(Duration::from_millis(10), reading).await;
            waited.unwrap_err();
        }
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        // Another file is not behind it.
        let other = read(Path::new("/another"), |path| path.display().to_string());
        assert_eq!(other.await.unwrap(), "/another");
        // Once the disk answers, it is read again.
        drop(answer);
        assert_eq!(read(hanging, |_| 7).await.unwrap(), 7);
        drop(read(Path::new("/a/third"), |_| ()).await);
        let all = TURNS.lock().unwrap();
        assert!(!all.contains_key(hanging), "what is over is forgotten");
    }
}
