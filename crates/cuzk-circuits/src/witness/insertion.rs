//! Putting a node among its siblings, at a place that is not known when the circuit is built.
//!
//! Every position of the result is chosen by the bits of the place, through a few picks of one of
//! two values; each pick allocates its value.

use blstrs::Scalar as Fr;

use super::sink::Sink;

/// `yes` if the condition holds, else `no`.
fn pick<S: Sink>(sink: &mut S, condition: bool, yes: Fr, no: Fr) -> Fr {
    let value = if condition { yes } else { no };
    sink.push_wide(value);
    value
}

/// Both children of a binary node; `position` is that of `element`.
pub(super) fn insert_binary<S: Sink>(
    sink: &mut S,
    position: u64,
    element: Fr,
    sibling: Fr,
) -> [Fr; 2] {
    let right = position & 1 == 1;
    [
        pick(sink, right, sibling, element),
        pick(sink, right, element, sibling),
    ]
}

/// All children of an octary node; `position` is that of `element`.
pub(super) fn insert_octary<S: Sink>(
    sink: &mut S,
    position: u64,
    element: Fr,
    siblings: &[Fr; 7],
) -> [Fr; 8] {
    let [b0, b1, b2] = [0, 1, 2].map(|bit| (position >> bit) & 1 == 1);
    let a = element;
    let [b, c, d, e, f, g, h] = *siblings;
    let neither = !b0 && !b1;
    let both = b0 && b1;
    sink.push_bits(u64::from(neither) | (u64::from(both) << 1), 2);

    let low = pick(sink, neither, a, b);
    let p0 = pick(sink, b2, b, low);

    let low = pick(sink, b0, a, b);
    let low = pick(sink, b1, c, low);
    let p1 = pick(sink, b2, c, low);

    let low = pick(sink, b0, d, a);
    let low = pick(sink, b1, low, c);
    let p2 = pick(sink, b2, d, low);

    let low = pick(sink, both, a, d);
    let p3 = pick(sink, b2, e, low);

    let high = pick(sink, neither, a, f);
    let p4 = pick(sink, b2, high, e);

    let high = pick(sink, b0, a, f);
    let high = pick(sink, b1, g, high);
    let p5 = pick(sink, b2, high, f);

    let high = pick(sink, b0, h, a);
    let high = pick(sink, b1, high, g);
    let p6 = pick(sink, b2, high, g);

    let high = pick(sink, both, a, h);
    let p7 = pick(sink, b2, high, h);

    [p0, p1, p2, p3, p4, p5, p6, p7]
}

/// The element of `from` at `position`; their number is a power of two.
pub(super) fn select<S: Sink>(sink: &mut S, position: u64, from: &[Fr]) -> Fr {
    let mut candidates = from.to_vec();
    while candidates.len() > 1 {
        let half = candidates.len() / 2;
        let high = position & half as u64 != 0;
        candidates = (0..half)
            .map(|index| pick(sink, high, candidates[half + index], candidates[index]))
            .collect();
    }
    candidates[0]
}
