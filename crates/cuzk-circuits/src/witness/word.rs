//! 32 booleans of a circuit as three machine words.
//!
//! Upstream's gadgets treat each bit by what it is: a constant costs nothing, a negation shares
//! the variable of what it negates. A word keeps the values and, in two masks, which bits stand
//! for variables and which of these are negated. Each operation says which variables the gadget
//! of the same name allocates.

use super::sink::Sink;

/// 32 booleans, least significant first: upstream's `UInt32` with all values known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Values of the booleans, negations applied.
    pub(super) value: u32,
    /// Bits that stand for a variable; the others are constants.
    pub(super) variables: u32,
    /// Bits that stand for a negated variable.
    pub(super) negated: u32,
}

/// A result and the bits that got a variable of their own.
#[derive(Clone, Copy)]
struct Allocated {
    word: Word,
    fresh: u32,
}

impl Word {
    pub(super) const fn constant(value: u32) -> Self {
        Self {
            value,
            variables: 0,
            negated: 0,
        }
    }

    /// A variable for each bit.
    pub(super) const fn free(value: u32) -> Self {
        Self::partly_free(value, u32::MAX)
    }

    /// A variable for each bit of `variables`, constants elsewhere.
    pub(super) const fn partly_free(value: u32, variables: u32) -> Self {
        Self {
            value,
            variables,
            negated: 0,
        }
    }

    pub(super) fn is_constant(self) -> bool {
        self.variables == 0
    }

    fn is_free(self) -> bool {
        self.variables == u32::MAX
    }

    /// Values of the variables, whether they are negated or not.
    fn underlying(self) -> u32 {
        self.value ^ self.negated
    }

    fn map(self, f: impl Fn(u32) -> u32) -> Self {
        Self {
            value: f(self.value),
            variables: f(self.variables),
            negated: f(self.negated),
        }
    }

    pub(super) fn rotate_right(self, by: u32) -> Self {
        self.map(|bits| bits.rotate_right(by))
    }

    pub(super) fn shift_right(self, by: u32) -> Self {
        self.map(|bits| bits >> by)
    }

    fn not(self) -> Self {
        Self {
            value: !self.value,
            negated: self.negated ^ self.variables,
            ..self
        }
    }

    fn zeros(self) -> u32 {
        !self.variables & !self.value
    }

    fn ones(self) -> u32 {
        !self.variables & self.value
    }

    /// `self` where `mask` is set, `other` elsewhere.
    fn select(self, mask: u32, other: Self) -> Self {
        let pick = |a: u32, b: u32| (a & mask) | (b & !mask);
        Self {
            value: pick(self.value, other.value),
            variables: pick(self.variables, other.variables),
            negated: pick(self.negated, other.negated),
        }
    }
}

impl Allocated {
    fn not(self) -> Self {
        Self {
            word: self.word.not(),
            ..self
        }
    }

    /// `self` where `mask` is set, `other` elsewhere.
    fn select(self, mask: u32, other: Self) -> Self {
        Self {
            word: self.word.select(mask, other.word),
            fresh: (self.fresh & mask) | (other.fresh & !mask),
        }
    }
}

/// Exclusive or: two variables give a third, a constant keeps or negates the other.
pub(super) fn xor<S: Sink>(sink: &mut S, a: Word, b: Word) -> Word {
    let word = Word {
        value: a.value ^ b.value,
        variables: a.variables | b.variables,
        negated: a.negated ^ b.negated ^ (a.ones() & b.variables) ^ (b.ones() & a.variables),
    };
    sink.push_masked(word.underlying(), a.variables & b.variables);
    word
}

/// And: two variables give a third, a constant gives itself or the other.
fn and(a: Word, b: Word) -> Allocated {
    let fresh = a.variables & b.variables;
    Allocated {
        word: Word {
            value: a.value & b.value,
            variables: (a.variables | b.variables) & !a.zeros() & !b.zeros(),
            negated: (a.negated & b.ones()) | (b.negated & a.ones()),
        },
        fresh,
    }
}

/// `(a and b) xor (not a and c)`.
pub(super) fn choose<S: Sink>(sink: &mut S, a: Word, b: Word, c: Word) -> Word {
    let value = (a.value & b.value) ^ (!a.value & c.value);
    if a.is_free() && b.is_free() && c.is_free() {
        sink.push_bits(u64::from(value), 32);
        return Word::free(value);
    }
    // Upstream's cases, the first that applies last, because each overwrites those before.
    let general = Allocated {
        word: Word::free(value),
        fresh: u32::MAX,
    };
    let copied = Allocated { word: c, fresh: 0 };
    let result = general;
    let result = and(a.not(), c.not()).not().select(b.ones(), result);
    let result = and(a, b.not()).not().select(c.ones(), result);
    let result = and(a, b).select(c.zeros(), result);
    let result = and(a.not(), c).select(b.zeros(), result);
    let result = copied.select(a.zeros(), result);
    let Allocated { word, fresh } = result;
    sink.push_masked(word.underlying(), fresh);
    word
}

/// `(a and b) xor (a and c) xor (b and c)`. Three variables give two: the result and `b and c`.
pub(super) fn majority<S: Sink>(sink: &mut S, a: Word, b: Word, c: Word) -> Word {
    let value = (a.value & b.value) ^ (a.value & c.value) ^ (b.value & c.value);
    let product = b.value & c.value;
    let three = a.variables & b.variables & c.variables;
    if three == u32::MAX {
        sink.push_bits(interleave(value, product), 64);
        return Word::free(value);
    }
    let general = Allocated {
        word: Word::free(value),
        fresh: u32::MAX,
    };
    let result = general;
    let result = and(b.not(), c.not()).not().select(a.ones(), result);
    let result = and(a.not(), c.not()).not().select(b.ones(), result);
    let result = and(a.not(), b.not()).not().select(c.ones(), result);
    let result = and(a, b).select(c.zeros(), result);
    let result = and(a, c).select(b.zeros(), result);
    let result = and(b, c).select(a.zeros(), result);
    let Allocated { word, fresh } = result;
    let underlying = word.underlying();
    for bit in 0..32 {
        let at = |bits: u32| u64::from((bits >> bit) & 1);
        if at(three) == 1 {
            sink.push_bits(at(value) | (at(product) << 1), 2);
        } else if at(fresh) == 1 {
            sink.push_bits(at(underlying), 1);
        }
    }
    word
}

/// The sum modulo 2^32. Unless all operands are constants, all bits of the full sum are variables.
pub(super) fn add<S: Sink>(sink: &mut S, operands: &[Word]) -> Word {
    let sum: u64 = operands.iter().map(|word| u64::from(word.value)).sum();
    if operands.iter().all(|word| word.is_constant()) {
        return Word::constant(sum as u32);
    }
    let largest = operands.len() as u64 * u64::from(u32::MAX);
    sink.push_bits(sum, u64::BITS - largest.leading_zeros());
    Word::free(sum as u32)
}

/// Bits of `even` and `odd` by turns, lowest first.
fn interleave(even: u32, odd: u32) -> u64 {
    spread(even) | (spread(odd) << 1)
}

/// Moves bit i to position 2 i.
fn spread(word: u32) -> u64 {
    let mut bits = u64::from(word);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | (bits << shift)) & mask;
    }
    bits
}
