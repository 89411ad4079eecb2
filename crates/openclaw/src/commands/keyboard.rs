//! Lines that a person edits, on a thread of their own: editors wait for keys, and nothing else may wait
//! for them.

mod continued;
mod prompt;
mod suggestions;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossterm::event;
use reedline::{
    ColumnarMenu, EditCommand, Emacs, FileBackedHistory, Highlighter, History, HistoryItem,
    KeyCode, KeyModifiers, MenuBuilder as _, Reedline, ReedlineEvent, ReedlineMenu, Signal,
    StyledText, default_emacs_keybindings,
};
use tokio::sync::{oneshot, watch};

use crate::commands::typed;
use crate::terminal;
use continued::Continued;
use prompt::Prompt;
use suggestions::Suggesting;

pub(super) use suggestions::{Suggested, Wanted};

/// How long an editor may take to notice that nobody waits for its line.
const NOTICED: Duration = Duration::from_secs(2);
/// How many lines are remembered within one run.
const REMEMBERED: usize = 1_000;
/// How many keys can be forgotten.
const MOST_KEYS: usize = 1_000_000;
const MENU: &str = "candidates";
const SUSPEND: &str = "suspend";

/// What a person pressed at the end of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// Enter.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    End,
    /// Nothing: the terminal can't be used like this.
    Broken(String),
}

/// What an editor is made with.
pub(super) struct Setup {
    /// What was typed before, the oldest first.
    pub(super) remembered: Vec<String>,
    /// Who keeps what is typed.
    pub(super) keep: Box<dyn FnMut(&str) + Send>,
    /// Whom to ask how a message can go on.
    pub(super) suggestions: tokio::sync::mpsc::Sender<Wanted>,
    /// What was typed before the editor was there: the first message begins with it.
    pub(super) begun: String,
    pub(super) is_coloured: bool,
}

/// A line editor.
pub(super) struct Keyboard {
    orders: Option<SyncSender<Order>>,
    stop: Arc<AtomicBool>,
    /// Whether what was typed so far is neither an answer nor a message.
    forgets: Arc<AtomicBool>,
    /// How many lines were asked for.
    asked: AtomicU64,
    /// How many of them are over.
    over: watch::Receiver<u64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Asks for a line.
struct Order {
    kind: Kind,
    prompt: String,
    pressed: oneshot::Sender<Pressed>,
}

enum Kind {
    /// A message: it may have several lines, is remembered, and can be completed.
    Message,
    /// An answer to a question.
    Answer,
}

/// Somebody who waits for a line. The editor is told when nobody does any more.
struct Waiting<'k> {
    pressed: oneshot::Receiver<Pressed>,
    stop: &'k AtomicBool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // In this order: an editor that has not begun yet looks at the first after it forgot the second.
        self.pressed.close();
        self.stop.store(true, Ordering::SeqCst);
    }
}

impl Keyboard {
    /// An editor on the terminal of this process.
    pub(super) fn start(setup: Setup) -> io::Result<Self> {
        let (orders, ordered) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let (done, over) = watch::channel(0);
        let forgets = Arc::new(AtomicBool::new(false));
        let flags = (Arc::clone(&stop), Arc::clone(&forgets));
        let thread = std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || serve(setup, &ordered, &flags.0, &flags.1, &done))?;
        Ok(Self {
            orders: Some(orders),
            stop,
            forgets,
            asked: AtomicU64::new(0),
            over,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// The next message.
    pub(super) async fn message(&self, prompt: &str) -> Pressed {
        self.line(Kind::Message, prompt).await
    }

    /// The answer to a question.
    pub(super) async fn answer(&self, prompt: &str) -> Pressed {
        self.line(Kind::Answer, prompt).await
    }

    /// Forgets what was typed by the time of the next line: it answers no question that nobody could
    /// read, and what was meant for one that is gone is no message.
    pub(super) fn forget(&self) {
        self.forgets.store(true, Ordering::SeqCst);
    }

    /// Waits until the terminal is free again, after somebody ceased to wait for a line.
    pub(super) async fn rest(&self) {
        let asked = self.asked.load(Ordering::SeqCst);
        let mut over = self.over.clone();
        // A thread that is gone, or does not notice, is no reason to be silent.
        let _ = tokio::time::timeout(NOTICED, over.wait_for(|over| *over >= asked)).await;
    }

    async fn line(&self, kind: Kind, prompt: &str) -> Pressed {
        self.rest().await;
        let (sender, pressed) = oneshot::channel();
        let order = Order {
            kind,
            prompt: prompt.to_owned(),
            pressed: sender,
        };
        let mut waiting = Waiting {
            pressed,
            stop: &self.stop,
        };
        let gone = || Pressed::Broken("the line editor has ended".to_owned());
        self.asked.fetch_add(1, Ordering::SeqCst);
        let sent = self.orders.as_ref().map(|orders| orders.try_send(order));
        if !matches!(sent, Some(Ok(()))) {
            self.asked.fetch_sub(1, Ordering::SeqCst);
            return gone();
        }
        tokio::select! {
            biased;
            pressed = &mut waiting.pressed => pressed.unwrap_or_else(|_| gone()),
            // Editors go on reading where nothing can ever come from.
            () = terminal::gone() => Pressed::End,
        }
    }
}

impl Drop for Keyboard {
    /// Waits until the editor has put the terminal back.
    fn drop(&mut self) {
        self.orders = None;
        self.stop.store(true, Ordering::SeqCst);
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(thread) = thread else {
            return;
        };
        let until = Instant::now() + NOTICED;
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Reads lines for as long as somebody asks for them.
fn serve(
    setup: Setup,
    orders: &Receiver<Order>,
    stop: &Arc<AtomicBool>,
    forgets: &AtomicBool,
    done: &watch::Sender<u64>,
) {
    let Setup {
        remembered,
        mut keep,
        suggestions,
        begun,
        is_coloured,
    } = setup;
    let history = history(remembered);
    let continued = Continued::default();
    let mut messages = message_editor(history, Suggesting::new(suggestions), &continued)
        .with_ansi_colors(is_coloured)
        .with_break_signal(Arc::clone(stop));
    messages.run_edit_commands(&[EditCommand::InsertString(begun)]);
    for order in orders {
        stop.store(false, Ordering::SeqCst);
        if !order.pressed.is_closed() {
            let prompt = Prompt::new(&order.prompt);
            if forgets.swap(false, Ordering::SeqCst) {
                forget_keys();
            }
            let pressed = match order.kind {
                Kind::Message => match read(&mut messages, &prompt) {
                    Some(Pressed::Line(line)) => Some(Pressed::Line(continued.joined(&line))),
                    pressed => pressed,
                },
                Kind::Answer => {
                    let mut editor = answer_editor()
                        .with_ansi_colors(is_coloured)
                        .with_break_signal(Arc::clone(stop));
                    read(&mut editor, &prompt)
                }
            };
            // Every editor ends that with its line, and what is pasted now stays one message, too.
            terminal::mark_pastes();
            if let (Kind::Message, Some(Pressed::Line(line))) = (&order.kind, &pressed) {
                keep(line);
            }
            if let Some(pressed) = pressed {
                // Whoever asked may have left just now.
                let _ = order.pressed.send(pressed);
            }
        }
        done.send_modify(|over| *over += 1);
    }
}

/// Forgets the keys that were pressed: those that the terminal has, and those that were read with an
/// earlier line.
fn forget_keys() {
    typed::forget_keys();
    for _ in 0..MOST_KEYS {
        if !matches!(event::poll(Duration::ZERO), Ok(true)) || event::read().is_err() {
            return;
        }
    }
}

/// Reads a line; none, if nobody waits for it any more.
fn read(editor: &mut Reedline, prompt: &Prompt) -> Option<Pressed> {
    loop {
        match editor.read_line(prompt) {
            Ok(Signal::Success(line)) => return Some(Pressed::Line(line)),
            Ok(Signal::CtrlC) => return Some(Pressed::Interrupt),
            Ok(Signal::CtrlD) => return Some(Pressed::End),
            Ok(Signal::ExternalBreak(_)) => {
                editor.run_edit_commands(&[EditCommand::Clear]);
                return None;
            }
            // It goes on where it was.
            Ok(Signal::HostCommand(_)) => terminal::suspend(),
            Ok(_) => {}
            Err(error) => return Some(Pressed::Broken(error.to_string())),
        }
    }
}

fn history(remembered: Vec<String>) -> Option<FileBackedHistory> {
    let mut history = FileBackedHistory::new(REMEMBERED).ok()?;
    for line in remembered {
        // What can't be remembered is typed again.
        let _ = history.save(HistoryItem::from_command_line(line));
    }
    Some(history)
}

fn message_editor(
    history: Option<FileBackedHistory>,
    suggesting: Suggesting,
    continued: &Continued,
) -> Reedline {
    let mut keys = default_emacs_keybindings();
    keys.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]),
    );
    keys.add_binding(
        KeyModifiers::ALT,
        KeyCode::Enter,
        ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
    );
    bind_suspension(&mut keys);
    let menu = ColumnarMenu::default().with_name(MENU).with_columns(1);
    let editor = Reedline::create()
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_validator(Box::new(continued.clone()))
        .with_highlighter(Box::new(Uncoloured))
        .with_completer(Box::new(suggesting))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_history_exclusion_prefix(Some(" ".to_owned()))
        .use_bracketed_paste(true);
    match history {
        Some(history) => editor.with_history(Box::new(history)),
        None => editor,
    }
}

fn answer_editor() -> Reedline {
    let mut keys = default_emacs_keybindings();
    bind_suspension(&mut keys);
    Reedline::create()
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_highlighter(Box::new(Uncoloured))
        .use_bracketed_paste(true)
}

fn bind_suspension(keys: &mut reedline::Keybindings) {
    let event = ReedlineEvent::ExecuteHostCommand(SUSPEND.to_owned());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), event);
}

/// What is typed looks as other text does: any colour is unreadable on some background.
struct Uncoloured;

impl Highlighter for Uncoloured {
    #[expect(
        clippy::default_trait_access,
        reason = "the type has its name in a crate that nothing else is needed of"
    )]
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut text = StyledText::new();
        text.push((Default::default(), line.to_owned()));
        text
    }
}
