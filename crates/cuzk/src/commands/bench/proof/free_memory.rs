//! Does a card lose memory from proof to proof? A daemon runs for months, and what its driver does not get back after each
//! proof is missing in the end.
//!
//! Two figures are read and nothing is trimmed before: what the driver can still give, which must not change once the first
//! proof has found its room, and the bytes of this program's own buffers, which must be the same when nothing is in flight.

use cuzk_groth16::CardMemory;
use serde::Serialize;

use crate::{output::Page, units};

/// Free memory of a card before and after each proof of a run.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct FreeMemory {
    /// Before the first proof, after the one to warm up.
    free_device_bytes_before: Option<u64>,
    /// After the first proof.
    free_device_bytes: Option<u64>,
    /// After the others, of which there may be none.
    free_device_bytes_least: Option<u64>,
    free_device_bytes_greatest: Option<u64>,
    /// Whether it was the same after all proofs; none for fewer than two.
    free_device_bytes_constant: Option<bool>,
    /// Of this program's buffers, with nothing in flight.
    used_device_bytes_before: u64,
    used_device_bytes_after: u64,
}

impl FreeMemory {
    /// From readings before the first proof, after each proof, and at the end.
    pub(super) fn new(before: CardMemory, after_each: &[CardMemory], end: CardMemory) -> Self {
        let free = |memory: &CardMemory| memory.free_bytes;
        let first = after_each.first().and_then(free);
        let others = after_each.get(1..).unwrap_or_default();
        // A reading that failed is unlike every other one.
        let same = others.iter().all(|memory| free(memory) == first);
        Self {
            free_device_bytes_before: before.free_bytes,
            free_device_bytes: first,
            free_device_bytes_least: others.iter().filter_map(free).min(),
            free_device_bytes_greatest: others.iter().filter_map(free).max(),
            free_device_bytes_constant: (!others.is_empty()).then_some(same && first.is_some()),
            used_device_bytes_before: before.used_bytes,
            used_device_bytes_after: end.used_bytes,
        }
    }

    /// What is wrong, in words.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let (Some(first), Some(least)) = (self.free_device_bytes, self.free_device_bytes_least)
            && least < first
        {
            warnings.push(format!(
                "the card's free memory shrank by {} bytes: {first} after the first proof, {least} after a later one",
                first - least
            ));
        }
        let (before, after) = (self.used_device_bytes_before, self.used_device_bytes_after);
        if after > before {
            warnings.push(format!(
                "buffers of {} bytes were left on the card: {before} before the first proof, {after} after the last one",
                after - before
            ));
        }
        warnings
    }

    pub(super) fn write(&self, page: &mut Page) {
        let after_others = match self.free_device_bytes_constant {
            None => String::new(),
            Some(true) => ", the same after each of the others".to_owned(),
            Some(false) => format!(
                ", from {} to {} after the others",
                units::bytes_or_unknown(self.free_device_bytes_least),
                units::bytes_or_unknown(self.free_device_bytes_greatest)
            ),
        };
        page.line(&format!(
            "Free memory of the device: {} before the first proof, {} after it{after_others}.",
            units::bytes_or_unknown(self.free_device_bytes_before),
            units::bytes_or_unknown(self.free_device_bytes),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(free_bytes: u64, used_bytes: u64) -> CardMemory {
        CardMemory {
            free_bytes: Some(free_bytes),
            used_bytes,
            limit_bytes: 100,
        }
    }

    #[test]
    fn the_first_proof_may_find_its_room_and_the_others_must_not_take_more() {
        let after = [60; 3].map(|free| reading(free, 20));
        let found = FreeMemory::new(reading(80, 10), &after, reading(60, 10));
        assert_eq!(found.free_device_bytes_constant, Some(true));
        assert_eq!(found.warnings(), Vec::<String>::new());

        let after = [60, 60, 59, 61].map(|free| reading(free, 20));
        let found = FreeMemory::new(reading(80, 10), &after, reading(60, 10));
        assert_eq!(found.free_device_bytes_constant, Some(false));
        assert_eq!(
            (
                found.free_device_bytes_least,
                found.free_device_bytes_greatest
            ),
            (Some(59), Some(61))
        );
        let warnings = found.warnings();
        assert!(warnings[0].contains("by 1 bytes"), "{warnings:?}");
    }

    #[test]
    fn buffers_that_are_left_are_told_although_the_driver_sees_no_difference() {
        let after = [60; 3].map(|free| reading(free, 20));
        let found = FreeMemory::new(reading(80, 10), &after, reading(60, 14));
        let warnings = found.warnings();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("4 bytes"), "{warnings:?}");
    }

    #[test]
    fn one_proof_is_compared_with_nothing_and_a_driver_that_does_not_answer_is_not_constant() {
        let one = FreeMemory::new(reading(80, 10), &[reading(60, 20)], reading(60, 10));
        assert_eq!(one.free_device_bytes_constant, None);
        let silent = CardMemory {
            free_bytes: None,
            ..reading(0, 10)
        };
        let none = FreeMemory::new(silent, &[silent, silent], silent);
        assert_eq!(none.free_device_bytes_constant, Some(false));
    }
}
