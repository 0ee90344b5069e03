//! Who is served when by a budget. Interleavings are tried in `tests/model.rs`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::budget::{Acquire, Budget, OverBudget, Permit, Request};

fn general(bytes: u64) -> Request {
    Request {
        bytes,
        in_lane: false,
    }
}

fn lane(bytes: u64) -> Request {
    Request {
        bytes,
        in_lane: true,
    }
}

fn poll(acquire: &mut Acquire<u32>) -> Option<Permit<u32>> {
    let mut context = Context::from_waker(Waker::noop());
    match Pin::new(acquire).poll(&mut context) {
        Poll::Ready(permit) => Some(permit),
        Poll::Pending => None,
    }
}

fn ask(budget: &Budget<u32>, rank: u32, request: Request) -> Acquire<u32> {
    budget.acquire(rank, request).expect("it can be met")
}

/// A permit that is there at once.
fn hold(budget: &Budget<u32>, request: Request) -> Permit<u32> {
    poll(&mut ask(budget, 0, request)).expect("it is free")
}

#[test]
fn more_than_the_whole_budget_is_refused_with_both_numbers() {
    let budget = Budget::new(100);
    let refused = budget.acquire(0, general(101)).expect_err("too large");
    let expected = OverBudget {
        needed_bytes: 101,
        budget_bytes: 100,
    };
    assert_eq!(refused, expected);
    drop(hold(&budget, general(100)));
}

#[test]
fn a_small_request_does_not_pass_a_large_one_that_came_first() {
    let budget = Budget::new(100);
    let held = hold(&budget, general(60));
    let (mut large, mut small) = (ask(&budget, 1, general(50)), ask(&budget, 1, general(10)));
    assert!(poll(&mut large).is_none());
    assert!(poll(&mut small).is_none(), "though ten are free");
    drop(held);
    let (large, small) = (poll(&mut large), poll(&mut small));
    assert!(large.is_some() && small.is_some());
}

#[test]
fn a_smaller_rank_is_served_first_whenever_it_comes() {
    let budget = Budget::new(100);
    let held = hold(&budget, general(100));
    let mut late = ask(&budget, 2, general(100));
    let mut early = ask(&budget, 1, general(100));
    drop(held);
    assert!(poll(&mut late).is_none());
    let served = poll(&mut early).expect("it is first");
    drop(served);
    assert!(poll(&mut late).is_some());
}

#[test]
fn a_waiter_that_goes_away_lets_the_next_one_through() {
    let budget = Budget::new(100);
    let held = hold(&budget, general(60));
    let blocks = ask(&budget, 1, general(50));
    let mut next = ask(&budget, 2, general(40));
    assert!(poll(&mut next).is_none());
    drop(blocks);
    assert!(poll(&mut next).is_some());
    drop((held, next));
    assert_eq!(budget.numbers().used, 0);
}

#[test]
fn a_grant_that_nobody_collects_is_given_back() {
    let budget = Budget::new(100);
    drop(ask(&budget, 1, general(80)));
    assert_eq!(budget.numbers().used, 0);
    assert_eq!(budget.numbers().peak, 80);
}

#[test]
fn the_lane_uses_the_reserve_and_passes_those_who_wait() {
    let budget = Budget::new(100);
    budget.set_reserve(20);
    let held = hold(&budget, general(70));
    let mut general_waits = ask(&budget, 0, general(20));
    assert!(poll(&mut general_waits).is_none(), "the reserve is not his");
    let mut urgent = ask(&budget, 5, lane(30));
    assert!(poll(&mut urgent).is_some());
    drop((held, urgent));
    assert!(poll(&mut general_waits).is_some());
}

#[test]
fn the_reserve_never_stops_what_fits_beside_keys() {
    let budget = Budget::new(100);
    budget.set_reserve(30);
    let mut key = hold(&budget, general(50));
    key.fix();
    let mut partition = ask(&budget, 1, general(45));
    assert!(
        poll(&mut partition).is_some(),
        "else it would wait for ever"
    );
}

#[test]
fn parts_of_a_permit_are_given_back_one_by_one() {
    let budget: Budget<u32> = Budget::new(100);
    let mut permit = hold(&budget, general(90));
    let part = permit.split(40);
    permit.shrink_to(10);
    assert_eq!(budget.numbers().used, 50);
    drop(part);
    assert_eq!((permit.bytes(), budget.numbers().used), (10, 10));
    drop(permit);
    assert_eq!(budget.numbers().used, 0);
}

#[test]
fn nothing_is_taken_at_once_while_somebody_waits() {
    let budget = Budget::new(100);
    let held = hold(&budget, general(90));
    let waits = ask(&budget, 1, general(50));
    assert!(budget.try_acquire(general(5)).is_none());
    assert!(budget.is_contended());
    drop(waits);
    assert!(budget.try_acquire(general(5)).is_some());
    drop(held);
}
