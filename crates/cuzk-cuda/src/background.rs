//! Work that nobody waits for but the end of the device: a program must not end in the middle of a driver's call.

use std::{
    sync::Mutex,
    thread::{Builder, JoinHandle},
};

use crate::sync::lock;

/// Threads that run to their ends before this is dropped. What they do must not own this.
#[derive(Default)]
pub(crate) struct Background(Mutex<Vec<JoinHandle<()>>>);

impl Background {
    /// Lets a thread of its own do the work.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        let mut threads = lock(&self.0);
        threads.retain(|thread| !thread.is_finished());
        // A system without threads left has worse to worry about: what the work holds is dropped here, then.
        threads.extend(Builder::new().name("cuzk-free".into()).spawn(work));
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let threads = std::mem::take(&mut *lock(&self.0));
        for thread in threads {
            // A panic was printed by its thread.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn nobody_waits_for_the_work_but_the_end() {
        let (begin, begun) = mpsc::channel();
        let (sender, done) = mpsc::channel();
        let background = Background::default();
        for number in 0..3 {
            let sender = sender.clone();
            background.run(move || sender.send(number).expect("the test listens"));
        }
        background.run(move || {
            begun.recv().expect("it is told to begin");
            sender.send(3).expect("the test listens");
        });
        begin.send(()).expect("it waits for that");
        drop(background);
        let mut done: Vec<_> = done.try_iter().collect();
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3]);
    }
}
