// Points of y^2 = x^3 + b over a field F: affine, and with the denominators ZZ = Z^2 and ZZZ = Z^3 kept apart
// ("XYZZ", https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html: madd-2008-s, add-2008-s, dbl-2008-s-1).
// Every operation accepts infinity, equal and opposite points.
#pragma once

#include "portability.cuh"

namespace cuzk {

// Infinity is (0, 0), which is on no curve with b != 0.
template <class F>
struct Affine {
    F x;
    F y;

    CUZK_HD bool is_infinity() const { return x.is_zero() && y.is_zero(); }
    CUZK_HD static Affine infinity() {
        Affine point;
        set_zero(point.x);
        set_zero(point.y);
        return point;
    }
};

// A product in a loop with many; a field whose products are long has an overload that is a call.
template <class F>
CUZK_HD F times(const F &a, const F &b) {
    return a * b;
}

template <class F>
CUZK_HD F negated(const F &a) {
    F zero;
    set_zero(zero);
    return zero - a;
}

template <class F>
struct Xyzz {
    F x;
    F y;
    F zz;
    F zzz;

    CUZK_HD bool is_infinity() const { return zz.is_zero(); }
    CUZK_HD static Xyzz infinity() {
        Xyzz point;
        set_zero(point.x);
        set_zero(point.y);
        set_zero(point.zz);
        set_zero(point.zzz);
        return point;
    }
    CUZK_HD static Xyzz from_affine(const Affine<F> &p) {
        if (p.is_infinity())
            return infinity();
        Xyzz point;
        point.x = p.x;
        point.y = p.y;
        set_one(point.zz);
        set_one(point.zzz);
        return point;
    }

    CUZK_HD_RARE void double_in_place() {
        if (is_infinity())
            return;
        F u = y + y;
        F v = square(u);
        F w = u * v;
        F s = x * v;
        F m = square(x);
        m = m + m + m;
        x = square(m) - s - s;
        y = m * (s - x) - w * y;
        zz = v * zz;
        zzz = w * zzz;
    }

    CUZK_HD void add(const Affine<F> &p) {
        if (p.is_infinity())
            return;
        if (is_infinity()) {
            *this = from_affine(p);
            return;
        }
        F dx = p.x * zz - x;
        F dy = p.y * zzz - y;
        if (dx.is_zero()) {
            add_same_x(dy);
            return;
        }
        add_chord(dx, dy, x, y);
    }

    CUZK_HD void add(const Xyzz &p) {
        if (p.is_infinity())
            return;
        if (is_infinity()) {
            *this = p;
            return;
        }
        F u = x * p.zz;
        F s = y * p.zzz;
        F dx = p.x * zz - u;
        F dy = p.y * zzz - s;
        if (dx.is_zero()) {
            add_same_x(dy);
            return;
        }
        zz = zz * p.zz;
        zzz = zzz * p.zzz;
        add_chord(dx, dy, u, s);
    }

  private:
    CUZK_HD void add_same_x(const F &dy) {
        if (dy.is_zero())
            double_in_place();
        else
            *this = infinity();
    }

    // (u, s) are this point's coordinates over the common denominators zz and zzz.
    CUZK_HD void add_chord(const F &dx, const F &dy, const F &u, const F &s) {
        F dx2 = square(dx);
        F dx3 = dx2 * dx;
        F q = u * dx2;
        F x3 = square(dy) - dx3 - q - q;
        y = dy * (q - x3) - s * dx3;
        x = x3;
        zz = zz * dx2;
        zzz = zzz * dx3;
    }
};

// The affine point, from the inverse of ZZZ (anything for infinity).
template <class F>
CUZK_HD Affine<F> to_affine(const Xyzz<F> &p, const F &inverse_zzz) {
    if (p.is_infinity())
        return Affine<F>::infinity();
    F z = p.zz * inverse_zzz; // 1 / Z
    Affine<F> result;
    result.x = p.x * square(z);
    result.y = p.y * inverse_zzz;
    return result;
}

// The divisor of the slope through a and p; 1 where a + p needs no division.
template <class F>
CUZK_HD_RARE F rare_denominator(const Affine<F> &a, const Affine<F> &p) {
    F d;
    set_one(d);
    if (a.is_infinity() || p.is_infinity())
        return d;
    F dx = p.x - a.x;
    if (!dx.is_zero())
        return dx;
    if ((p.y - a.y).is_zero() && !a.y.is_zero())
        return a.y + a.y;
    return d;
}

// a + p where one of them is infinity, has x = 0, or their x agree; `inverse` is 1 / rare_denominator(a, p).
template <class F>
CUZK_HD_RARE Affine<F> rare_sum(const Affine<F> &a, const Affine<F> &p, const F &inverse) {
    if (a.is_infinity())
        return p;
    if (p.is_infinity())
        return a;
    F slope;
    if ((p.x - a.x).is_zero()) {
        if (!(p.y - a.y).is_zero() || a.y.is_zero())
            return Affine<F>::infinity();
        F square_x = square(a.x);
        slope = (square_x + square_x + square_x) * inverse;
    } else {
        slope = (p.y - a.y) * inverse;
    }
    Affine<F> sum;
    sum.x = square(slope) - a.x - p.x;
    sum.y = slope * (a.x - sum.x) - a.y;
    return sum;
}

} // namespace cuzk
