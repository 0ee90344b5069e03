//! What must stay free on a card, so that everything that was loaded can also be proved.
//!
//! Loads take memory for good, proofs take it for a while and one after the other. So what loads must leave is the largest
//! of what the proofs take, each by itself.

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicU64, Ordering},
};

use crate::sync::lock;

/// The rooms of a device.
#[derive(Debug, Default)]
pub(crate) struct Rooms(Mutex<Vec<Weak<AtomicU64>>>);

/// Bytes that are left free for as long as this lives.
#[derive(Debug)]
pub(crate) struct Room(Arc<AtomicU64>);

impl Rooms {
    /// Leaves `bytes` bytes free from now on.
    pub(crate) fn keep(&self, bytes: u64) -> Room {
        let room = Arc::new(AtomicU64::new(bytes));
        lock(&self.0).push(Arc::downgrade(&room));
        Room(room)
    }

    /// Bytes that must stay free.
    pub(crate) fn largest(&self) -> u64 {
        let mut rooms = lock(&self.0);
        rooms.retain(|room| room.strong_count() > 0);
        let rooms = rooms.iter().filter_map(Weak::upgrade);
        rooms
            .map(|room| room.load(Ordering::Relaxed))
            .max()
            .unwrap_or(0)
    }
}

impl Room {
    /// Leaves so many bytes free instead.
    pub(crate) fn resize(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_room_stays_free_for_as_long_as_it_is_kept() {
        let rooms = Rooms::default();
        assert_eq!(rooms.largest(), 0);
        let (small, large) = (rooms.keep(2), rooms.keep(5));
        assert_eq!(rooms.largest(), 5);
        small.resize(7);
        assert_eq!(rooms.largest(), 7);
        drop(small);
        assert_eq!(rooms.largest(), 5);
        drop(large);
        assert_eq!(rooms.largest(), 0);
    }
}
