//! A driver may never answer, and whoever looks at a status page then wants to see the rest of it.

use std::{sync::Arc, thread, time::Duration};

use tokio::{
    sync::{Mutex, oneshot},
    time::{Instant, timeout_at},
};

/// Something that is asked from time to time and may not answer. It is asked by one at a time, so that no more than one thread
/// waits for it, however long it takes.
#[derive(Debug)]
pub(crate) struct Question {
    turn: Arc<Mutex<()>>,
    patience: Duration,
}

impl Question {
    /// An answer is waited for so long, the wait for those who asked before included.
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            turn: Arc::default(),
            patience,
        }
    }

    /// What `answer` returns, which runs on a thread of its own; none when that is too late, or when it panics.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        answer: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let end = Instant::now() + self.patience;
        let turn = Arc::clone(&self.turn);
        let turn = timeout_at(end, turn.lock_owned()).await.ok()?;
        let (sender, answered) = oneshot::channel();
        // The runtime would wait for a thread of its own when it ends.
        let thread = thread::Builder::new().name("question".to_owned());
        let asked = thread.spawn(move || {
            let _until_answered = turn;
            // Who asked may have lost patience.
            let _ = sender.send(answer());
        });
        asked.ok()?;
        timeout_at(end, answered).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn who_does_not_answer_keeps_one_thread_and_nobody_waiting() {
        let question = Question::new(Duration::from_millis(20));
        let (answer, silent) = mpsc::channel::<()>();
        assert_eq!(question.ask(move || silent.recv().is_ok()).await, None);
        let (asked, was_asked) = mpsc::channel();
        let ask = move || asked.send(()).is_ok();
        assert_eq!(question.ask(ask).await, None);
        assert!(was_asked.recv().is_err(), "the first one is still asked");

        answer.send(()).expect("the first one still waits");
        let patient = Question {
            turn: Arc::clone(&question.turn),
            patience: Duration::from_mins(1),
        };
        assert_eq!(patient.ask(|| 7).await, Some(7));
    }
}
