// The extension F(u) with u^2 = -1, where -1 is no square in F: the coordinates of G2.
// Products are calls, not inlined: three wide products outweigh a call, and code that fits the instruction cache and
// compiles in minutes outweighs the rest.
#pragma once

#include "portability.cuh"

namespace cuzk {

template <class F>
struct Quadratic {
    F re;
    F im;

    CUZK_HD bool is_zero() const { return re.is_zero() && im.is_zero(); }
    CUZK_HD Quadratic operator+(const Quadratic &o) const {
        Quadratic sum;
        sum.re = re + o.re;
        sum.im = im + o.im;
        return sum;
    }
    CUZK_HD Quadratic operator-(const Quadratic &o) const {
        Quadratic difference;
        difference.re = re - o.re;
        difference.im = im - o.im;
        return difference;
    }
    CUZK_HD_RARE Quadratic operator*(const Quadratic &o) const {
        const F both = (re + im) * (o.re + o.im);
        const F real = re * o.re, imaginary = im * o.im;
        Quadratic product;
        product.re = real - imaginary;
        product.im = both - real - imaginary;
        return product;
    }
};

template <class F>
CUZK_HD_RARE Quadratic<F> square(const Quadratic<F> &a) {
    const F half = a.re * a.im;
    Quadratic<F> result;
    result.re = (a.re + a.im) * (a.re - a.im);
    result.im = half + half;
    return result;
}

template <class F>
CUZK_HD void set_zero(Quadratic<F> &a) {
    set_zero(a.re);
    set_zero(a.im);
}

template <class F>
CUZK_HD void set_one(Quadratic<F> &a) {
    set_one(a.re);
    set_zero(a.im);
}

// 1 / a, from a function that inverts in F; zero if that maps zero to zero.
template <class F, class Invert>
CUZK_HD Quadratic<F> inverse_by_norm(const Quadratic<F> &a, const Invert &invert) {
    F zero;
    set_zero(zero);
    const F inverse = invert(square(a.re) + square(a.im));
    Quadratic<F> result;
    result.re = a.re * inverse;
    result.im = zero - a.im * inverse;
    return result;
}

} // namespace cuzk
