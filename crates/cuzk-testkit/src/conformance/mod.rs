//! A device is right when it gives the bytes of the reference device, on every circuit, and refuses what is not a proof's.
//!
//! Each check is a function over `dyn ProverDevice` that panics with the circuit's name. [`device_conformance!`] turns all
//! of them into tests of one device, so that a new device has the whole suite from its first day.
//!
//! [`device_conformance!`]: crate::device_conformance

mod case;
mod proofs;
mod refusals;

pub use case::Case;
pub use proofs::{
    equals_the_reference_on_every_circuit, finishes_in_any_order_and_on_other_threads,
    fresh_blinding_gives_other_bytes, survives_a_dropped_pending_proof, wrong_values_never_verify,
};
pub use refusals::{
    footprint_covers_what_it_holds, refuses_a_circuit_of_another_key,
    refuses_values_of_another_circuit, refuses_values_that_violate_a_row,
};

/// Tests that a device passes the suite. The argument makes the device; every test makes its own. Attributes behind it, such
/// as `#[ignore = "needs a card"]`, are those of every test.
///
/// ```
/// cuzk_testkit::device_conformance!(cuzk_groth16::ReferenceDevice);
/// ```
#[macro_export]
macro_rules! device_conformance {
    ($device:expr $(, #[$attribute:meta])*) => {
        #[test]
        $(#[$attribute])*
        fn equals_the_reference_on_every_circuit() {
            $crate::conformance::equals_the_reference_on_every_circuit(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn fresh_blinding_gives_other_bytes() {
            $crate::conformance::fresh_blinding_gives_other_bytes(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn survives_a_dropped_pending_proof() {
            $crate::conformance::survives_a_dropped_pending_proof(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn finishes_in_any_order_and_on_other_threads() {
            $crate::conformance::finishes_in_any_order_and_on_other_threads(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn wrong_values_never_verify() {
            $crate::conformance::wrong_values_never_verify(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn refuses_a_circuit_of_another_key() {
            $crate::conformance::refuses_a_circuit_of_another_key(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn refuses_values_of_another_circuit() {
            $crate::conformance::refuses_values_of_another_circuit(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn refuses_values_that_violate_a_row() {
            $crate::conformance::refuses_values_that_violate_a_row(&$device);
        }

        #[test]
        $(#[$attribute])*
        fn footprint_covers_what_it_holds() {
            $crate::conformance::footprint_covers_what_it_holds(&$device);
        }
    };
}
