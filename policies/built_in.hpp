// The makers of the built-in policies, each defined in the file of its name. They read their
// parameters and throw PolicyError for a bad one; policies/registry.cpp gives them their names.
#pragma once

#include <memory>

#include "policies/registry.hpp"

namespace holdall::policies {

std::unique_ptr<Policy> make_2q(Parameters& parameters);
std::unique_ptr<Policy> make_arc(Parameters& parameters);
std::unique_ptr<Policy> make_car(Parameters& parameters);
std::unique_ptr<Policy> make_clock(Parameters& parameters);
std::unique_ptr<Policy> make_clockpro(Parameters& parameters);
std::unique_ptr<Policy> make_fifo(Parameters& parameters);
std::unique_ptr<Policy> make_lfu(Parameters& parameters);
std::unique_ptr<Policy> make_lirs(Parameters& parameters);
std::unique_ptr<Policy> make_lru(Parameters& parameters);
std::unique_ptr<Policy> make_lruk(Parameters& parameters);
std::unique_ptr<Policy> make_mru(Parameters& parameters);
std::unique_ptr<Policy> make_random(Parameters& parameters);
std::unique_ptr<Policy> make_s3fifo(Parameters& parameters);
std::unique_ptr<Policy> make_sieve(Parameters& parameters);
std::unique_ptr<Policy> make_slru(Parameters& parameters);
std::unique_ptr<Policy> make_admit(Parameters& parameters);
std::unique_ptr<Policy> make_auto(Parameters& parameters);
std::unique_ptr<Policy> make_clean(Parameters& parameters);
std::unique_ptr<Policy> make_gdsf(Parameters& parameters);
std::unique_ptr<Policy> make_hyperbolic(Parameters& parameters);
std::unique_ptr<Policy> make_lfuda(Parameters& parameters);
std::unique_ptr<Policy> make_mglru(Parameters& parameters);
std::unique_ptr<Policy> make_opt(Parameters& parameters);
std::unique_ptr<Policy> make_uvm(Parameters& parameters);
std::unique_ptr<Policy> make_wtinylfu(Parameters& parameters);

}  // namespace holdall::policies
