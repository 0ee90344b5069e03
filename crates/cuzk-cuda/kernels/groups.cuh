// Groups of buckets that are summed up as segments before the reduction, and the columns that run across them; see
// reduce.cuh.
//
// Behind the sums of all buckets lie the sums of groups, and behind those the parts of columns' sums, as many of each
// for every window as a wide window has groups. A part sums up as many buckets as a group.
#pragma once

#include "segments.cuh"

namespace cuzk {

struct Groups {
    uint32_t windows;
    uint32_t narrow_from; // window, from which on there are half as many buckets
    uint32_t log_buckets;
    uint32_t log_group;

    CUZK_HD uint32_t length() const { return 1u << log_group; }
    CUZK_HD uint32_t slots() const { return 1u << (log_buckets - log_group); }
    // Groups of a window. It has as many parts.
    CUZK_HD uint32_t count(uint32_t window) const { return slots() >> (window < narrow_from ? 0 : 1); }
    CUZK_HD uint32_t total() const { return number(windows, 0); }
    // Number of a group, or of a part among parts, of those that there are.
    CUZK_HD uint32_t number(uint32_t window, uint32_t i) const {
        const uint32_t narrow = window < narrow_from ? 0 : window - narrow_from;
        return slots() * (window - narrow) + (slots() >> 1) * narrow + i;
    }

    CUZK_HD uint32_t num_buckets() const { return windows << log_buckets; }
    // Where sums go.
    CUZK_HD uint32_t slot(uint32_t window, uint32_t i) const { return num_buckets() + window * slots() + i; }
    CUZK_HD uint32_t part_slot(uint32_t window, uint32_t column, uint32_t part) const {
        return slot(windows + window, column * parts(window) + part);
    }

    // Parts of a column.
    CUZK_HD uint32_t parts(uint32_t window) const { return count(window) >> log_group; }
    // Neighbouring parts are those of neighbouring columns, so that neighbouring threads read neighbouring buckets.
    CUZK_HD uint32_t column_of(uint32_t i) const { return i & (length() - 1); }

    CUZK_HD Segment group(uint32_t window, uint32_t i) const {
        return Segment{number(window, i) << log_group, length(), slot(window, i)};
    }
    CUZK_HD Segment part(uint32_t window, uint32_t i) const {
        return Segment{(total() + number(window, i)) << log_group, length(),
                       part_slot(window, column_of(i), i >> log_group)};
    }
    // Bucket number k of a group.
    CUZK_HD uint32_t member_of_group(uint32_t window, uint32_t i, uint32_t k) const {
        return (window << log_buckets) + (i << log_group) + k;
    }
    // Bucket number k of a part: one of each of as many groups.
    CUZK_HD uint32_t member_of_part(uint32_t window, uint32_t i, uint32_t k) const {
        return member_of_group(window, (i >> log_group << log_group) + k, column_of(i));
    }

    // The sum of a column goes where the window's bucket of that number was.
    CUZK_HD Split column(uint32_t window, uint32_t column) const {
        return Split{(window << log_buckets) + column, part_slot(window, column, 0) - num_buckets(), parts(window), 0, 0};
    }
};

} // namespace cuzk
