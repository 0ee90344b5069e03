//! What a load consists of: circuits with weights, in an order that spreads each of them evenly, so that the rare ones meet
//! the backlog of the others.

use std::{fmt, str::FromStr};

use cuzk_circuits::{CircuitId, Family, SectorSize};

use crate::option_values;

/// Circuits and how often each is proved among as many proofs as the weights add up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mix(Vec<(CircuitId, usize)>);

impl Mix {
    /// One circuit alone.
    pub(super) fn only(id: CircuitId) -> Self {
        Self(vec![(id, 1)])
    }

    /// The circuits, each once.
    pub(super) fn circuits(&self) -> impl Iterator<Item = CircuitId> {
        self.0.iter().map(|(id, _)| *id)
    }

    /// The sum of the weights.
    pub(super) fn total(&self) -> usize {
        self.0.iter().map(|(_, weight)| weight).sum()
    }

    /// The circuits of `count` proofs, in order.
    pub(super) fn schedule(&self, count: usize) -> Vec<CircuitId> {
        // Each proof adds every weight to its circuit's credit; the one with most credit pays for it with all weights.
        let mut credits = vec![0; self.0.len()];
        let total = self.total() as i128;
        let next = |_| {
            for (credit, (_, weight)) in credits.iter_mut().zip(&self.0) {
                *credit += *weight as i128;
            }
            // Of equals the first one.
            let richest = (0..credits.len()).rev().max_by_key(|&index| credits[index]);
            let richest = richest.expect("a mix has a circuit");
            credits[richest] -= total;
            self.0[richest].0
        };
        (0..count).map(next).collect()
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (id, weight)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{id}={weight}")?;
        }
        Ok(())
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts: Vec<(CircuitId, usize)> = Vec::new();
        for part in text.split(',') {
            let (name, weight) = part
                .split_once('=')
                .ok_or_else(|| format!("{part:?} is not KIND=WEIGHT"))?;
            let id = circuit(name.trim())?;
            let weight = weight.trim();
            let weight = weight.parse().ok().filter(|weight| *weight > 0);
            let weight: u32 = weight.ok_or_else(|| format!("{part:?} has no weight from 1"))?;
            if parts.iter().any(|(known, _)| *known == id) {
                return Err(format!("{id} occurs twice"));
            }
            parts.push((id, weight as usize));
        }
        Ok(Self(parts))
    }
}

/// A circuit by its name, or that of 2 KiB by its kind.
fn circuit(name: &str) -> Result<CircuitId, String> {
    let family = Family::ALL
        .into_iter()
        .find(|family| family.prefix() == name);
    match family {
        Some(family) => Ok(CircuitId::new(family, SectorSize::Kib2)),
        None => option_values::circuit(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(mix: &str, count: usize) -> Vec<String> {
        let mix: Mix = mix.parse().expect("a mix");
        let schedule = mix.schedule(count).into_iter();
        schedule.map(|id| id.to_string()).collect()
    }

    #[test]
    fn a_rare_kind_comes_in_the_middle_of_the_others_and_not_at_the_end() {
        let order = names("porep=4,winning=1", 5);
        assert_eq!(order.iter().filter(|name| *name == "porep-2k").count(), 4);
        assert_eq!(order[2], "winning-2k", "{order:?}");
    }

    #[test]
    fn a_schedule_goes_on_in_the_same_shares_for_as_long_as_it_is_asked_for() {
        let order = names("porep=2,winning-8m=1", 300);
        let rare = order.iter().filter(|name| *name == "winning-8m");
        assert_eq!(rare.count(), 100);
        assert!(names("porep=2,winning=1", 0).is_empty());
    }

    #[test]
    fn equal_weights_take_turns_in_the_order_in_which_they_were_named() {
        assert_eq!(
            names("winning=1,porep=1", 4),
            ["winning-2k", "porep-2k", "winning-2k", "porep-2k"]
        );
    }

    #[test]
    fn what_is_no_mix_is_refused_with_the_part_that_is_wrong() {
        for (text, words) in [
            ("", "KIND=WEIGHT"),
            ("porep", "\"porep\" is not KIND=WEIGHT"),
            ("porep=0", "no weight"),
            ("porep=-1", "no weight"),
            ("poreb=1", "poreb"),
            ("porep=1,porep-2k=2", "porep-2k occurs twice"),
        ] {
            let error = text.parse::<Mix>().expect_err("no mix");
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_mix_is_printed_as_it_is_read() {
        let mix: Mix = "porep=8, winning=1".parse().expect("a mix");
        assert_eq!(mix.to_string().parse(), Ok(mix));
    }
}
