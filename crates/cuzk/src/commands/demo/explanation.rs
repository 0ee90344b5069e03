//! What a newcomer has just seen, in words that need no knowledge of proofs.

use cuzk_circuits::{Family, SectorSize};

use crate::output::Page;

/// What each kind of proof says to the chain.
fn meaning(family: Family) -> &'static str {
    match family {
        Family::PoRep => "the sector was sealed: its replica came from the data by a slow encoding",
        Family::SnapDeals => "new data was put into a sealed sector, and this is its new replica",
        Family::WindowPoSt => "the sectors are still stored; every sector, once a day",
        Family::WinningPoSt => "one sector is at hand this very moment, to win a block",
    }
}

/// The kinds, one line each.
fn kinds(page: &mut Page) {
    let fields: Vec<(&str, String)> = Family::ALL
        .into_iter()
        .map(|family| (family.prefix(), meaning(family).to_owned()))
        .collect();
    page.fields(&fields);
}

/// After proofs about sectors of a size.
pub(super) fn of_proofs(page: &mut Page, size: &str) {
    page.line("");
    paragraph(
        page,
        "What this was: a storage provider shows the chain that it keeps what it promised, with 192 bytes per partition instead \
         of the data.",
    );
    kinds(page);
    page.line("");
    paragraph(
        page,
        "A claim is written as a circuit: equations (constraints) between values. A large claim is cut into partitions, each a \
         circuit and a proof of its own.",
    );
    let step = |name, does: &str| (name, does.to_owned());
    page.fields(&[
        step(
            "setup",
            "makes the circuit's key, once; real networks have theirs from a public ceremony",
        ),
        step(
            "witness",
            "computes all values of the circuit from the sector's data",
        ),
        step("evaluate", "computes both sides of all equations"),
        step(
            "prove",
            "makes of them a proof that shows none of the values; most time goes here",
        ),
        step("verify", "is what everybody else does with the proof"),
    ]);
    page.line("");
    if size == SectorSize::Kib2.label() {
        paragraph(
            page,
            "The sectors were sealed by the code that storage providers run; 2 KiB is the smallest size there is.",
        );
    } else {
        paragraph(
            page,
            &format!(
                "The sectors of {size} are synthetic: nothing was sealed, only the nodes that a proof looks at were computed. \
                 Circuits, keys and proofs are those that sealed sectors have."
            ),
        );
    }
    page.line("Next: cuzk demo --size 32GiB --witness-only");
}

/// After witnesses of circuits of a size, with which nothing was proved.
pub(super) fn of_witnesses(page: &mut Page, size: &str, left_out: &[&str]) {
    page.line("");
    paragraph(
        page,
        "What this was: a storage provider shows the chain that it keeps what it promised. Each kind of proof says something \
         else:",
    );
    kinds(page);
    page.line("");
    paragraph(
        page,
        &format!(
            "A claim is written as a circuit: equations (constraints) between values. A large claim is cut into partitions. Here \
             all values of every partition were computed from synthetic sectors of {size}: nothing was sealed, only the nodes \
             that a proof looks at exist, and the circuits are those of real sectors. This is the first half of a proof. The \
             second half makes 192 bytes of the values and needs the circuit's key, which at 32GiB is larger than most \
             memories; nothing was proved here."
        ),
    );
    page.line("");
    paragraph(
        page,
        "Nearly all values are bits, so a bit each is kept (packed); other provers keep 32 bytes each (plain). The public values \
         of every partition were compared with what a verifier computes.",
    );
    for kind in left_out {
        page.line("");
        paragraph(
            page,
            &format!(
                "{kind} was left out, since its values take gigabytes even packed; --kind {kind} shows it."
            ),
        );
    }
}

/// Lines of at most this many characters can be read on any terminal.
const LINE_CHARS: usize = 100;

fn paragraph(page: &mut Page, text: &str) {
    for line in broken(text) {
        page.line(&line);
    }
}

/// A text in lines; only a word that is longer by itself makes a longer one.
fn broken(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LINE_CHARS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_they_may_be_and_lose_no_word() {
        let text = "a proof that shows none of the values ".repeat(20);
        let lines = broken(&text);
        assert!(lines.iter().all(|line| line.chars().count() <= LINE_CHARS));
        assert_eq!(lines.join(" "), text.trim_end());
        for pair in lines.windows(2) {
            let next = pair[1].split(' ').next().expect("no line is empty");
            assert!(pair[0].chars().count() + 1 + next.chars().count() > LINE_CHARS);
        }
        let long = "x".repeat(LINE_CHARS + 1);
        assert_eq!(broken(&format!("a {long} b")), ["a", &long, "b"]);
        assert!(broken("").is_empty());
    }
}
