//! Segments share the words at their ends and nothing else.

use proptest::prelude::*;

use super::*;
use crate::witness::error::SegmentOverrun;
use crate::witness::sink::{Segment, SegmentKinds, SharedBits};

/// Runs of bits, or a wide variable for `None`.
type Events = Vec<Option<(u64, u32)>>;

fn events() -> impl Strategy<Value = Events> {
    let run = (any::<u64>(), 0..=64_u32).prop_map(|(word, count)| {
        let mask = 1_u64.checked_shl(count).unwrap_or(0).wrapping_sub(1);
        Some((word & mask, count))
    });
    proptest::collection::vec(prop_oneof![4 => run, 1 => Just(None)], 0..40)
}

fn push(sink: &mut impl Sink, events: &Events) {
    for (index, event) in events.iter().enumerate() {
        match event {
            Some((word, count)) => sink.push_bits(*word, *count),
            None => sink.push_wide(Fr::from(index as u64)),
        }
    }
}

fn bits(events: &Events) -> Vec<bool> {
    let mut bits = Vec::new();
    for event in events {
        let (word, count) = event.unwrap_or((0, 1));
        bits.extend((0..count).map(|bit| (word >> bit) & 1 == 1));
    }
    bits
}

proptest! {
    #[test]
    fn a_segment_at_any_place_has_the_bits_that_were_pushed(start in 0..200_usize, events in events()) {
        let expected = bits(&events);
        let end = start + expected.len();
        let num_wide = events.iter().filter(|event| event.is_none()).count();
        let (first, last) = (start.div_ceil(64), end / 64);
        let mut words = vec![0_u64; last.saturating_sub(first)];
        let mut wide = vec![Fr::ZERO; num_wide];
        let mut segment = Segment::new(start, &mut words, &mut wide, &mut []);
        push(&mut segment, &events);
        let SharedBits { head, tail } = segment.finish(end).expect("there is room for all");
        let mut plane = vec![0_u64; end / 64 + 1];
        plane[first..first + words.len()].copy_from_slice(&words);
        plane[start / 64] |= head;
        plane[end / 64] |= tail;
        let found: Vec<bool> = (start..end).map(|bit| (plane[bit / 64] >> (bit % 64)) & 1 == 1).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(plane.iter().map(|word| word.count_ones()).sum::<u32>(),
            bits(&events).iter().map(|&bit| u32::from(bit)).sum::<u32>());

        let mut kinds = SegmentKinds::default();
        push(&mut kinds, &events);
        prop_assert_eq!(kinds.num_aux, end - start);
        prop_assert_eq!(kinds.num_wide, num_wide);
        prop_assert_eq!(kinds.wide_plane.iter().map(|word| word.count_ones() as usize).sum::<usize>(), num_wide);
    }

    #[test]
    fn masked_bits_are_the_selected_ones_in_order(word in any::<u32>(), mask in any::<u32>()) {
        let mut sink = Expanded::new();
        sink.push_masked(word, mask);
        let expected: Vec<Fr> = (0..32)
            .filter(|bit| (mask >> bit) & 1 == 1)
            .map(|bit| Fr::from(u64::from((word >> bit) & 1)))
            .collect();
        prop_assert_eq!(sink.0.aux, expected);
    }
}

#[test]
fn a_variable_too_many_or_too_few_is_an_error() {
    let finish = |num_bits: u32, num_wide, num_inputs| {
        let (mut words, mut wide, mut inputs) = ([0; 1], [Fr::ZERO; 1], [Fr::ZERO; 1]);
        let mut segment = Segment::new(0, &mut words, &mut wide, &mut inputs);
        for _ in 0..num_bits {
            segment.push_bits(1, 1);
        }
        for _ in 0..num_wide {
            segment.push_wide(Fr::ONE);
        }
        for _ in 0..num_inputs {
            segment.push_input(Fr::ONE);
        }
        segment.finish(64)
    };
    assert!(finish(63, 1, 1).is_ok());
    for (num_bits, num_wide, num_inputs) in [
        (62, 1, 1),
        (64, 1, 1),
        (64, 0, 1),
        (62, 2, 1),
        (63, 1, 0),
        (63, 1, 2),
        (127, 1, 1),
    ] {
        assert_eq!(
            finish(num_bits, num_wide, num_inputs),
            Err(SegmentOverrun),
            "{num_bits} {num_wide} {num_inputs}"
        );
    }
}
