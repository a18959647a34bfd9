#pragma once
/* How functions of a shared library are made that is opened when first used: see LateLibraries.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "LateLibraries.h"

/* The loader opens a library once, however often it is asked. */
static inline void *late_library(const char *file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); }

/* Ends the program as the loader does where a library is missing. */
static inline void *late_function(const char *file, const char *name) {
    void *library = late_library(file);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "error while loading shared libraries: %s\n", dlerror());
        _exit(127);
    }
    return function;
}

/* Defines `name`, which calls the function of that name in the library. Two threads may look it up, and find the same. */
#define LATE(file, result, name, parameters, arguments)                       \
    __attribute__((visibility("hidden"))) result name parameters {            \
        static __typeof__(&name) found;                                       \
        __typeof__(&name) function = __atomic_load_n(&found, __ATOMIC_RELAXED);\
        if (!function) {                                                      \
            function = (__typeof__(&name))late_function(file, #name);         \
            __atomic_store_n(&found, function, __ATOMIC_RELAXED);             \
        }                                                                     \
        return function arguments;                                            \
    }
