//! Page-locked memory that proofs leave behind for the next ones of their circuit.
//!
//! Allocating it takes half a millisecond per MiB, and freeing it lasts until the card has done all that is queued. So some is
//! kept, up to a bound that counts as the device's own memory, and the rest is for somebody to free who need not hurry.

use std::{collections::VecDeque, sync::Mutex};

use crate::sync::lock;

/// Spare blocks of one device, the oldest first.
pub(crate) struct Spares<T> {
    max_bytes: usize,
    blocks: Mutex<VecDeque<(usize, T)>>,
}

impl<T> Spares<T> {
    /// At most `max_bytes` bytes are kept.
    pub(crate) const fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            blocks: Mutex::new(VecDeque::new()),
        }
    }

    /// A spare block of exactly so many bytes: those of one circuit are all alike, and a small proof shall not take a large
    /// one's.
    pub(crate) fn take(&self, bytes: usize) -> Option<T> {
        let mut blocks = lock(&self.blocks);
        let index = blocks.iter().rposition(|(spare, _)| *spare == bytes)?;
        blocks.remove(index).map(|(_, block)| block)
    }

    /// Keeps a block of `bytes` bytes; returns the oldest ones that are too many then.
    #[must_use = "who frees them waits for the card"]
    pub(crate) fn keep(&self, bytes: usize, block: T) -> Vec<T> {
        if bytes > self.max_bytes {
            return vec![block];
        }
        let mut blocks = lock(&self.blocks);
        blocks.push_back((bytes, block));
        let mut total: usize = blocks.iter().map(|(bytes, _)| bytes).sum();
        let mut surplus = Vec::new();
        while total > self.max_bytes
            && let Some((bytes, block)) = blocks.pop_front()
        {
            total -= bytes;
            surplus.push(block);
        }
        surplus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_serves_proofs_of_its_size_alone() {
        let spares = Spares::new(100);
        assert!(spares.keep(10, 'a').is_empty());
        assert!(spares.keep(20, 'b').is_empty());
        assert_eq!(spares.take(15), None);
        assert_eq!(spares.take(10), Some('a'));
        assert_eq!(spares.take(10), None);
        assert_eq!(spares.take(20), Some('b'));
    }

    #[test]
    fn what_is_kept_stays_within_the_bound_and_the_oldest_goes_first() {
        let spares = Spares::new(100);
        for block in 0..10 {
            assert!(spares.keep(10, block).is_empty());
        }
        assert_eq!(spares.keep(10, 10), [0]);
        assert_eq!(spares.keep(35, 11), [1, 2, 3, 4]);
        assert_eq!(spares.keep(101, 12), [12]);
        assert_eq!(spares.take(35), Some(11));
    }
}
