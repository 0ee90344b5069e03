// A failed check names its place and ends the test program.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition, ...)                                                                                 \
    do {                                                                                                      \
        if (!(condition)) {                                                                                   \
            std::fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                              \
            std::fprintf(stderr, __VA_ARGS__);                                                                \
            std::fprintf(stderr, "\n");                                                                       \
            std::exit(1);                                                                                     \
        }                                                                                                     \
    } while (0)
